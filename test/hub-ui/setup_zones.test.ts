import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { Page } from 'playwright-core';
import { openPage, openUiHub, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';
import type { TestHub } from '../support/running_hub.ts';
import { TestMap } from './setup_map.ts';
import { earth, HALL } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

/** A red square of 2 by 2 pixels. */
const RED = 'iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAEElEQVR4nGP8z8DAwMDAAAAHFAECrr4l3wAAAABJRU5ErkJggg==';
const PLAN = { name: 'plan.png', mimeType: 'image/png', buffer: Buffer.from(RED, 'base64') };

test('Ground control points are placed by pairs of clicks, dragged, and show their residuals', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await hub.post('/zones', { ...HALL, ground_control_points: HALL.ground_control_points.slice(0, 6) });
  const page = await openPage(t, `${hub.origin}/hub-ui/zones/${HALL.id}`);
  await page.getByRole('button', { name: 'Match points' }).click();
  await page.getByText('Fits to 0 mm on average').waitFor();
  const world = new TestMap(page, 'Map: points on the earth');
  const own = new TestMap(page, "The zone's own meters");

  await own.click([10, 50]);
  await page.getByText('Now click the same point here').waitFor();
  await world.click(earth(10, 50));
  const residuals = page.locator('[data-residual]');
  await untilHolds(page, async () => (await residuals.count()) === 4);
  const value = async (label: string): Promise<number> => Number(await page.getByLabel(label).inputValue());
  assert.ok(Math.abs((await value('x of point 4')) - 10) < 0.6);
  assert.ok(Math.abs((await value('Latitude of point 4')) - earth(10, 50)[1]) < 1e-5);

  await world.drag(earth(0, 0), earth(-8, 0));
  await untilHolds(page, async () => /^\d\.\d+ m$/.test((await residuals.nth(0).textContent()) ?? ''));
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByLabel('x of point 4').fill('10');
  await page.getByLabel('y of point 4').fill('50');
  await page.getByRole('button', { name: 'Remove point 3' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Hall is saved').waitFor();
  const rows = (await hub.get(`/zones/${HALL.id}`)).body.ground_control_points;
  assert.equal(rows.length, 6);
  assert.deepEqual(
    rows.slice(0, 4),
    HALL.ground_control_points.slice(0, 4),
    'those that were not touched are as they were',
  );
  assert.deepEqual(rows[5], [10, 50]);
});

test('A zone is drawn on the map, and placed by its extent', { skip }, async (t) => {
  const hub = await openUiHub(t);
  const page = await openPage(t, `${hub.origin}/hub-ui/zones`);
  await page.getByText('No zones yet').waitFor();
  await page.getByRole('link', { name: 'New zone' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Hall 3');
  await page.getByRole('button', { name: 'Draw the area' }).click();
  const map = new TestMap(page, 'Map of the zone');
  await map.goTo(earth(20, 20));
  await map.draw([earth(10, 10), earth(30, 10), earth(30, 25)]);
  await untilHolds(page, async () => (await page.locator('[data-residual]').count()) === 3);
  await page.getByRole('button', { name: 'Create zone' }).click();
  await page.getByText('Hall 3 is saved').waitFor();
  const [drawn] = (await hub.get('/zones/summary')).body;
  assert.deepEqual(drawn.ground_control_points[1], [0, 0]);
  const [length, across] = drawn.ground_control_points[3];
  assert.ok(Math.abs(length - 20) < 0.6 && across === 0, `${length} ${across}`);

  const extent = page.locator('details', { hasText: 'By extent or corners' });
  await extent.locator('summary').click();
  await extent.getByLabel('Width').fill('40');
  await extent.getByLabel('Depth').fill('25');
  await extent.getByLabel('Longitude').fill('8.68');
  await extent.getByLabel('Latitude').fill('50.11');
  await extent.getByRole('button', { name: 'Place the corners' }).click();
  await untilHolds(page, async () => (await page.locator('[data-residual]').count()) === 4);
  await page.keyboard.press('Control+s');
  await untilHolds(page, async () => (await hub.get('/zones/summary')).body[0].ground_control_points.length === 8);
  const [{ ground_control_points: rows }] = (await hub.get('/zones/summary')).body;
  assert.deepEqual(
    [rows[1], rows[3], rows[5], rows[7]],
    [
      [0, 0],
      [40, 0],
      [40, 25],
      [0, 25],
    ],
  );
  assert.deepEqual(rows[0], [8.68, 50.11]);

  await extent.getByText('Corners', { exact: true }).click();
  await extent.getByLabel('Corners').fill('0, 0, 1\n20, 0, 2\n20, 10, 3');
  await extent.getByLabel('Rotation').fill('90');
  await extent.getByRole('button', { name: 'Place the corners' }).click();
  await untilHolds(page, async () => (await page.locator('[data-residual]').count()) === 3);
  await page.keyboard.press('Control+s');
  await untilHolds(page, async () => (await hub.get('/zones/summary')).body[0].ground_control_points.length === 6);
  const [{ ground_control_points: turned }] = (await hub.get('/zones/summary')).body;
  assert.deepEqual(
    [turned[1], turned[3], turned[5]].map(([x, y]) => [x, y]),
    [
      [0, 0],
      [20, 0],
      [20, 10],
    ],
  );
  // The y axis points east, so the x axis points south.
  assert.ok(turned[2][1] < 50.11 && Math.abs(turned[2][0] - 8.68) < 1e-6, `${turned[2]}`);
});

test('A proximity zone is placed by a click, and an incomplete one shows its missing fields', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await hub.post('/zones', HALL);
  const page = await openPage(t, `${hub.origin}/hub-ui/zones/new`, { mayFail: true });
  await page.getByLabel('Name', { exact: true }).fill('Gate');
  await page.getByLabel('Type').selectOption('rfid');
  await page.getByText('Click where it is').waitFor();
  await page.getByRole('button', { name: 'Create zone' }).click();
  await page.getByText('Click where it is on the map, or enter its longitude and latitude.').waitFor();
  const map = new TestMap(page, 'Map of the zone');
  await map.click(earth(50, 30));
  await page.getByLabel('Radius').fill('4');
  await page.getByRole('button', { name: 'Create zone' }).click();
  await page.getByText('Gate is saved').waitFor();
  const gate = (await hub.get('/zones/summary')).body.find(({ name }: { name: string }) => name === 'Gate');
  const [x, y] = gate.position.coordinates;
  assert.ok(Math.abs(x - earth(50, 30)[0]) < 2e-5 && Math.abs(y - earth(50, 30)[1]) < 2e-5, `${x} ${y}`);
  assert.equal(gate.radius, 4);

  await page.getByLabel('Keep a tag until another reader wins').check();
  await page.getByLabel('Silence until another reader takes the tag', { exact: true }).fill('12.5');
  await page.getByLabel('Minimum stay', { exact: true }).fill('3');
  await page.getByLabel('Confidence for an entry').fill('2');
  await page.getByRole('button', { name: 'Save' }).click();
  await page
    .getByText(/must be 1 or less/)
    .first()
    .waitFor();
  await page.getByLabel('Confidence for an entry').fill('0.25');
  await page.getByLabel('Minimum stay', { exact: true }).fill('');
  await page.getByLabel('Position of the tag').selectOption('centroid');
  await page.getByRole('button', { name: 'Save' }).click();
  // The notice of the first time may still be there.
  const saved = { exit_grace_duration: 12_500, entry_confidence_min: 0.25, position_mode: 'centroid' };
  await untilHolds(page, async () =>
    isDeepStrictEqual((await hub.get(`/zones/${gate.id}`)).body.proximity_resolution, saved),
  );
});

test('A chosen floor plan fills its zone at first, and is stored with it', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await hub.post('/zones', HALL);
  const page = await openPage(t, `${hub.origin}/hub-ui/zones/${HALL.id}`);
  await page.getByLabel('Image of the floor plan').setInputFiles(PLAN);
  await page.getByRole('region', { name: 'Plan', exact: true }).waitFor();
  const plan = page.getByRole('region', { name: 'Floor plan' });
  await plan.getByText(/Fits to \d+ mm on average/).waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Hall is saved').waitFor();
  const { floor_plan: stored } = (await hub.get(`/zones/${HALL.id}`)).body.properties;
  assert.match(stored.image, /^data:image\/png;base64,/);
  assert.equal(stored.ground_control_points.length, 8);
  assert.deepEqual(stored.ground_control_points[5], [2, 2]);
});

/** Loads a floor plan, saves the zone, and returns the stored image with its size in pixels. */
async function savedPlan(page: Page, hub: TestHub, file: { name: string; mimeType: string; buffer: Buffer }) {
  await page.getByLabel('Image of the floor plan').setInputFiles(file);
  await page.getByRole('region', { name: 'Plan', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Hall is saved').waitFor();
  const { image } = (await hub.get(`/zones/${HALL.id}`)).body.properties.floor_plan;
  const [width = 0, height = 0] = await page.evaluate(async (src) => {
    const shown = new Image();
    shown.src = src;
    await shown.decode();
    return [shown.naturalWidth, shown.naturalHeight];
  }, image as string);
  return { image: image as string, width, height };
}

/** A base64 PNG of noise, which no encoding compresses. */
const noise = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [800, 600];
    const context = canvas.getContext('2d') as CanvasRenderingContext2D;
    const pixels = context.createImageData(800, 600);
    for (let i = 0, seed = 1; i < pixels.data.length; i++) {
      seed = (seed * 48_271) % 2_147_483_647;
      pixels.data[i] = i % 4 === 3 ? 255 : seed % 256;
    }
    context.putImageData(pixels, 0, 0);
    return canvas.toDataURL('image/png').slice('data:image/png;base64,'.length);
  });

test('A large floor plan is scaled down to fit the size limit of the hub', { skip }, async (t) => {
  const hub = await openUiHub(t, { max_entity_properties_size: 100 });
  await hub.post('/zones', { ...HALL, properties: { owner: 'x'.repeat(20_000) } });
  const page = await openPage(t, `${hub.origin}/hub-ui/zones/${HALL.id}`);
  const buffer = Buffer.from(await noise(page), 'base64');
  assert.ok(buffer.length > 1_000_000);
  const { image, width, height } = await savedPlan(page, hub, { name: 'scan.png', mimeType: 'image/png', buffer });
  assert.ok(image.length < 100 * 1024 - 20_000);
  assert.ok(Math.abs(width / height - 800 / 600) < 0.02, `${width} by ${height}`);
});

test('An SVG with only a view box becomes a plan of its aspect ratio', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await hub.post('/zones', HALL);
  const page = await openPage(t, `${hub.origin}/hub-ui/zones/${HALL.id}`);
  const svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1000 400"><rect width="900" height="300"/></svg>';
  const file = { name: 'plan.svg', mimeType: 'image/svg+xml', buffer: Buffer.from(svg) };
  const { width, height } = await savedPlan(page, hub, file);
  assert.deepEqual([width, height], [3000, 1200]);
});

test('On an empty hub a floor plan comes first: it is placed at the center of the map, and georeferences its zone', {
  skip,
}, async (t) => {
  const hub = await openUiHub(t);
  const page = await openPage(t, `${hub.origin}/hub-ui/zones`);
  const all = new TestMap(page, 'Map of all zones');
  await all.goTo(earth(30, 20));
  await page.getByRole('link', { name: 'New zone' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Hall 3');
  await page.getByLabel('Image of the floor plan').setInputFiles(PLAN);
  const world = new TestMap(page, 'Map: points on the earth');
  await isAt(page, world, earth(30, 20));
  await world.goTo(earth(50, 30));
  await page.getByRole('button', { name: 'Place image' }).click();
  await page.getByText('Enter a width above 0 m.').waitFor();
  await page.getByLabel('Width of the image').fill('60');
  await page.getByRole('region', { name: 'Floor plan' }).getByLabel('Rotation').fill('90');
  const create = page.getByRole('button', { name: 'Create zone' });
  await page.route('**/zones/fromlocal', async (route) => {
    await untilHolds(page, () => create.isDisabled());
    await route.continue();
  });
  await page.getByRole('button', { name: 'Place image' }).click();
  await create.click();
  await page.getByText('Hall 3 is saved').waitFor();
  const [{ ground_control_points: rows, properties }] = (await hub.get('/zones/summary')).body;
  assert.deepEqual(
    [rows[1], rows[5]],
    [
      [0, 0],
      [60, 60],
    ],
  );
  const middle = [0, 1].map((axis) => (rows[0][axis] + rows[4][axis]) / 2);
  assert.ok(Math.hypot(...middle.map((each, axis) => each - (earth(50, 30)[axis] ?? 0))) < 3e-6, `${middle}`);
  assert.ok(rows[2][1] < rows[0][1], 'its top is in the east, so its lower edge points south');
  const { ground_control_points: plan } = properties.floor_plan;
  assert.deepEqual(
    plan.filter((_: unknown, i: number) => i % 2 === 1),
    [
      [0, 2],
      [2, 2],
      [2, 0],
      [0, 0],
    ],
  );
  assert.deepEqual(plan[0], rows[0]);
});

test('On an empty hub, a floor plan and its zone are placed by clicks', { skip }, async (t) => {
  const hub = await openUiHub(t);
  const page = await openPage(t, `${hub.origin}/hub-ui/zones/new`);
  await page.getByLabel('Image of the floor plan').setInputFiles(PLAN);
  const world = new TestMap(page, 'Map: points on the earth');
  await world.goTo(earth(10, 10));
  const plan = page.getByRole('region', { name: 'Plan', exact: true });
  const { width, height } = (await plan.boundingBox()) ?? assert.fail('The plan has no size');
  // Half a pixel of the plan is 25 of the screen.
  for (const [place, right] of [
    [earth(10, 10), -25],
    [earth(10, 5), 25],
  ] as const) {
    await world.click(place);
    await page.getByText('and the same one on the plan').waitFor({ state: 'hidden' });
    await plan.click({ position: { x: width / 2 + right, y: height / 2 + 25 } });
    await page.getByText('Click a point here').waitFor();
  }
  await page.getByRole('button', { name: 'Place the zone by its plan' }).click();
  await page.getByRole('button', { name: 'Create zone' }).click();
  await page.getByText(/ is saved$/).waitFor();
  const [{ ground_control_points: rows }] = (await hub.get('/zones/summary')).body;
  const [length, across] = rows[3];
  assert.ok(Math.abs(length - 10) < 0.6 && across === 0, `${length} ${across}`);
});

/** Resolves when a position is at the center of a map. */
async function isAt(page: Page, map: TestMap, [longitude, latitude]: readonly [number, number]): Promise<void> {
  await untilHolds(page, async () => {
    const [x, y] = await map.middle();
    return Math.abs(x - longitude) < 2e-6 && Math.abs(y - latitude) < 2e-6;
  });
}
