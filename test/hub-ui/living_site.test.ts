import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { floorNames, objectsByFloor } from '../../src/hub-ui/hub/floors.ts';
import { nameSize } from '../../src/hub-ui/map/plane/label_position.ts';
import { fenceColors, fenceGroups } from '../../src/hub-ui/map/site/fence_colors.ts';
import { LIGHT_CATEGORIES, NONE } from '../../src/hub-ui/map/view/color_by.ts';
import { violationsIn } from '../support/axe.ts';
import { colorsAt, openPage, openUiHub, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';
import type { TestHub } from '../support/running_hub.ts';
import { openSignedSite, signIn } from './signed_site.ts';
import { CELLAR, DOCK, earth, FORKLIFT, HALL, move } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

test('Floors have the names of their zones, and the numbers of visible objects on them', () => {
  const names = floorNames([
    { floor: 1, properties: { floor_name: 'Mezzanine' } },
    { floor: 1, properties: { floor_name: 'Second' } },
    { properties: { floor_name: 'Ground' } },
    { floor: 2, properties: { floor_name: 7 } },
  ]);
  assert.deepEqual(
    [...names],
    [
      [1, 'Mezzanine'],
      [0, 'Ground'],
    ],
  );
  const counts = objectsByFloor({ count: 4, floor: [0, 1, Number.NaN, 1], removed: [0, 0, 0, 1] });
  assert.deepEqual(
    [...counts],
    [
      [0, 1],
      [1, 1],
    ],
  );
});

test('A name grows with its area, and is hidden if it does not fit', () => {
  assert.equal(nameSize('Hall', { width: 20, height: 200 }), undefined);
  assert.equal(nameSize('Hall', { width: 400, height: 20 }), undefined);
  const [small = 0, large = 0] = [60, 90].map((width) => nameSize('Hall', { width, height: 400 }));
  assert.ok(small < large, `${small} ${large}`);
  assert.equal(nameSize('Hall', { width: 5_000, height: 5_000 }), 34);
});

test('Fences with the same value of a property have the same color', () => {
  const fence = (id: string, use?: string) => ({ ...DOCK, id, properties: use === undefined ? {} : { use } });
  const fences = [fence('a', 'dock'), fence('b', 'dock'), fence('c', 'rack'), fence('d')] as never[];
  assert.deepEqual(
    fenceGroups(fences, 'use').map(({ value, count }) => [value, count]),
    [
      ['dock', 2],
      ['rack', 1],
      [undefined, 1],
    ],
  );
  const colors = fenceColors(fences, 'use', LIGHT_CATEGORIES);
  assert.equal(colors.get('a'), colors.get('b'));
  assert.notEqual(colors.get('a'), colors.get('c'));
  assert.equal(colors.get('d'), LIGHT_CATEGORIES.none);
  assert.equal(fenceGroups(fences, 'use').at(-1)?.group, NONE);
});

async function openSite(hub: TestHub): Promise<void> {
  await hub.post('/zones', { ...HALL, building: 'Plant North', properties: { floor_name: 'Ground floor' } });
  await hub.post('/fences', { ...DOCK, properties: { use: 'dock' } });
  await hub.post('/fences', { ...CELLAR, properties: { use: 'store' } });
  await hub.post('/trackables', FORKLIFT);
  await move(hub, 'tag-1', [20, 40], { floor: 0 });
}

const LAYERS = 'layers=trackables,fences,buildings';

test('Floors have names and counts, and fences the colors of a property', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await openSite(hub);
  const page = await openPage(t, `${hub.origin}/hub-ui/?${LAYERS}`);
  const floors = page.getByRole('group', { name: 'Floor' });
  await floors.getByRole('button', { name: 'Floor 0 Ground floor 1', exact: true }).waitFor();
  await floors.getByRole('button', { name: 'Floor -2', exact: true }).waitFor();

  await page.getByRole('button', { name: 'Layers' }).click();
  assert.ok(await page.getByLabel('Buildings', { exact: true }).isChecked());
  await page.getByLabel('Color fences by').selectOption('Property “use”');
  const legend = page.getByRole('region', { name: 'Fences by “use”' });
  await legend.getByText('dock', { exact: true }).waitFor();
  await legend.getByText('store', { exact: true }).waitFor();
  assert.equal(new URL(page.url()).searchParams.get('fences_by'), 'use');
});

test('A building is a soft fill without an edge, and zones are outlines of another layer', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await openSite(hub);
  const [longitude, latitude] = earth(75, 50);
  const at = `at=${longitude},${latitude}&z=20`;
  const page = await openPage(t, `${hub.origin}/hub-ui/?${at}&${LAYERS}`);
  const box = (await page.locator('[data-map]').boundingBox()) ?? assert.fail('The map has no size');
  const middle = [box.x + box.width / 2, box.y + box.height / 2] as const;
  const building = [230, 233, 236, 255];
  const isFilled = async (): Promise<boolean> =>
    (await colorsAt(page, middle)).some((color) =>
      color.every((channel, i) => Math.abs(channel - (building[i] ?? 0)) < 3),
    );
  await untilHolds(page, isFilled);
  await move(hub, 'tag-1', [70, 50], { floor: 0 });
  await page.goto(`${hub.origin}/hub-ui/?${at}&layers=trackables,fences,zones`);
  await page.locator('[data-counts]', { hasText: '1 trackable' }).waitFor();
  assert.equal(await isFilled(), false);
});

for (const [theme, width] of [
  ['light', 1280],
  ['dark', 1280],
  ['light', 390],
  ['dark', 390],
] as const) {
  test(`The living site fits ${width} px in the ${theme} theme`, { skip }, async (t) => {
    const hub = await openUiHub(t);
    await openSite(hub);
    const page = await openPage(t, `${hub.origin}/hub-ui/?${LAYERS}&fences_by=use`, { theme, width });
    await page.getByRole('button', { name: 'Floor 0 Ground floor 1', exact: true }).waitFor();
    const folder = process.env['HUB_PICTURES'];
    if (folder !== undefined) await page.screenshot({ path: join(folder, `living-${width}-${theme}.png`) });
    const wide = await page.evaluate('document.documentElement.scrollWidth');
    assert.ok(Number(wide) <= width, `${wide} px`);
    assert.deepEqual(await violationsIn(page), []);
  });
}

test('A user who does not set up zones sees buildings instead of the outlines of zones', { skip }, async (t) => {
  const hub = await openSignedSite(t);
  const page = await openPage(t, `${hub.origin}/hub-ui/`, { mayFail: true });
  await signIn(page, 'viewer');
  await page.getByRole('button', { name: 'Layers' }).click();
  assert.equal(await page.getByLabel('Zones', { exact: true }).isChecked(), false);
  assert.ok(await page.getByLabel('Buildings', { exact: true }).isChecked());
});
