import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { violationsIn } from '../support/axe.ts';
import { openPage, openUiHub, WITHOUT_BROWSER } from '../support/browser.ts';
import { openSignedSite } from './signed_site.ts';
import { CELLAR, createSite, DOCK, FORKLIFT, HALL, move } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

interface View {
  readonly path: string;
  /** A text that is there once the page is. */
  readonly seen: string | RegExp;
  /** What is done there before it is looked at. */
  readonly act?: (page: Page) => Promise<void>;
}

const click = (name: string) => (page: Page) => page.getByRole('button', { name, exact: true }).first().click();

const VIEWS: readonly View[] = [
  { path: '', seen: /^1 trackable/ },
  { path: '', seen: /^1 trackable/, act: click('Layers') },
  { path: `?zone=${HALL.id}`, seen: /^1 trackable/, act: (page) => page.getByText('Legend').click() },
  { path: `?sel=trackables:${FORKLIFT.id}`, seen: /, at \d/ },
  { path: `?sel=trackables:${FORKLIFT.id}&follow=1`, seen: 'Following Forklift 7' },
  { path: '?color=property:driver', seen: /^1 trackable/ },
  { path: '?wall=1&color=type', seen: 'Trackables in fences' },
  { path: `?sel=fences:${DOCK.id}`, seen: 'Providers inside' },
  { path: 'alerts', seen: 'Nothing to look at' },
  { path: 'alerts/rules', seen: 'No rules yet', act: click('New rule') },
  { path: 'events', seen: 'Nothing has happened yet' },
  { path: 'events/occupancy', seen: /^1 inside/ },
  { path: 'operations', seen: 'Up for' },
  { path: 'operations/sources', seen: 'Active' },
  { path: 'operations/sessions', seen: 'location_updates' },
  { path: 'operations/usage', seen: 'Configured' },
  { path: 'operations/license', seen: 'License key' },
  { path: 'methods', seen: 'com.omlox.ping' },
  { path: 'zones', seen: 'Hall' },
  { path: `zones/${HALL.id}`, seen: 'No changes to save' },
  { path: 'zones/new', seen: 'Create zone', act: click('Create zone') },
  { path: 'anchors', seen: 'Post' },
  { path: 'anchors/a1', seen: 'No changes to save' },
  { path: 'fences', seen: 'Dock A' },
  { path: `fences/${DOCK.id}`, seen: 'No changes to save' },
  { path: 'fences/new', seen: 'Create fence', act: click('Create fence') },
  { path: 'trackables', seen: 'Forklift 7' },
  { path: `trackables/${FORKLIFT.id}`, seen: 'No changes to save' },
  { path: 'providers', seen: 'tag-1' },
  { path: 'providers/tag-1', seen: 'No changes to save' },
  { path: 'rules', seen: 'No rules: the newest location counts', act: click('Add rule') },
  { path: 'lists', seen: 'Forklift 7' },
  { path: 'lists/fences', seen: 'Dock A', act: askToDelete },
  { path: 'lists/fences?q=nowhere', seen: 'None of the fences matches' },
  { path: `lists/trackables?json=${FORKLIFT.id}`, seen: 'Edit as JSON' },
  { path: 'lists', seen: 'Forklift 7', act: click('Export') },
  { path: 'lists', seen: 'Forklift 7', act: click('Import') },
  { path: 'lists/providers?unassigned=1', seen: 'spare-tag', act: click('Assign spare-tag') },
  { path: 'lists/fences', seen: 'Dock A', act: changeMany },
  { path: `fences/${DOCK.id}`, seen: 'No changes to save', act: copyGrid },
  { path: `fences/${DOCK.id}`, seen: 'No changes to save', act: conflict },
  { path: `fences/${CELLAR.id}`, seen: 'No changes to save', act: leaveUnsaved },
  { path: '', seen: /^1 trackable/, act: chooseAll },
  { path: 'no-such-page', seen: 'There is no such page' },
];

