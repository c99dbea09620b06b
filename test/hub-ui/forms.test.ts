import assert from 'node:assert/strict';
import { test } from 'node:test';
import { problemOf } from '../../src/problem.ts';
import { pathLabel, sentenceOf } from '../../src/hub-ui/problems/sentences.ts';
import { openPage, openUiHub, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';
import { createSite, DOCK, FORKLIFT } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

for (const [reason, sentence] of [
  [problemOf('not_a_number', { found: 'null' }), 'This must be a number, and is empty.'],
  [problemOf('missing_for', { purpose: 'proximity_zone', found: 'nothing' }), 'This is required for a proximity zone.'],
  [problemOf('below_minimum', { minimum: -1, found: '-3000' }), 'This must be -1 or more; it is -3000.'],
  [
    problemOf('too_many', { limit: 1024, unit: 'characters', found: 8388 }),
    'This must have at most 1,024 characters; it has 8,388.',
  ],
  [problemOf('not_permitted', { request: 'PUT /v2/fences' }), 'Your roles do not give you access to this.'],
  [{ message: 'The hub cannot be reached' }, 'The hub cannot be reached.'],
] as const) {
  test(`sentenceOf makes the sentence "${sentence}"`, () => assert.equal(sentenceOf(reason), sentence));
}

for (const [path, place] of [
  ['exit_delay', 'Exit delay'],
  ['region.coordinates[0][2]', 'Shape, corner 3'],
  ['ground_control_points[3]', 'Control points, point 2'],
  ['global_reference.coordinates[0]', 'Geographic position, longitude or x'],
  ['properties.load', 'Properties, load'],
] as const) {
  test(`pathLabel describes ${path}`, () => assert.equal(pathLabel(path), place));
}

test('All errors of a form are shown at once at their fields, with the reason why it is not saved', {
  skip,
}, async (t) => {
  const hub = await openUiHub(t);
  const page = await openPage(t, `${hub.origin}/hub-ui/fences/new`);
  const exitDelay = page.getByRole('spinbutton', { name: 'Exit delay' });
  await page.getByLabel('Entry tolerance', { exact: true }).fill('-1');
  await exitDelay.fill('-3');
  const save = page.getByRole('button', { name: 'Create fence' });
  await save.click();
  await page.getByText('Draw the fence on the map, or enter its corners.').waitFor();
  await page.getByText('This cannot be less than 0 m.').waitFor();
  await page.getByText('This cannot be less than 0 s. For no limit, press ∞.').waitFor();
  await page.getByText('Not saved yet. Please check: Exit delay; Entry tolerance; Shape').waitFor();
  assert.ok(await save.isDisabled());
  await exitDelay.fill('3');
  await page.getByText('Not saved yet. Please check: Entry tolerance; Shape', { exact: true }).waitFor();
  assert.equal(await exitDelay.getAttribute('aria-invalid'), 'false');
  await page.getByLabel('Entry tolerance', { exact: true }).fill('1');
  await page.getByRole('button', { name: 'Enter corners' }).click();
  await save.click();
  await page.getByText(/ is saved$/).waitFor();
  await page.getByText('No changes to save').waitFor();

  await page.goto(`${hub.origin}/hub-ui/zones/new`);
  await page.getByText('By extent or corners in meters').click();
  await page.getByRole('button', { name: 'Place the corners' }).click();
  for (const sentence of ['width above 0 m', 'depth above 0 m', 'longitude from −180', 'latitude from −90']) {
    await page.getByText(`Enter a ${sentence}`).waitFor();
  }
});

test('A long form scrolls on its own, and the page does not', { skip }, async (t) => {
  const hub = await openUiHub(t);
  const page = await openPage(t, `${hub.origin}/hub-ui/zones/new`);
  await page.getByRole('button', { name: 'Create zone' }).waitFor();
  const [main, form] = [page.getByRole('main'), page.locator('[data-editor]')];
  const hidden = (box: { readonly scrollHeight: number; readonly clientHeight: number }): number =>
    box.scrollHeight - box.clientHeight;
  await untilHolds(page, async () => (await form.evaluate(hidden)) > 0);
  assert.equal(await main.evaluate(hidden), 0);
});

test('An error that only the hub detects is shown at its field as a sentence', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  const page = await openPage(t, `${hub.origin}/hub-ui/zones/new`, { mayFail: true });
  const foreignId = page.getByLabel('External ID');
  await page.getByLabel('Save incomplete, without a geographic position').check();
  await foreignId.fill('hall');
  await page.getByRole('button', { name: 'Create zone' }).click();
  await page.getByText('This must differ from ids and foreign ids of other zones; it is "hall"').waitFor();
  assert.equal(await foreignId.getAttribute('aria-invalid'), 'true');
});

