import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPage, openUiHub, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';
import { CELLAR, createSite, DOCK, FORKLIFT, move } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

test('A bulk change from a list is previewed, applied, and undone by one click', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  await hub.post('/fences', { ...CELLAR, id: 'gate', name: 'Gate', floor: 3, exit_delay: 5_000 });
  const local_position = { type: 'Point', coordinates: [12, 34] };
  await hub.post('/anchors', { id: 'north', name: 'North', zone_id: 'hall', local_position });
  const page = await openPage(t, `${hub.origin}/hub-ui/lists/fences`);
  const dialog = page.getByRole('dialog');
  await page.getByLabel('Select this page').check();
  await page.getByRole('button', { name: 'Change', exact: true }).click();
  await dialog.getByLabel('Field', { exact: true }).selectOption('Floor');
  await dialog.getByLabel('New value').fill('3');
  await dialog.getByText('2 of 3 fences change').waitFor();
  await dialog.getByText('1 unchanged').waitFor();
  await dialog.getByRole('button', { name: 'Add field' }).click();
  await dialog.getByLabel('Field', { exact: true }).nth(1).selectOption('Exit delay');
  await dialog.getByLabel('New value').nth(1).fill('7');
  await dialog.getByText('3 of 3 fences change').waitFor();
  const lines = await dialog.getByRole('list', { name: 'Changes' }).getByRole('listitem').allInnerTexts();
  assert.ok(
    lines.some((line) => /Gate\s+Exit delay\s+5 s → 7 s/.test(line)),
    lines.join('\n'),
  );
  await dialog.getByRole('button', { name: 'Change 3 fences' }).click();
  await page.getByText('3 fences changed').waitFor();
  const stored = async (id: string) => {
    const { floor, exit_delay: delay, region } = (await hub.get(`/fences/${id}?crs=local&zone_id=hall`)).body;
    return [floor, delay, id === DOCK.id ? region : 'elsewhere'];
  };
  assert.deepEqual(await stored(DOCK.id), [3, 7_000, DOCK.region], 'other members keep their stored values');
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByText('3 fences restored').waitFor();
  assert.deepEqual(await stored(DOCK.id), [0, undefined, DOCK.region]);
  assert.deepEqual(await stored('gate'), [3, 5_000, 'elsewhere']);

  // A floor is copied as a whole, a fence into a row of copies; one undo step reverts each.
  await page.getByRole('button', { name: 'Copy a floor' }).click();
  await dialog.getByLabel('From floor').selectOption('0');
  await dialog.getByLabel('To floor').fill('1');
  await dialog.getByLabel('Names').fill('{name}, upstairs');
  await dialog.getByLabel('Also copy the zones of the floor').check();
  await dialog.getByRole('listitem').filter({ hasText: 'Dock A, upstairs' }).waitFor();
  await dialog.getByRole('listitem').filter({ hasText: 'North, upstairs' }).waitFor();
  await dialog.getByRole('button', { name: 'Create 3 copies' }).click();
  await page.getByRole('link', { name: 'Dock A, upstairs', exact: true }).waitFor();
  const zones = (await hub.get('/zones/summary')).body as { id: string; name: string; floor: number }[];
  const upstairs = zones.find(({ name }) => name === 'Hall, upstairs');
  assert.equal(upstairs?.floor, 1);
  const copied = (await hub.get(`/fences/summary?crs=local&zone_id=${upstairs?.id}`)).body.find(
    ({ name }: { name: string }) => name === 'Dock A, upstairs',
  );
  assert.deepEqual([copied.zone_id, copied.floor, copied.region], [upstairs?.id, 1, DOCK.region]);
  const anchors = async () => (await hub.get('/anchors/summary')).body as Record<string, unknown>[];
  const north = (await anchors()).find(({ name }) => name === 'North, upstairs');
  assert.deepEqual([north?.['zone_id'], north?.['local_position']], [upstairs?.id, local_position]);
  await page.getByRole('button', { name: 'Undo' }).last().click();
  await page.getByRole('link', { name: 'Dock A, upstairs', exact: true }).waitFor({ state: 'detached' });
  await untilHolds(page, async () => (await hub.get('/zones/summary')).body.length === 1);
  assert.deepEqual(
    (await anchors()).map(({ name }) => name),
    ['North'],
  );

  await page.goto(`${hub.origin}/hub-ui/fences/${DOCK.id}`);
  await page.getByRole('button', { name: 'Copy', exact: true }).click();
  await dialog.getByRole('button', { name: 'Grid or row' }).click();
  await dialog.getByLabel('Columns', { exact: true }).fill('3');
  await dialog.getByLabel('Rows', { exact: true }).fill('2');
  await dialog.getByLabel('Space between columns').fill('2');
  await dialog.getByLabel('Names').fill('Bay {row}{column}');
  await dialog.getByRole('button', { name: 'Create 5 copies' }).click();
  await page.getByText('5 created').waitFor();
  const bays = (await hub.get('/fences/summary?crs=local&zone_id=hall')).body as (typeof DOCK)[];
  const last = bays.find(({ name }) => name === 'Bay 23');
  assert.deepEqual(last?.region.coordinates[0]?.[0], [10 + 2 * 22, 10 + 21]);
});

test('Objects selected on the map by lasso, rectangle and clicks are changed in one step', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  await move(hub, 'tag-1', [20, 20]);
  const page = await openPage(t, `${hub.origin}/hub-ui/`);
  await page.getByText(/^1 trackable/).waitFor();
  const box = await page.locator('[data-map]').boundingBox();
  assert.ok(box !== null);
  const at = (x: number, y: number): [number, number] => [box.x + x * box.width, box.y + y * box.height];
  await page.getByRole('button', { name: 'Select several' }).click();
  await page.getByRole('button', { name: 'Rectangle' }).click();
  await page.mouse.move(...at(0.02, 0.12));
  await page.mouse.down();
  await page.mouse.move(...at(0.5, 0.5), { steps: 4 });
  await page.mouse.move(...at(0.98, 0.93), { steps: 4 });
  await page.mouse.up();
  const chosen = page.getByRole('region', { name: 'Selected on the map' });
  await chosen.getByText('2 fences').waitFor();
  await chosen.getByText('1 trackable').waitFor();
  await chosen.getByRole('button', { name: 'Clear' }).click();
  await page.getByRole('button', { name: 'Lasso' }).click();
  const round: [number, number][] = Array.from({ length: 25 }, (_, i) => {
    const angle = (i / 24) * 2 * Math.PI;
    return at(0.5 + 0.46 * Math.sin(angle), 0.54 - 0.38 * Math.cos(angle));
  });
  await page.mouse.move(...(round[0] as [number, number]));
  await page.mouse.down();
  for (const point of round.slice(1)) await page.mouse.move(...point);
  await page.mouse.up();
  await chosen.getByText('2 fences').waitFor();
  await chosen.getByRole('button', { name: 'Change 1 trackable' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Field', { exact: true }).selectOption('A property');
  await dialog.getByLabel('Property').fill('shift');
  await dialog.getByLabel('New value').fill('late');
  await dialog.getByRole('button', { name: 'Change 1 trackable' }).click();
  await page.getByText('1 trackable changed').waitFor();
  const { properties } = (await hub.get(`/trackables/${FORKLIFT.id}`)).body;
  assert.deepEqual(properties, { driver: 'Kim', shift: 'late' });
  await page.keyboard.press('Escape');
  await chosen.waitFor({ state: 'detached' });
});
