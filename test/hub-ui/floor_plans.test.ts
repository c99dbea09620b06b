import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { drawDxf } from '../../src/hub-ui/formats/dxf_plan.ts';
import { apply } from '../../src/hub-ui/map/plane/georeference.ts';
import { EARTH, type MapPoint, toMap } from '../../src/hub-ui/map/plane/plane.ts';
import { metersBetween, movedPairs, pairsAround, turnAround } from '../../src/hub-ui/setup/zones/plan_move.ts';
import { violationsIn } from '../support/axe.ts';
import { openPage, openUiHub, type PageOptions, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';
import type { TestHub } from '../support/running_hub.ts';
import { TestMap } from './setup_map.ts';
import { earth } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

const SVG =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 200" width="400" height="200"><rect x="2" y="2" width="396" ' +
  'height="196" fill="#ddd" stroke="#000" stroke-width="4"/><path d="M200 0V120" stroke="#000" stroke-width="4"/></svg>';

/** Two walls in millimeters: 40 m along x, 30 m along y. */
const WALLS = [
  ...['0', 'SECTION', '2', 'HEADER', '9', '$INSUNITS', '70', '4', '0', 'ENDSEC', '0', 'SECTION', '2', 'ENTITIES'],
  ...['0', 'LINE', '8', 'A', '10', '1000', '20', '0', '11', '41000', '21', '0'],
  ...['0', 'LINE', '8', 'A', '10', '1000', '20', '0', '11', '1000', '21', '30000', '0', 'ENDSEC', '0', 'EOF'],
].join('\n');

test('A DXF drawing becomes an image of all its lines, with its width in meters', () => {
  const { svg, widthMeters } = drawDxf(new TextEncoder().encode(WALLS));
  assert.ok(Math.abs(widthMeters - 40 * 1.04) < 0.01, `${widthMeters}`);
  assert.equal(svg.match(/M/g)?.length, 2, 'both open lines are drawn');
  assert.match(svg, /viewBox="0 0 41\.600 31\.600"/);
});

test('A plan is scaled and turned around a point that stays', () => {
  const at = toMap(EARTH, earth(20, 20));
  const pairs = pairsAround(at, { width: 400, height: 200 }, 40);
  const [lowerLeft, lowerRight] = pairs.map((pair) => toMap(EARTH, pair.earth)) as [MapPoint, MapPoint];
  assert.ok(Math.abs(metersBetween(lowerLeft, lowerRight) - 40) < 0.01);
  const movement = turnAround(lowerLeft, { angle: Math.PI / 2, factor: 2 });
  assert.ok(Math.hypot(...apply(movement, lowerLeft).map((each, i) => each - (lowerLeft[i] ?? 0))) < 1e-6);
  const moved = movedPairs(pairs, movement).map((pair) => toMap(EARTH, pair.earth)) as [MapPoint, MapPoint];
  assert.ok(Math.abs(metersBetween(moved[0], moved[1]) - 80) < 0.02);
  assert.ok(moved[1][1] > moved[0][1] && Math.abs(moved[1][0] - moved[0][0]) < 0.01, 'its lower edge points north');
});

/** Drops a file at the center of a map, as a person does. */
async function drop(page: Page, map: string, file: { name: string; type: string; text: string }): Promise<void> {
  const target = page.getByRole('region', { name: map, exact: true });
  const box = (await target.boundingBox()) ?? assert.fail('The map has no size');
  const at = { clientX: box.x + box.width / 2, clientY: box.y + box.height / 2 };
  const data = await page.evaluateHandle(({ name, type, text }) => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([text], name, { type }));
    return transfer;
  }, file);
  const viewport = target.locator('.ol-viewport');
  await viewport.dispatchEvent('dragover', { dataTransfer: data, ...at, bubbles: true });
  await viewport.dispatchEvent('drop', { dataTransfer: data, ...at, bubbles: true });
}

const PLAN = { name: 'hall.svg', type: 'image/svg+xml', text: SVG };

async function dropOnLiveMap(t: TestContext, hub: TestHub, options: PageOptions = {}): Promise<Page> {
  const [longitude, latitude] = earth(20, 20);
  const page = await openPage(t, `${hub.origin}/hub-ui/?at=${longitude},${latitude}&z=18`, options);
  await page.getByRole('region', { name: 'Live map' }).locator('.ol-viewport').waitFor();
  await drop(page, 'Live map', PLAN);
  await page.getByText('Drag the plan to move it').waitFor();
  return page;
}

async function numberIn(page: Page, label: string): Promise<number> {
  return Number(await page.getByRole('region', { name: 'Floor plan' }).getByLabel(label, { exact: true }).inputValue());
}