test('Undo restores a deleted fence exactly', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  const page = await openPage(t, `${hub.origin}/hub-ui/fences/${DOCK.id}`);
  await page.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByText('Dock A is deleted').waitFor();
  assert.equal((await hub.get('/fences/summary')).body.length, 1);
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('Dock A restored').waitFor();
  const { region, crs } = (await hub.get(`/fences/${DOCK.id}?crs=local&zone_id=hall`)).body;
  assert.deepEqual([region, crs], [DOCK.region, DOCK.crs]);
});

test('A number that JSON would store as null is rejected with a sentence', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  const page = await openPage(t, `${hub.origin}/hub-ui/trackables/${FORKLIFT.id}`);
  const properties = page.getByLabel('Properties');
  await properties.fill('{"load": {"a": 1e999}}');
  await page.getByText('The number at "load.a" is too large to be stored.').waitFor();
  assert.ok(await page.getByRole('button', { name: 'Save' }).isDisabled());
  await properties.fill(JSON.stringify(FORKLIFT.properties));

  await page.goto(`${hub.origin}/hub-ui/lists/trackables`);
  await page.getByRole('button', { name: /JSON/ }).first().click();
  await page.getByRole('button', { name: 'Edit as JSON' }).click();
  const json = page.getByRole('textbox', { name: 'JSON' });
  await json.fill((await json.inputValue()).replace('"Kim"', '1e999'));
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await page.getByText('Properties, driver: This must be a finite number').waitFor();
  assert.deepEqual((await hub.get(`/trackables/${FORKLIFT.id}`)).body.properties, FORKLIFT.properties);
});

test('A remote change of a field stays visible while the form scrolls', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  const page = await openPage(t, `${hub.origin}/hub-ui/fences/${DOCK.id}`);
  await page.getByLabel('Name', { exact: true }).fill('Dock C');
  await hub.put(`/fences/${DOCK.id}`, { ...DOCK, name: 'Dock D', exit_delay: 4_000 });
  const news = page.getByRole('status').filter({ hasText: 'Another user has changed this fence' });
  await news.getByText('theirs: Dock D').waitFor();
  await news.getByText('yours: Dock C').waitFor();
  await news.getByText('theirs: 4 s').waitFor();
  await page.getByLabel('Properties').scrollIntoViewIfNeeded();
  const box = await news.boundingBox();
  assert.ok(box !== null && box.y >= 0 && box.y + box.height < 800, JSON.stringify(box));
  await news.getByRole('radio', { name: 'yours: Dock C' }).check();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Dock C is saved').waitFor();
  const { name, exit_delay: exitDelay } = (await hub.get(`/fences/${DOCK.id}`)).body;
  assert.deepEqual([name, exitDelay], ['Dock C', 4_000]);
  await untilHolds(page, async () => (await page.getByLabel('Exit delay', { exact: true }).inputValue()) === '4');
});

for (const [zoom, width, height] of [
  ['200 %', 640, 400],
  ['400 %', 320, 200],
] as const) {
  test(`At ${zoom} a form has room for its fields, and is saved`, { skip }, async (t) => {
    const hub = await openUiHub(t);
    await createSite(hub);
    const page = await openPage(t, `${hub.origin}/hub-ui/fences/${DOCK.id}`, { width, height });
    const field = page.getByLabel('Exit delay', { exact: true });
    const save = page.getByRole('button', { name: 'Save' });
    await field.scrollIntoViewIfNeeded();
    await field.fill('7');
    // Only the save bar covers fields.
    const [form, foot] = [await page.locator('[data-editor]').boundingBox(), await save.boundingBox()];
    assert.ok(form !== null && foot !== null);
    const seen = Math.min(form.y + form.height, foot.y) - Math.max(form.y, 0);
    assert.ok(seen > 0.6 * height, `${seen} of ${height} pixels are of the form`);
    const sideways = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    assert.ok(Number(sideways) <= 0, `it is ${sideways} pixels too wide`);
    await save.click();
    await page.getByText('Dock A is saved').waitFor();
  });
}
