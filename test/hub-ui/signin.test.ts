import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator } from 'playwright-core';
import { demoZones } from '../../src/cli/demo/zones.ts';
import { openPage, openUiHub, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';
import { openSignedSite, signIn } from './signed_site.ts';
import { DOCK, HALL } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

test('A user signs in, returns to the requested page, stays signed in, and signs out', {
  skip,
}, async (t) => {
  const hub = await openSignedSite(t);
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

test('A viewer is offered no control that changes data', { skip }, async (t) => {
  const hub = await openSignedSite(t);
  const page = await openPage(t, `${hub.origin}/hub-ui/fences`, { mayFail: true });
  await signIn(page, 'viewer');
  await page.getByRole('link', { name: /Dock A/ }).waitFor();
  assert.equal(await page.getByRole('link', { name: 'New fence' }).count(), 0);
  await page.getByRole('link', { name: /Dock A/ }).click();
  await page.getByText('You can view this, but not change it').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Save' }).count(), 0);
  assert.equal(await page.getByRole('button', { name: 'Delete' }).count(), 0);
  assert.equal(await page.getByRole('button', { name: 'Undo' }).count(), 0);
  for (const name of ['Name', 'Exit delay']) {
    assert.equal(await page.getByLabel(name, { exact: true }).isDisabled(), true, name);
  }
  assert.equal(await page.getByRole('button', { name: 'Draw a polygon' }).isDisabled(), true);
  await page.getByText('Drag corners').waitFor({ state: 'detached' });
  await page.goto(`${hub.origin}/hub-ui/fences/new`);
  await page.getByText('You are not allowed to create a fence').waitFor();
  await page.getByRole('link', { name: 'Rules' }).click();
  await page.getByText('You can view these, but not change them').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Add rule' }).count(), 0);
  await page.getByRole('link', { name: 'Lists' }).click();
  await page.getByRole('button', { name: 'Export' }).waitFor();
  assert.equal(await page.getByRole('button', { name: 'Import' }).count(), 0);
});

test('A viewer of an empty hub sees an empty state without setup buttons', { skip }, async (t) => {
  const hub = await openSignedSite(t, { site: [] });
  const page = await openPage(t, `${hub.origin}/hub-ui/`, { mayFail: true });
  await signIn(page, 'viewer');
  const empty = page.getByRole('region', { name: 'Empty hub' });
  await empty.getByText('Objects appear on the map as soon as the hub receives their first location.').waitFor();
  assert.equal(await empty.getByRole('button').count(), 0);
});

test('A tag owner sees that their roles give no access, and no message of the API', { skip }, async (t) => {
  const hub = await openSignedSite(t);
  const page = await openPage(t, `${hub.origin}/hub-ui/operations`, { mayFail: true });
  await signIn(page, 'tag-owner');
  for (const name of ['Overview', 'Sources', 'Sessions', 'Usage']) {
    await page.getByRole('tab', { name, exact: true }).click();
    await page.getByText('Your roles do not give you access to this.').first().waitFor();
    const text = await page.getByRole('main').innerText();
    assert.doesNotMatch(text, /Cannot|access token|No answer/, name);
  }
});

test('A user who may delete but not create is warned that a deletion cannot be undone', { skip }, async (t) => {
  const hub = await openSignedSite(t, { viewerMay: "'/v2/fences/:fence_id': [READ_ANY, DELETE_ANY]" });
  const page = await openPage(t, `${hub.origin}/hub-ui/lists/fences`, { mayFail: true });
  await signIn(page, 'viewer');
  await page.getByLabel('Select Dock A').check();
  await page.getByRole('button', { name: 'Delete' }).click();
  const question = page.getByRole('dialog', { name: 'Delete this fence?' });
  await question.getByText('This cannot be undone.').waitFor();
  await question.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('1 fence deleted').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Undo' }).count(), 0);
});

const IMPORTS = "'/v2/import': [CREATE_ANY, READ_ANY, DELETE_ANY]";
const FENCES = "'/v2/fences': [CREATE_ANY]\n  '/v2/fences/:fence_id': [READ_ANY, UPDATE_ANY]";
const ZONES = "'/v2/zones': [CREATE_ANY]";
const DEMO = "'/v2/demo': [CREATE_ANY, READ_ANY, DELETE_ANY]";

/** Why a button is disabled, as exposed to assistive technology. Another test checks that a click has no effect. */
async function whyOff(button: Locator): Promise<string | null> {
  await button.waitFor();
  assert.equal(await button.getAttribute('aria-disabled'), 'true');
  return await button.getAttribute('title');
}

for (const [role, viewerMay] of [
  ['without imports', ''],
  ['with imports of no kind', IMPORTS],
] as const) {
  test(`A role ${role} has no Import button`, { skip }, async (t) => {
    const hub = await openSignedSite(t, { viewerMay });
    const page = await openPage(t, `${hub.origin}/hub-ui/lists`, { mayFail: true });
    await signIn(page, 'viewer');
    await page.getByRole('button', { name: 'Export', exact: true }).waitFor();
    assert.equal(await page.getByRole('button', { name: 'Import', exact: true }).count(), 0);
  });
}

test('A user who may import only some kinds imports these, and sees which others are not permitted', {
  skip,
}, async (t) => {
  const hub = await openSignedSite(t, { viewerMay: `${IMPORTS}\n  ${FENCES}` });
  const page = await openPage(t, `${hub.origin}/hub-ui/lists/fences`, { mayFail: true });
  await signIn(page, 'viewer');
  const dialog = page.getByRole('dialog');
  const open = async (lists: object): Promise<void> => {
    const document = { format: 'location-hub-entities', version: 1, ...lists };
    await page.getByRole('button', { name: 'Import', exact: true }).click();
    const file = { name: 'all.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(document)) };
    await page.getByLabel('File to import').setInputFiles(file);
  };
  const fences = [{ ...DOCK, name: 'Dock, new' }];
  await open({ fences, zones: [{ ...HALL, name: 'Hall, new' }] });
  const reason = 'You lack the permissions: create any zones, change any zones.';
  assert.equal(await whyOff(dialog.getByRole('button', { name: 'Import 2 items' })), reason);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  const rule = { id: 'r', name: 'Dock', kind: 'entry' };
  const view = { id: 'v', name: 'Hall', address: '?z=2' };
  await open({
    fences,
    alert_rules: [rule],
    views: [view],
    locating_rules: [{ expression: 'floor = 1', priority: 1 }],
  });
  const others = [
    'create any alert rules',
    'create any saved views',
    'change any alert rules',
    'change any saved views',
  ];
  const why = `You lack the permissions: ${others.join(', ')}, change the locating rules.`;
  assert.equal(await whyOff(dialog.getByRole('button', { name: 'Import 4 items' })), why);
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await open({ fences });
  await dialog.getByRole('button', { name: 'Import 1 item' }).click();
  await dialog
    .getByText(/finished|1 changed/i)
    .first()
    .waitFor();
  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await page.getByRole('link', { name: 'Dock, new', exact: true }).waitFor();
});

test('Demo buttons are disabled with the reason for users who may not create and remove the demo', {
  skip,
}, async (t) => {
  const empty = await openSignedSite(t, { viewerMay: `${ZONES}\n  ${DEMO}`, site: [] });
  const page = await openPage(t, `${empty.origin}/hub-ui/`, { mayFail: true });
  await signIn(page, 'viewer');
  const start = page.getByRole('region', { name: 'First steps' }).getByRole('button', { name: 'Start the demo' });
  const reason = await whyOff(start);
  assert.match(reason ?? '', /: create any fences, create any trackables, .*delete any zones,/);
  await start.click({ force: true });

  const left = await openSignedSite(t, { site: demoZones().map((zone) => ['/zones', zone]) });
  const other = await openPage(t, `${left.origin}/hub-ui/`, { mayFail: true });
  await signIn(other, 'viewer');
  const note = other.getByRole('region', { name: 'Demo' });
  await note.getByText('The demo site is loaded, but the demo is not running.').waitFor();
  assert.equal(await note.getByRole('button').count(), 0, 'a role without the demo has no buttons of it');
});

test('A user with partial access is only led to permitted pages', { skip }, async (t) => {
  const hub = await openSignedSite(t);
  const page = await openPage(t, `${hub.origin}/hub-ui/`, { mayFail: true });
  await signIn(page, 'tag-owner');
  const links = page.getByRole('navigation', { name: 'Main' }).locator('a[title]');
  const seen = [
    'Home',
    'Map',
    'Events',
    'Operations',
    'Fences',
    'Trackables',
    'Providers',
    'Lists',
    'Muster list',
    'Finder',
  ];
  await untilHolds(page, async () => (await links.allTextContents()).join() === seen.join());
  // The only part of the site that the user owns is the fence.
  await page.getByRole('combobox', { name: 'Search the site' }).fill('a');
  await page.getByRole('option').first().waitFor();
  const found = page.getByRole('option').getByText(/Dock|Hall/);
  await untilHolds(page, async () => (await found.allTextContents()).join() === 'Dock A');
  assert.equal(await page.getByRole('region', { name: 'First steps' }).count(), 0);
  assert.equal(await page.getByRole('button', { name: 'Dismiss' }).count(), 0);
  await page.goto(`${hub.origin}/hub-ui/zones`);
  await page.getByText('You do not have access to this page').waitFor();
});

test('A token is renewed before it expires, without interaction', { skip }, async (t) => {
  const hub = await openSignedSite(t, { tokenSeconds: 10 });
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

test('A session that cannot be renewed is reported as expired, and signing in returns to the same page', {
  skip,
}, async (t) => {
  const hub = await openSignedSite(t, { tokenSeconds: 10 });
  const page = await openPage(t, `${hub.origin}/hub-ui/zones?q=hall`, { mayFail: true });
  await signIn(page, 'hub-admin');
  await page.route('**/token', (route) => {
    const headers = { 'Access-Control-Allow-Origin': '*' };
    return route.fulfill({ status: 400, headers, json: { error: 'invalid_grant' } });
  });
  const ended = page.getByRole('alert').getByText('Your session has ended');
  await ended.waitFor();
  await page.getByRole('link', { name: /Hall/ }).waitFor();
  await page.unroute('**/token');
  await page.getByRole('button', { name: 'Sign in again' }).click();
  await ended.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Connected' }).first().waitFor();
  assert.equal(page.url(), `${hub.origin}/hub-ui/zones?q=hall`);
});

test('An identity server error is shown, and a hub without authorization requires no sign-in', { skip }, async (t) => {
  const hub = await openSignedSite(t);
  const page = await openPage(t, `${hub.origin}/hub-ui/`, { mayFail: true });
  await page.route('**/realms/**', (route) => route.abort());
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('The identity server cannot be reached').waitFor();
  const open = await openUiHub(t);
  const other = await openPage(t, `${open.origin}/hub-ui/`);
  await other.getByRole('region', { name: 'First steps' }).waitFor();
  assert.equal(await other.getByRole('button', { name: /Sign/ }).count(), 0);
});