async function askToDelete(page: Page): Promise<void> {
  await page.getByLabel('Select Dock A').check();
  await click('Delete')(page);
  await page.getByRole('dialog').waitFor();
}

async function changeMany(page: Page): Promise<void> {
  await page.getByLabel('Select this page').check();
  await click('Change')(page);
  await page.getByLabel('New value').fill('3');
  await page.getByText(/ fences change$/).waitFor();
}

async function copyGrid(page: Page): Promise<void> {
  await click('Copy')(page);
  await click('Grid or row')(page);
  await page.getByRole('list', { name: 'What is made' }).waitFor();
}

async function conflict(page: Page): Promise<void> {
  await page.getByLabel('Name', { exact: true }).fill('Dock B');
  const data = [{ op: 'add', path: '/name', value: 'Dock C' }];
  await page.request.patch(`${new URL(page.url()).origin}/v2/fences/${DOCK.id}`, { data });
  await page.getByRole('radio', { name: 'theirs: Dock C' }).waitFor();
}

async function leaveUnsaved(page: Page): Promise<void> {
  page.once('dialog', (question) => void question.accept());
  await page.getByLabel('Name', { exact: true }).fill('Cellar B');
  await page.reload();
  await page.getByText('You left changes here').waitFor();
}

async function chooseAll(page: Page): Promise<void> {
  await click('Select several')(page);
  await click('Rectangle')(page);
  const box = await page.locator('[data-map]').boundingBox();
  assert.ok(box !== null);
  await page.mouse.move(box.x + 0.02 * box.width, box.y + 0.25 * box.height);
  await page.mouse.down();
  await page.mouse.move(box.x + 0.9 * box.width, box.y + 0.9 * box.height, { steps: 3 });
  await page.mouse.up();
  await page.getByRole('region', { name: 'Selected on the map' }).waitFor();
}

// Each theme and each width once: what the colors are does not depend on the width.
for (const { theme, width } of [
  { theme: 'light', width: 1_280 },
  { theme: 'dark', width: 390 },
] as const) {
  test(`axe finds nothing in any page, ${width} pixels wide, in the ${theme} theme`, { skip }, async (t) => {
    const hub = await openUiHub(t);
    await createSite(hub);
    const local_position = { type: 'Point', coordinates: [1, 2, 3] };
    await hub.post('/anchors', { id: 'a1', name: 'Post', zone_id: HALL.id, local_position });
    await move(hub, 'tag-1', [20, 20]);
    await hub.post('/providers', { id: 'spare-tag', type: 'uwb' });
    // Refusals of the hub are written to the console.
    const page = await openPage(t, 'about:blank', { theme, width, mayFail: true });
    await page.emulateMedia({ reducedMotion: 'reduce' });
    const found: string[] = [];
    for (const { path, seen, act } of VIEWS) {
      await page.goto(`${hub.origin}/hub-ui/${path}`);
      await page.getByText(seen).filter({ visible: true }).first().waitFor();
      await act?.(page);
      found.push(...(await violationsIn(page)).map((violation) => `/${path}: ${violation}`));
    }
    assert.deepEqual(found, []);
  });
}

test('axe finds nothing in a map whose tiles cannot be had', { skip }, async (t) => {
  const hub = await openUiHub(t, { map_tile_url: 'nowhere.pmtiles' });
  const page = await openPage(t, `${hub.origin}/hub-ui/`, { mayFail: true, theme: 'dark', width: 390 });
  await page.getByText('There are no map tiles.').waitFor();
  assert.deepEqual(await violationsIn(page), []);
});

test('axe finds nothing in the page that asks people to sign in', { skip }, async (t) => {
  const hub = await openSignedSite(t);
  const page = await openPage(t, `${hub.origin}/hub-ui/`, { mayFail: true });
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  assert.deepEqual(await violationsIn(page), []);
});
