import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readPoints } from '../../src/hub-ui/walk_tests/walk_points.ts';
import type { WalkTest } from '../../src/model/walk_test.ts';
import { openPage, openUiHub, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';

const skip = WITHOUT_BROWSER ?? false;

const POINTS = 'id;longitude;latitude;z;floor\nP1;8,5;50;1.2;0\nP2;8.6;50;;';

test('A table of surveyed points is read by its headings, and a bad row is named', () => {
  assert.deepEqual(readPoints(POINTS), [
    { id: 'P1', position: { type: 'Point', coordinates: [8.5, 50, 1.2] }, floor: 0 },
    { id: 'P2', position: { type: 'Point', coordinates: [8.6, 50] } },
  ]);
  assert.throws(() => readPoints('id,longitude\nP1,8'), /The column latitude is missing/);
  assert.throws(() => readPoints('id,longitude,latitude\nP1,8,50\nP2,8,north'), /Row 3: latitude is not a number/);
  assert.throws(() => readPoints('id,longitude,latitude\nP1,,50'), /Row 2: longitude is not a number/);
});

test('A walk test is started, marked, finished and printed on a phone', { skip }, async (t) => {
  const hub = await openUiHub(t, { history: true });
  await hub.post('/providers', { id: 'tag-1', type: 'uwb', name: 'Tag 1' });
  const page = await openPage(t, `${hub.origin}/hub-ui/walk-tests`, { mayFail: true });
  await page.setViewportSize({ width: 390, height: 844 });
  await page.getByText('No walk tests yet').waitFor();
  await page.getByRole('button', { name: 'New walk test' }).click();
  const dialog = page.getByRole('dialog', { name: 'New walk test' });
  await dialog.getByLabel('Name').fill('Hall 1');
  await dialog.getByLabel('Tag that is carried').selectOption('provider tag-1');
  await dialog.getByLabel('Table', { exact: true }).fill('id,longitude\nP1,8');
  await dialog.getByRole('button', { name: 'Start walk test' }).click();
  await dialog.getByText('The column latitude is missing').waitFor();
  await dialog.getByLabel('Table', { exact: true }).fill(POINTS);
  await dialog.getByRole('button', { name: 'Start walk test' }).click();
  await page.getByRole('heading', { name: 'Hall 1' }).waitFor();

  const location = { source: 'yard', provider_type: 'uwb', crs: 'EPSG:4326', floor: 0 };
  const position = { type: 'Point', coordinates: [8.5, 50.00001] };
  assert.equal((await hub.put('/providers/tag-1/location', { ...location, position })).status, 204);
  await page.getByRole('button', { name: 'P1' }).click();
  await page.getByText('1× marked').waitFor();
  const passes = page.getByRole('region', { name: 'Passes' });
  await passes.getByText('1.11 m').waitFor();
  assert.equal(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), true, 'fits the screen');

  await page.getByRole('button', { name: 'Finish' }).click();
  await untilHolds(page, async () => (await page.getByRole('button', { name: 'P1' }).count()) === 0);
  const [stored] = (await hub.get('/walk_tests')).body as WalkTest[];
  assert.equal(stored?.passes?.length, 1);
  assert.notEqual(stored?.ended_at, undefined);
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save as CSV' }).click();
  assert.equal((await saved).suggestedFilename(), 'Hall 1.csv');
  await page.emulateMedia({ media: 'print' });
  assert.equal(await page.getByRole('button', { name: 'Print' }).isVisible(), false);
  assert.equal(await page.getByRole('navigation').first().isVisible(), false);
  assert.equal(await passes.isVisible(), true);
});