test('A plan dropped on the live map is moved, turned and scaled by hand, and its zone moves with it', {
  skip,
}, async (t) => {
  const hub = await openUiHub(t);
  const page = await dropOnLiveMap(t, hub);
  const map = new TestMap(page, 'Map of the zone');
  await page.getByLabel('Name', { exact: true }).fill('Hall 3');
  const width = await numberIn(page, 'Width of the image');
  assert.ok(width > 50 && width <= 100, `${width} m`);
  const rotation = (): Promise<number> => numberIn(page, 'Rotation');
  assert.equal(await rotation(), 0);

  // It was dropped at the middle of the map; its corner is half of its width to the west.
  await map.drag(earth(20, 20), earth(30, 20));
  const metersOf = async (label: string) => numberIn(page, label);
  const east = width / 2;
  const north = width / 4;
  await map.drag(earth(30 + north, 20 + east), earth(30 + north * 1.5, 20 + east * 1.5));
  await untilHolds(page, async () => Math.abs((await metersOf('Width of the image')) / width - 1.5) < 0.03);
  const turn = 30 + 1.5 * north * (1 + 2 * 0.12);
  await map.drag(earth(turn, 20), earth(30, 20 - (turn - 30)));
  await untilHolds(page, async () => Math.abs((await rotation()) - 90) < 2);

  await page.getByRole('button', { name: 'Create zone' }).click();
  await page.getByText('Hall 3 is saved').waitFor();
  const [{ ground_control_points: rows, properties }] = (await hub.get('/zones/summary')).body;
  const plan = properties.floor_plan.ground_control_points;
  assert.deepEqual(plan[1], [0, 1500], 'an SVG has 3,000 pixels along its longer side');
  assert.deepEqual(plan[0], rows[0], 'the zone has the extent of its plan');
  const middle = [0, 1].map((axis) => (rows[0][axis] + rows[4][axis]) / 2);
  const wanted = earth(30, 20);
  assert.ok(Math.hypot(...middle.map((each, axis) => each - (wanted[axis] ?? 0))) < 2e-5, `${middle}`);
});

test('A known length scales a plan, and undo restores its size', { skip }, async (t) => {
  const hub = await openUiHub(t);
  const page = await dropOnLiveMap(t, hub);
  const map = new TestMap(page, 'Map of the zone');
  const width = await numberIn(page, 'Width of the image');
  await page.getByRole('button', { name: 'Known length' }).click();
  await page.getByText('Click one end of a length').waitFor();
  await map.click(earth(20, 20 + width / 4));
  await page.getByText('Now click its other end').waitFor();
  await map.click(earth(20, 20 - width / 4));
  const length = page.getByLabel('Length from A to B');
  await page.getByRole('button', { name: 'Scale the plan' }).click();
  await page.getByText('Enter a length above 0 m.').waitFor();
  await length.fill('30');
  await length.press('Enter');
  await untilHolds(page, async () => Math.abs((await numberIn(page, 'Width of the image')) - 60) < 1);
  await page.getByRole('button', { name: 'Undo' }).click();
  await untilHolds(page, async () => Math.abs((await numberIn(page, 'Width of the image')) - width) < 0.1);
  const field = page.getByRole('region', { name: 'Floor plan' }).getByLabel('Width of the image', { exact: true });
  await field.fill('');
  await field.pressSequentially('250');
  assert.equal(await numberIn(page, 'Width of the image'), 250);
});

test('A DXF drawing has its own size on the map, and a PDF is rejected with a reason', { skip }, async (t) => {
  const hub = await openUiHub(t);
  const page = await openPage(t, `${hub.origin}/hub-ui/zones/new`);
  await page.getByRole('region', { name: 'Map of the zone' }).locator('.ol-viewport').waitFor();
  await drop(page, 'Map of the zone', { name: 'hall.pdf', type: 'application/pdf', text: '%PDF-1.7' });
  await page.getByText('A PDF cannot be read here: save its page as PNG or SVG').waitFor();
  await drop(page, 'Map of the zone', { name: 'hall.dxf', type: '', text: WALLS });
  await page.getByText('Drag the plan to move it').waitFor();
  assert.ok(Math.abs((await numberIn(page, 'Width of the image')) - 41.6) < 0.1);
  assert.equal(await page.getByRole('button', { name: 'By hand' }).getAttribute('aria-pressed'), 'true');
});

for (const theme of ['light', 'dark'] as const) {
  for (const width of [1280, 390]) {
    test(`A plan that is placed by hand fits ${width} px in the ${theme} theme`, { skip }, async (t) => {
      const page = await dropOnLiveMap(t, await openUiHub(t), { theme, width });
      const folder = process.env['HUB_PICTURES'];
      if (folder !== undefined) await page.screenshot({ path: join(folder, `plan-${width}-${theme}.png`) });
      const wide = await page.evaluate('document.documentElement.scrollWidth');
      assert.ok(Number(wide) <= width, `${wide} px`);
      assert.deepEqual(await violationsIn(page), []);
    });
  }
}
