import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { DEV } from '../auth/dev/people.ts';
import { BROWSER_CLIENT, openIdentityProvider } from '../auth/identity_provider.ts';
import { CLIENT } from '../auth/issuer.ts';
import { openPage, openUiHub, WITHOUT_BROWSER } from '../support/browser.ts';
import type { TestHub } from '../support/running_hub.ts';
import { DOCK, HALL } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

/** A hub that wants to know who somebody is, with the identity server of the development set-up. */
async function openSite(t: TestContext, tokenSeconds?: number): Promise<TestHub> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'hub-signin-'));
  await copyFile(new URL('../auth/dev/permissions.yaml', import.meta.url), join(folder, 'permissions.yaml'));
  const provider = await openIdentityProvider({
    port: 0,
    ...DEV,
    redirectUris: [`http://127.0.0.1:${port}/hub-ui/`],
    ...(tokenSeconds !== undefined && { tokenSeconds }),
  });
  const settings = {
    port,
    require_authorization: true,
    openid_config_url: provider.configUrl,
    openid_client_name: CLIENT,
    openid_browser_client_name: BROWSER_CLIENT,
    openid_clock_tolerance: 0,
  };
  // Hooks run in the order in which they are made: the page goes first, then the hub, then what it needs.
  const hub = await openUiHub(t, settings, { folder });
  t.after(async () => {
    await provider.close();
    await rm(folder, { recursive: true, force: true });
  });
  const { password: client_secret } = DEV.clients['hub-release-client'];
  const form = { grant_type: 'client_credentials', client_id: 'hub-release-client', client_secret, scope: 'openid' };
  const answer = await fetch(provider.tokenUrl, { method: 'POST', body: new URLSearchParams(form) });
  const { access_token: token } = (await answer.json()) as { readonly access_token: string };
  for (const [path, body] of [
    ['/zones', HALL],
    ['/fences', DOCK],
  ] as const) {
    const { status, text } = await hub.request('POST', path, body, { Authorization: `Bearer ${token}` });
    assert.equal(status, 201, text);
  }
  return hub;
}

