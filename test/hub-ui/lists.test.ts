import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import type { Page } from 'playwright-core';
import { openPage, openUiHub, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';
import type { TestHub } from '../support/running_hub.ts';
import { createSite, DOCK, FORKLIFT, HALL } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

/** A page that shows a list of the hub. */
function openList(t: TestContext, hub: TestHub, path: string): Promise<Page> {
  return openPage(t, `${hub.origin}/hub-ui/lists/${path}`);
}

/** Displayed names, from top to bottom. */
function names(page: Page): Promise<string[]> {
  return page.locator('tbody a:not([data-icon-only])').allInnerTexts();
}

async function untilNames(page: Page, expected: readonly string[]): Promise<void> {
  await untilHolds(page, async () => JSON.stringify(await names(page)) === JSON.stringify(expected));
}

async function createCarts(hub: TestHub, count: number): Promise<void> {
  const carts = Array.from({ length: count }, (_, i) => ({
    id: `00000000-0000-4000-8000-${String(i + 1).padStart(12, '0')}`,
    type: 'virtual',
    name: `Cart ${i + 1}`,
    properties: { crew: i % 2 === 0 ? 'Even' : 'Odd', rack: { row: i } },
  }));
  for (const cart of carts) assert.equal((await hub.post('/trackables', cart)).status, 201);
}

test('Search, sorting and paging combine, and the URL restores them', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  await createCarts(hub, 60);
  const page = await openList(t, hub, 'trackables');
  await page.getByText('1 to 25 of 61').waitFor();
  assert.deepEqual((await names(page)).slice(0, 3), ['Cart 1', 'Cart 2', 'Cart 3'], 'numbers count as numbers');
  await page.getByRole('button', { name: 'Next page' }).click();
  await page.getByText('26 to 50 of 61').waitFor();

  const search = page.getByRole('searchbox', { name: 'Search all lists' });
  await search.fill('even cart');
  await page.getByText('1 to 25 of 30').waitFor();
  await page.getByRole('button', { name: 'Name', exact: true }).click();
  await untilHolds(page, async () => (await names(page))[0] === 'Cart 59');
  await page.getByRole('button', { name: 'Next page' }).click();
  await untilNames(page, ['Cart 9', 'Cart 7', 'Cart 5', 'Cart 3', 'Cart 1']);
  await page.reload();
  await untilNames(page, ['Cart 9', 'Cart 7', 'Cart 5', 'Cart 3', 'Cart 1']);

  // An id matches as a whole, not by its suffix.
  await search.fill('000000000042');
  await page.getByText('No trackables match the search').waitFor();
  await search.fill('00000000-0000-4000-8000-000000000042');
  await untilNames(page, ['Cart 42']);
  await search.fill('kim');
  await untilNames(page, ['Forklift 7']);
  await page.getByRole('tab', { name: /fences 0/ }).waitFor();
  await search.fill('nothing has this');
  await page.getByText('No trackables match the search').waitFor();
  await page.getByRole('button', { name: 'Clear the search' }).click();
  await page.getByText('1 to 25 of 61').waitFor();
});

test('Only selected rows are deleted, after confirmation', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createCarts(hub, 40);
  await createSite(hub);
  const page = await openList(t, hub, 'trackables?q=odd');
  await page.getByText('1 to 20 of 20').waitFor();
  await page.getByLabel('Select this page').check();
  await page.getByText('20 selected').waitFor();
  await page.getByLabel('Select Cart 2', { exact: true }).uncheck();
  await page.getByText('19 selected').waitFor();
  await page.getByRole('button', { name: 'Delete' }).click();
  const question = page.getByRole('dialog', { name: 'Delete these 19 trackables?' });
  await question.getByRole('button', { name: 'Cancel' }).click();
  assert.equal((await hub.get('/trackables/summary')).body.length, 41);
  await page.getByRole('button', { name: 'Delete' }).click();
  await question.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('19 trackables deleted').waitFor();
  await untilNames(page, ['Cart 2']);
  const left = (await hub.get('/trackables/summary')).body.map(({ name }: { name: string }) => name);
  assert.equal(left.length, 22);
  assert.ok(left.includes('Cart 1') && left.includes('Cart 2') && left.includes('Forklift 7'));
});

