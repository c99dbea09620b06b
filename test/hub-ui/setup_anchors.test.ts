import assert from 'node:assert/strict';
import { test } from 'node:test';
import { anchorPosition } from '../../src/hub-ui/map/plane/anchor_position.ts';
import { EARTH, type Plane, planeOfZone, toMap } from '../../src/hub-ui/map/plane/plane.ts';
import type { Anchor } from '../../src/model/anchor.ts';
import type { Zone } from '../../src/model/zone.ts';
import { openPage, openUiHub, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';
import { TestMap } from './setup_map.ts';
import { earth, HALL } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;
const ZONE = HALL as unknown as Zone;
const METERS = planeOfZone(ZONE);

const LOCAL = { local_position: { type: 'Point', coordinates: [20, 30, 4] } } satisfies Partial<Anchor>;
const ON_EARTH = { georeferenced_position: { type: 'Point', coordinates: earth(50, 10) } } satisfies Partial<Anchor>;

const PLACES: readonly [string, Partial<Anchor>, Zone | undefined, Plane, [number, number] | undefined][] = [
  ['on the earth by its position there', ON_EARTH, undefined, EARTH, [50, 10]],
  ['on the earth by its zone', LOCAL, ZONE, EARTH, [20, 30]],
  ['in the meters of its zone', { ...LOCAL, ...ON_EARTH }, ZONE, METERS, [20, 30]],
  ['in the meters of another zone by the earth', { ...LOCAL, ...ON_EARTH }, undefined, METERS, [50, 10]],
  ['nowhere without a zone', LOCAL, undefined, EARTH, undefined],
  ['nowhere without a position', {}, ZONE, EARTH, undefined],
];

for (const [name, anchor, zone, plane, wanted] of PLACES) {
  test(`anchorPosition: ${name}`, () => {
    const found = anchorPosition({ id: 'a1', ...anchor }, zone, plane);
    if (wanted === undefined) return assert.equal(found, undefined);
    const [x, y] = plane === METERS ? wanted : toMap(EARTH, earth(...wanted));
    const [foundX, foundY] = found ?? assert.fail('it is nowhere');
    assert.ok(Math.hypot(foundX - x, foundY - y) < 0.1, `${found} is not ${x},${y}`);
  });
}

test('An anchor is placed on the map and in the meters of its zone, keeps its heights, and georeferences the zone', {
  skip,
}, async (t) => {
  const hub = await openUiHub(t);
  await hub.post('/zones', HALL);
  await hub.post('/anchors', { id: 'a2', zone_id: 'hall', ...LOCAL, ...ON_EARTH });
  const page = await openPage(t, `${hub.origin}/hub-ui/anchors`);
  await page.getByRole('link', { name: 'New anchor' }).click();
  await page.getByLabel('Id', { exact: true }).fill('a1');
  await page.getByLabel('Zone', { exact: true }).selectOption('Hall');
  const map = new TestMap(page, 'Map of the anchor');
  await page.getByText('Click where it is').waitFor();
  await map.click(earth(30, 20));
  await page.getByText('Click or drag to move it').waitFor();
  await page.getByText("In its zone's meters", { exact: true }).click();
  await map.click([30, 20]);
  await page.getByLabel('z', { exact: true }).fill('3.5');
  await untilHolds(
    page,
    async () => Math.abs(Number(await page.getByLabel('x', { exact: true }).inputValue()) - 30) < 1,
  );
  await map.drag([30, 20], [40, 20]);
  await untilHolds(
    page,
    async () => Math.abs(Number(await page.getByLabel('x', { exact: true }).inputValue()) - 40) < 1,
  );
  await page.getByRole('button', { name: 'Create anchor' }).click();
  await page.getByText('a1 is saved').waitFor();
  const stored = (await hub.get('/anchors/a1')).body;
  const [x, y, z] = stored.local_position.coordinates;
  assert.ok(Math.abs(x - 40) < 1 && Math.abs(y - 20) < 1 && z === 3.5, `${x} ${y} ${z}`);
  const [longitude, latitude] = stored.georeferenced_position.coordinates;
  const [wantedLongitude, wantedLatitude] = earth(30, 20);
  assert.ok(Math.abs(longitude - wantedLongitude) < 3e-5 && Math.abs(latitude - wantedLatitude) < 3e-5);

  await page.getByRole('link', { name: 'Hall' }).click();
  for (const id of ['a1', 'a2']) {
    await page.getByLabel('Add an anchor').fill(id);
    await page.keyboard.press('Enter');
  }
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Hall is saved').waitFor();
  assert.deepEqual((await hub.get(`/zones/${HALL.id}`)).body.anchor_ids, ['a1', 'a2']);
});

/** Width of the panel of the selected entity. The map is centered in the rest of the page. */
const PANEL = 392;

test('Anchors are shown on the live map, found by a search, and described in a panel', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await hub.post('/zones', HALL);
  await hub.post('/anchors', { id: 'a1', name: 'North wall', zone_id: 'hall', ...LOCAL });
  const page = await openPage(t, `${hub.origin}/hub-ui/`);
  await page.getByRole('combobox', { name: 'Search the site' }).fill('north');
  await page.getByRole('option', { name: /North wall/ }).click();
  const panel = page.getByRole('complementary', { name: 'Selected anchor' });
  await panel.getByText('Technical').click();
  await panel.getByText('20.00 m, 30.00 m, 4 m high').waitFor();
  await panel.getByText('Hall').waitFor();
  // The map is zoomed in, and the anchor is in the middle of its part without the panel.
  const [at] = await Promise.all([page.locator('[data-map]').first().boundingBox(), page.waitForURL(/at=8\.679581/)]);
  assert.ok(at !== null);
  await panel.getByRole('button', { name: 'Close' }).click();
  await panel.waitFor({ state: 'hidden' });
  await page.mouse.click(at.x + (at.width - PANEL) / 2, at.y + at.height / 2);
  await panel.getByRole('heading', { name: 'North wall' }).waitFor();
});
