import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { type FloorShapes, projectStack } from '../../src/hub-ui/map_page/stack/stack_projection.ts';
import { violationsIn } from '../support/axe.ts';
import { openPage, openUiHub, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';
import type { TestHub } from '../support/running_hub.ts';
import { DOCK, FORKLIFT, HALL, move } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

const RING = [
  [0, 0],
  [100, 0],
  [100, 40],
  [0, 40],
  [0, 0],
];
const FLOORS: readonly FloorShapes[] = [0, 1, 2].map((floor) => ({ floor, zones: [[RING]], fences: [] }));
const AREA = { left: 100, top: 50, width: 800, height: 600 };

test('A stack fits its area, with each floor above the one below it, and rises from one plane', () => {
  const stack = projectStack(FLOORS, AREA, 1) ?? assert.fail('there is no stack');
  const corners = FLOORS.flatMap((_, level) => RING.map(([x = 0, y = 0]) => stack.toPixel(x, y, level)));
  for (const [px, py] of corners) {
    assert.ok(px >= 99.9 && px <= 900.1 && py >= 49.9 && py <= 650.1, `${px} ${py}`);
  }
  const rows = [0, 1, 2].map((level) => stack.toPixel(50, 20, level)[1]);
  assert.ok(rows[0]! > rows[1]! && rows[1]! > rows[2]!, `${rows}`);
  const flat = projectStack(FLOORS, AREA, 0) ?? assert.fail('there is no stack');
  assert.deepEqual(flat.toPixel(10, 10, 0), flat.toPixel(10, 10, 2));
  assert.deepEqual([stack.isInside(50, 20), stack.isInside(50, 60)], [true, false]);
});

test('A building without an area has no stack', () => {
  assert.equal(projectStack([], AREA, 1), undefined);
});

const UPPER = { ...HALL, id: '6f1f4d3e-6a53-4a3e-9a43-0d8f4a4f2b12', name: 'Offices', foreign_id: 'upper', floor: 1 };
const ANNEX = { ...HALL, id: '6f1f4d3e-6a53-4a3e-9a43-0d8f4a4f2b13', name: 'Annex', foreign_id: 'annex', floor: 0 };

async function openBuilding(hub: TestHub): Promise<void> {
  await hub.post('/zones', { ...HALL, building: 'Plant North', properties: { floor_name: 'Ground floor' } });
  await hub.post('/zones', { ...UPPER, building: 'Plant North', properties: { floor_name: 'Offices' } });
  await hub.post('/zones', { ...ANNEX, building: 'Annex' });
  await hub.post('/fences', DOCK);
  await hub.post('/trackables', FORKLIFT);
  for (let i = 0; i < 6; i++) {
    await hub.post('/trackables', { type: 'virtual', name: `Cart ${i}`, location_providers: [`cart-${i}`] });
    await move(hub, `cart-${i}`, [15 + 13 * i, 15 + 6 * i], { floor: i % 3 === 0 ? 1 : 0 });
  }
  await move(hub, 'tag-1', [20, 40], { floor: 0 });
}

test('A user sees the floors of a building as a stack, opens one by keys, and another by a click', {
  skip,
}, async (t) => {
  const hub = await openUiHub(t);
  await openBuilding(hub);
  const page = await openPage(t, `${hub.origin}/hub-ui/?layers=trackables,fences,buildings`);
  await page.getByRole('button', { name: 'Show floors as a stack' }).click();
  const stack = page.getByRole('region', { name: 'Floors of Plant North' });
  await stack.getByRole('button', { name: 'Offices 2 trackables' }).waitFor();
  await stack.getByRole('button', { name: 'Ground floor 5 trackables' }).waitFor();

  // The button of the highest floor has the focus; the next one is the floor below.
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await stack.waitFor({ state: 'detached' });
  await untilHolds(page, async () => new URL(page.url()).searchParams.get('floor') === '0');

  await page.getByRole('button', { name: 'Show floors as a stack' }).click();
  const label = (await stack.getByRole('button', { name: /^Offices/ }).boundingBox()) ?? assert.fail('no label');
  const box = (await stack.boundingBox()) ?? assert.fail('no stack');
  await page.mouse.click((label.x + label.width + box.x + box.width) / 2, label.y + label.height / 2);
  await untilHolds(page, async () => new URL(page.url()).searchParams.get('floor') === '1');

  await page.getByRole('button', { name: 'Show floors as a stack' }).click();
  await stack.getByLabel('Building').selectOption('Annex');
  await page.getByRole('region', { name: 'Floors of Annex' }).waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Show floors as a stack' }).waitFor();
  const { searchParams } = new URL(page.url());
  assert.deepEqual(
    ['stack', 'building', 'floor'].map((name) => searchParams.get(name)),
    [null, null, null],
  );
});

for (const [theme, width] of [
  ['light', 1280],
  ['dark', 1280],
  ['dark', 390],
] as const) {
  test(`The stack of floors fits ${width} px in the ${theme} theme`, { skip }, async (t) => {
    const hub = await openUiHub(t);
    await openBuilding(hub);
    const page = await openPage(t, `${hub.origin}/hub-ui/?layers=trackables,fences&stack=1`, { theme, width });
    await page.getByRole('button', { name: 'Ground floor 5 trackables' }).waitFor();
    assert.deepEqual(await violationsIn(page), []);
    const wide = await page.evaluate('document.documentElement.scrollWidth');
    assert.ok(Number(wide) <= width, `${wide} px`);
    const folder = process.env['HUB_PICTURES'];
    if (folder !== undefined) await page.screenshot({ path: join(folder, `stack-${width}-${theme}.png`) });
  });
}