test('Among thousands, a search by name and number selects exact matches, and the confirmation names them', {
  skip,
}, async (t) => {
  const hub = await openUiHub(t);
  const pallets = Array.from({ length: 2_000 }, (_, i) => ({ type: 'virtual', name: `Pallet ${i}` }));
  await Promise.all(pallets.map((pallet) => hub.post('/trackables', pallet)));
  const page = await openList(t, hub, 'trackables');
  await page.getByText('1 to 25 of 2,000').waitFor();
  await page.getByRole('searchbox', { name: 'Search all lists' }).fill('Pallet 99');
  // 99, and 990 to 999, but no object whose id happens to contain 99.
  await page.getByText('1 to 11 of 11').waitFor();
  await page.getByLabel('Select this page').check();
  await page.getByRole('button', { name: 'Delete' }).click();
  const question = page.getByRole('dialog', { name: 'Delete these 11 trackables?' });
  const named = await question.getByRole('listitem').allInnerTexts();
  assert.equal(named.length, 11, 'every one of them');
  assert.deepEqual(named.slice(0, 2), ['Pallet 99', 'Pallet 990']);
  await question.getByRole('button', { name: 'Delete 11 trackables' }).click();
  await page.getByText('11 trackables deleted').waitFor();
  const left: readonly { readonly name: string }[] = (await hub.get('/trackables/summary')).body;
  const gone = pallets.filter(({ name }) => !left.some((each) => each.name === name));
  assert.deepEqual(
    gone.map(({ name }) => name),
    [99, ...Array.from({ length: 10 }, (_, i) => 990 + i)].map((number) => `Pallet ${number}`),
  );
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('11 trackables restored').waitFor();
  await page.getByText('1 to 11 of 11').waitFor();
  const after: readonly object[] = (await hub.get('/trackables/summary')).body;
  assert.equal(after.length, 2_000);
});

test('The JSON of an entity can be read, changed, and copied as a command that works', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  const name = `Kim's "dock" $HOME`;
  await hub.put(`/fences/${DOCK.id}`, { ...DOCK, name });
  // The browser logs the error response to the console.
  const page = await openPage(t, `${hub.origin}/hub-ui/lists/fences`, { mayFail: true });
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: `JSON of ${name}` }).click();
  const dialog = page.getByRole('dialog', { name });
  // It is shown as stored: in the local coordinates of its zone.
  await dialog.getByText('"local"').waitFor();
  await dialog.getByRole('button', { name: 'curl', exact: true }).click();
  for (const verb of ['Replace', 'Read', 'Delete']) {
    await dialog.getByRole('button', { name: verb, exact: true }).click();
    await dialog.getByRole('button', { name: 'Copy as curl' }).click();
    const command = await dialog.locator('pre').innerText();
    // The browser uses it after the click.
    await untilHolds(page, async () => (await copied(page)) === command);
    const before = (await hub.get(`/fences/${DOCK.id}?crs=local&zone_id=${HALL.id}`)).body;
    const { stdout } = await promisify(execFile)('bash', ['-c', command.replace('curl', 'curl -sS -i')]);
    assert.match(stdout, verb === 'Read' ? /^HTTP\/1.1 200/ : /^HTTP\/1.1 204/, stdout);
    if (verb === 'Delete') assert.equal((await hub.get(`/fences/${DOCK.id}`)).status, 404);
    else assert.deepEqual((await hub.get(`/fences/${DOCK.id}?crs=local&zone_id=${HALL.id}`)).body, before);
  }

  await page.goto(`${hub.origin}/hub-ui/lists/trackables?json=${FORKLIFT.id}`);
  await page.getByRole('button', { name: 'Edit as JSON' }).click();
  const editor = page.getByRole('dialog', { name: 'Edit Forklift 7' });
  const text = await editor.getByLabel('JSON').inputValue();
  await editor.getByLabel('JSON').fill(text.replace('1.5', '-2'));
  await editor.getByRole('button', { name: 'Save' }).click();
  await editor
    .getByText(/^Radius: /)
    .last()
    .waitFor();
  await editor.getByLabel('JSON').fill(text.replace('1.5', '2.5'));
  await editor.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Saved').waitFor();
  assert.equal((await hub.get(`/trackables/${FORKLIFT.id}`)).body.radius, 2.5);
});