async function signIn(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('input[name=login]').fill(name);
  await page.locator('input[name=password]').fill(name);
  await page.locator('button[type=submit]').click();
  await page.locator('.rail .account-name', { hasText: name }).waitFor();
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

test('Somebody signs in, comes back to where they wanted to go, stays signed in, and signs out', {
  skip,
}, async (t) => {
  const hub = await openSite(t);
  const page = await openPage(t, `${hub.origin}/hub-ui/fences?q=dock`, { mayFail: true });
  await signIn(page, 'hub-admin');
  assert.equal(page.url(), `${hub.origin}/hub-ui/fences?q=dock`);
  await page.getByRole('link', { name: /Dock A/ }).click();
  await page.getByLabel('Name', { exact: true }).fill('Dock B');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Dock B is saved').waitFor();
  await page.getByRole('button', { name: 'Connected' }).first().waitFor();

  await page.reload();
  await page.getByRole('heading', { name: 'Dock B' }).waitFor();
  const tab = await page.context().newPage();
  await tab.goto(`${hub.origin}/hub-ui/zones`);
  await tab.getByRole('link', { name: /Hall/ }).waitFor();

  await page.getByRole('button', { name: 'Sign out' }).first().click();
  await page.waitForURL((url) => url.origin !== hub.origin);
  await page.getByRole('button', { name: 'Yes, sign me out' }).click();
  await page.waitForURL(`${hub.origin}/hub-ui/**`);
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  assert.equal(await page.evaluate('sessionStorage.length + Object.keys(localStorage).join()'), '0hub-theme');
});

test('Who may only look is offered nothing that changes anything', { skip }, async (t) => {
  const hub = await openSite(t);
  const page = await openPage(t, `${hub.origin}/hub-ui/fences`, { mayFail: true });
  await signIn(page, 'viewer');
  await page.getByRole('link', { name: /Dock A/ }).waitFor();
  assert.equal(await page.getByRole('link', { name: 'New fence' }).count(), 0);
  await page.getByRole('link', { name: /Dock A/ }).click();
  await page.getByText('You may look, but not change it').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Save' }).count(), 0);
  assert.equal(await page.getByRole('button', { name: 'Delete' }).count(), 0);
  assert.equal(await page.getByRole('button', { name: 'Undo' }).count(), 0);
  for (const name of ['Name', 'Exit delay']) {
    assert.equal(await page.getByLabel(name, { exact: true }).isDisabled(), true, name);
  }
  assert.equal(await page.getByRole('button', { name: 'Draw a polygon' }).isDisabled(), true);
  await page.getByText('Drag corners').waitFor({ state: 'detached' });
  await page.goto(`${hub.origin}/hub-ui/fences/new`);
  await page.getByText('You may not create a fence').waitFor();
  await page.getByRole('link', { name: 'Rules' }).click();
  await page.getByText('You may look, but not change them').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Add rule' }).isDisabled(), true);
});

test('Who may see some things is led to these, and to nothing else', { skip }, async (t) => {
  const hub = await openSite(t);
  const page = await openPage(t, `${hub.origin}/hub-ui/`, { mayFail: true });
  await signIn(page, 'tag-owner');
  const links = page.locator('.rail-group').getByRole('link');
  const seen = ['Map', 'Events', 'Operations', 'Fences', 'Trackables', 'Providers', 'Lists'];
  assert.deepEqual(await links.allTextContents(), seen);
  // Of the site, the fence that they own.
  await page.getByRole('combobox', { name: 'Search the site' }).fill('a');
  await page.getByRole('option').first().waitFor();
  assert.deepEqual(
    await page
      .getByRole('option')
      .getByText(/Dock|Hall/)
      .allTextContents(),
    ['Dock A'],
  );
  assert.equal(await page.getByRole('region', { name: 'First steps' }).count(), 0);
  assert.equal(await page.locator('.toast').count(), 0);
  await page.goto(`${hub.origin}/hub-ui/zones`);
  await page.getByText('You may not see this').waitFor();
});

test('A token is renewed before it ends, without a question', { skip }, async (t) => {
  const hub = await openSite(t, 10);
  const page = await openPage(t, `${hub.origin}/hub-ui/zones`, { mayFail: true });
  const renewed = page.waitForResponse((response) => {
    return response.request().postData()?.includes('grant_type=refresh_token') === true && response.ok();
  });
  await signIn(page, 'hub-admin');
  const { access_token: token } = await (await renewed).json();
  const used = page.waitForRequest((request) => request.headers()['authorization'] === `Bearer ${token}`);
  await page.getByRole('link', { name: 'Rules' }).click();
  await used;
  await page.getByText('No rules').waitFor();
});

test('A session that cannot be renewed is said to have ended, and begins again where it was', { skip }, async (t) => {
  const hub = await openSite(t, 10);
  const page = await openPage(t, `${hub.origin}/hub-ui/zones?q=hall`, { mayFail: true });
  await signIn(page, 'hub-admin');
  await page.route('**/token', (route) => {
    const headers = { 'Access-Control-Allow-Origin': '*' };
    return route.fulfill({ status: 400, headers, json: { error: 'invalid_grant' } });
  });
  await page.getByRole('alert').getByText('Your sign-in has ended').waitFor();
  await page.getByRole('link', { name: /Hall/ }).waitFor();
  await page.unroute('**/token');
  await page.getByRole('button', { name: 'Sign in again' }).click();
  await page.getByRole('alert').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Connected' }).first().waitFor();
  assert.equal(page.url(), `${hub.origin}/hub-ui/zones?q=hall`);
});

test('A refusal of the identity server is told, and a hub without authorization asks nobody', { skip }, async (t) => {
  const hub = await openSite(t);
  const page = await openPage(t, `${hub.origin}/hub-ui/`, { mayFail: true });
  await page.route('**/realms/**', (route) => route.abort());
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('The identity server cannot be reached').waitFor();
  const open = await openUiHub(t);
  const other = await openPage(t, `${open.origin}/hub-ui/`);
  await other.getByRole('region', { name: 'First steps' }).waitFor();
  assert.equal(await other.getByRole('button', { name: /Sign/ }).count(), 0);
});
