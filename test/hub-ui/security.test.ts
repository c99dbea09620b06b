import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Request } from 'playwright-core';
import { openPage, openUiHub, WITHOUT_BROWSER } from '../support/browser.ts';
import { readSourceFiles } from '../tidy/source_file.ts';
import { openSignedSite, sendPassword, signIn } from './signed_site.ts';
import { DOCK, FORKLIFT, HALL } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

const MARKUP = '<img src=x onerror="document.title=1"><script>document.title=2</script>';

test('Entity values of other users are shown as text, and never executed', { skip }, async (t) => {
  const hub = await openUiHub(t);
  const properties = { note: MARKUP, manual: 'javascript:document.title=3', page: 'https://hub.example/' };
  await hub.post('/zones', HALL);
  await hub.post('/fences', { ...DOCK, name: MARKUP, properties });
  await hub.post('/trackables', { ...FORKLIFT, name: MARKUP, properties });
  const page = await openPage(t, `${hub.origin}/hub-ui/?sel=fences:${DOCK.id}`);
  const panel = page.getByRole('complementary', { name: 'Selected fence' });
  await panel.getByRole('heading', { name: MARKUP, exact: true }).waitFor();
  await panel.getByText('javascript:document.title=3').waitFor();
  assert.deepEqual(await panel.locator('dl a').allTextContents(), ['https://hub.example/']);
  for (const path of ['fences', `fences/${DOCK.id}`, `trackables/${FORKLIFT.id}`, 'lists', 'events']) {
    await page.goto(`${hub.origin}/hub-ui/${path}`);
    await page.getByRole('heading', { level: 1 }).first().waitFor();
    if (path !== 'events') await page.locator('main').getByText(MARKUP).first().waitFor();
    assert.equal(await page.locator('img[src=x]').count(), 0, path);
    assert.match(await page.title(), /Location hub$/, path);
  }
});

test('An injected script is not executed, and cannot send data to other origins', { skip }, async (t) => {
  const hub = await openUiHub(t);
  const other = await openUiHub(t);
  // The browser logs the blocked requests to the console.
  const page = await openPage(t, `${hub.origin}/hub-ui/rules`, { mayFail: true });
  await page.getByRole('heading', { level: 1 }).waitFor();
  const ran = await page.evaluate(`(async () => {
    const script = document.createElement('script');
    script.textContent = 'globalThis.hasRun = true';
    document.body.append(script);
    document.body.insertAdjacentHTML('beforeend', '<button onclick="globalThis.hasRun = true">x</button>');
    document.body.lastElementChild.click();
    const foreign = document.createElement('script');
    foreign.src = '${other.origin}/hub-ui/index.html';
    document.body.append(foreign);
    await new Promise((done) => { foreign.onerror = done; foreign.onload = done; });
    const sent = await fetch('${other.origin}/hub/v2/zones').then(() => 'sent', () => 'refused');
    return [globalThis.hasRun ?? false, sent];
  })()`);
  assert.deepEqual(ran, [false, 'refused']);
});

test('The page never turns strings into markup or code', () => {
  const sources = readSourceFiles().filter(({ path }) => path.startsWith('src/hub-ui/'));
  assert.ok(sources.length > 50);
  for (const { path, text } of sources) {
    const found =
      /dangerouslySetInnerHTML|(?:inner|outer)HTML|insertAdjacentHTML|document\.write|\beval\(|new Function/;
    assert.equal(found.exec(text)?.[0], undefined, path);
  }
});

test('Sign-in uses PKCE, and no token appears in a URL', { skip }, async (t) => {
  const hub = await openSignedSite(t);
  const page = await openPage(t, `${hub.origin}/hub-ui/zones`, { mayFail: true });
  const requests: Request[] = [];
  page.on('request', (request) => requests.push(request));
  await signIn(page, 'viewer');
  await page.getByRole('link', { name: /Hall/ }).waitFor();
  const asked = requests.map((request) => new URL(request.url()).searchParams).find((query) => query.has('client_id'));
  assert.equal(asked?.get('code_challenge_method'), 'S256');
  assert.match(asked?.get('code_challenge') ?? '', /^[\w-]{43}$/);
  assert.match(asked?.get('state') ?? '', /^[\w-]{43}$/);
  const redeemed = requests.find((request) => request.postData()?.includes('grant_type=authorization_code'));
  assert.match(redeemed?.postData() ?? '', /code_verifier=[\w-]{43}/);
  const { access, refresh, id } = JSON.parse(await page.evaluate('sessionStorage.getItem("hub-session")'));
  for (const request of requests) {
    for (const token of [access, refresh, id]) assert.ok(!request.url().includes(token), request.url());
  }
  const elsewhere: string = await page.evaluate('JSON.stringify(localStorage) + document.cookie');
  assert.ok(!elsewhere.includes(access), 'the token is stored for this tab only');
});

test('An authorization code that the page did not request is not redeemed', { skip }, async (t) => {
  const hub = await openSignedSite(t);
  const page = await openPage(t, 'about:blank', { mayFail: true });
  const redeemed: string[] = [];
  page.on('request', (request) => {
    if (request.method() === 'POST') redeemed.push(request.url());
  });
  await page.goto(`${hub.origin}/hub-ui/?code=of-another-user&state=forged`);
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  assert.deepEqual(redeemed, []);
});

test('A response of another identity server is not redeemed', { skip }, async (t) => {
  const hub = await openSignedSite(t);
  const page = await openPage(t, `${hub.origin}/hub-ui/`, { mayFail: true });
  const redeemed: string[] = [];
  page.on('request', (request) => {
    if (request.postData()?.includes('grant_type') === true) redeemed.push(request.url());
  });
  // The response names its issuer, which differs from the server that the page used.
  await page.route('**/.well-known/openid-configuration', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...(await response.json()), issuer: 'https://elsewhere.example' } });
  });
  await sendPassword(page, 'viewer');
  await page.getByRole('alert').getByText('unexpected "iss"').waitFor();
  assert.deepEqual(redeemed, []);
});