test('A full export to one file and its import restore the same entities', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  await createCarts(hub, 30);
  await hub.post('/providers', { id: 'tag-1', type: 'uwb', name: 'Tag', properties: { children: 3 } });
  await hub.post('/anchors', {
    id: 'a1',
    name: 'Post',
    zone_id: HALL.id,
    local_position: { type: 'Point', coordinates: [1, 2, 3] },
  });
  await hub.post('/alerts/rules', { name: 'Dock', kind: 'entry', fence_ids: [DOCK.id] });
  await hub.post('/views', { name: 'Hall', address: '?at=50.11,8.68,19', is_start: true });
  const defined = async () => ({
    rules: (await hub.get('/alerts/rules')).body,
    views: (await hub.get('/views')).body,
  });
  const before = await everything(hub);
  const definedBefore = await defined();
  const page = await openPage(t, `${hub.origin}/hub-ui/lists`);
  await page.getByRole('button', { name: 'Export' }).click();
  const waiting = page.waitForEvent('download');
  await page.getByRole('dialog').getByRole('button', { name: 'Export' }).click();
  const download = await waiting;
  assert.match(download.suggestedFilename(), /^location-hub-[\dT-]+\.json$/);
  const text = await readFile(await download.path(), 'utf8');
  for (const [path, list] of Object.entries(before)) for (const { id } of list) await hub.delete(`/${path}/${id}`);
  await hub.delete(`/alerts/rules/${definedBefore.rules[0].id}`);
  await hub.delete(`/views/${definedBefore.views[0].id}`);

  await page.getByRole('button', { name: 'Import' }).click();
  const dialog = page.getByRole('dialog', { name: 'Import from a file' });
  await choose(page, text);
  await dialog.getByRole('row', { name: /trackables 31 0 0 0/ }).waitFor();
  assert.deepEqual((await hub.get('/trackables/summary')).body, [], 'a preview changes nothing');
  await dialog.getByRole('row', { name: /Alert rules 1 0 0 0/ }).waitFor();
  await dialog.getByRole('row', { name: /Saved views 1 0 0 0/ }).waitFor();
  await dialog.getByRole('button', { name: 'Import 38 items' }).click();
  await dialog.getByText('Import complete: 38 created, 0 changed, 0 deleted.').waitFor();
  assert.deepEqual(await everything(hub), before);
  assert.deepEqual(await defined(), definedBefore);
  await dialog.getByRole('button', { name: 'Close' }).last().click();

  await hub.delete(`/trackables/${FORKLIFT.id}`);
  await hub.post('/trackables', { type: 'virtual', name: 'Stranger' });
  await hub.put('/providers/tag-1', { id: 'tag-1', type: 'uwb', name: 'Tag', properties: { children: 4 } });
  await hub.post('/alerts/rules', { name: 'Any', kind: 'collision' });
  await page.getByRole('button', { name: 'Import' }).click();
  await choose(page, text);
  await dialog.getByRole('row', { name: /trackables 1 0 30 1/ }).waitFor();
  await dialog.getByRole('row', { name: /providers 0 1 0 0/ }).waitFor();
  await dialog.getByRole('row', { name: /Alert rules 0 0 1 1/ }).waitFor();
  await dialog.getByLabel('Delete items that are only in the hub: 2').check();
  await dialog.getByRole('button', { name: 'Import 4 items' }).click();
  await dialog.getByText('Import complete: 1 created, 1 changed, 2 deleted.').waitFor();
  assert.deepEqual(await everything(hub), before);
  assert.deepEqual(await defined(), definedBefore);
});

test('Errors of a file are located, and its valid entities are imported', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  const page = await openPage(t, `${hub.origin}/hub-ui/lists`);
  await page.getByRole('button', { name: 'Import' }).click();
  const dialog = page.getByRole('dialog', { name: 'Import from a file' });
  await choose(page, '{"format": "shopping"}');
  await dialog.getByText('Format: This must be "location-hub-entities"; it is "shopping".').waitFor();
  const head = { format: 'location-hub-entities', version: 1 };
  await choose(page, JSON.stringify({ ...head, trackables: [{ name: 'No id' }] }));
  await dialog.getByText('Trackables, number 1, id: This must be a string, and is empty.').waitFor();
  const bad = { ...FORKLIFT, id: '11111111-0000-4000-8000-000000000001', name: 'Bad', radius: -1 };
  const good = { ...FORKLIFT, id: '11111111-0000-4000-8000-000000000002', name: 'Good' };
  await choose(page, JSON.stringify({ ...head, trackables: [bad, good] }));
  await dialog.getByText('Trackable 1, Bad, Radius:').waitFor();
  assert.equal(await dialog.getByRole('button', { name: /^Import \d/ }).isDisabled(), true);
  await dialog.getByRole('button', { name: 'Skip invalid items' }).click();
  await dialog.getByText('1 item is skipped.').waitFor();
  await dialog.getByRole('button', { name: 'Import 1 item' }).click();
  await dialog.getByText('Import complete: 1 created, 0 changed, 0 deleted.').waitFor();
  assert.equal((await hub.get(`/trackables/${good.id}`)).body.name, 'Good');
});

test('An import can be canceled before it is written, and continues when the user leaves the page', {
  skip,
}, async (t) => {
  const hub = await openUiHub(t);
  const document = (lists: object): string => JSON.stringify({ format: 'location-hub-entities', version: 1, ...lists });
  const id = (i: number): string => `22222222-0000-4000-8000-${String(i).padStart(12, '0')}`;
  // The hub needs a while to process their shapes.
  const fences = Array.from({ length: 8_000 }, (_, i) => {
    const [x, y] = [9 + (i % 100) / 1000, 50 + Math.floor(i / 100) / 1000];
    const angles = [...Array.from({ length: 12 }, (_, n) => n / 2), 0];
    const corners = angles.map((n) => [x + Math.cos(n) / 1e4, y + Math.sin(n) / 1e4].map((c) => Number(c.toFixed(7))));
    return { id: id(i), region: { type: 'Polygon', coordinates: [corners] } };
  });
  const page = await openPage(t, `${hub.origin}/hub-ui/lists`);
  await page.getByRole('button', { name: 'Import' }).click();
  const dialog = page.getByRole('dialog', { name: 'Import from a file' });
  await choose(page, document({ fences }));
  await dialog.getByRole('button', { name: 'Import 8,000 items' }).click();
  await dialog.getByRole('button', { name: 'Stop the import' }).click();
  await dialog.getByText('The import was stopped. Nothing has changed.').waitFor();
  assert.deepEqual((await hub.get('/fences')).body, []);

  await dialog.getByRole('button', { name: 'Close' }).last().click();
  await page.getByRole('button', { name: 'Import' }).click();
  const trackables = Array.from({ length: 3_000 }, (_, i) => ({ id: id(i), type: 'omlox', name: `Cart ${i}` }));
  await choose(page, document({ trackables }));
  const begun = page.waitForResponse((response) => response.url().includes('/import?dry_run=false'));
  await dialog.getByRole('button', { name: 'Import 3,000 items' }).click();
  assert.equal((await begun).status(), 202);
  await page.goto(`${hub.origin}/hub-ui/lists`);
  await page.getByText('1 to 25 of 3,000').waitFor();
  assert.equal((await hub.get('/trackables')).body.length, 3_000);
});

/** All entities of the hub, by the paths of their kinds. */
async function everything(hub: TestHub): Promise<Record<string, readonly { readonly id: string }[]>> {
  const kinds = ['zones', 'fences', 'trackables', 'providers', 'anchors'];
  const lists = await Promise.all(kinds.map((kind) => hub.get(`/${kind}/summary`)));
  return Object.fromEntries(
    kinds.map((kind, i) => [kind, lists[i]?.body.sort((a: Named, b: Named) => (a.id < b.id ? -1 : 1))]),
  );
}

type Named = { readonly id: string };

async function choose(page: Page, text: string): Promise<void> {
  const file = { name: 'site.json', mimeType: 'application/json', buffer: Buffer.from(text) };
  await page.getByLabel('File to import').setInputFiles(file);
}

function copied(page: Page): Promise<string> {
  return page.evaluate('navigator.clipboard.readText()');
}
