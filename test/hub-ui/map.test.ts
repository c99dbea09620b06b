import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { demoCrew } from '../../src/cli/demo/crew.ts';
import { locationOf } from '../../src/cli/demo/observe.ts';
import { demoZones } from '../../src/cli/demo/zones.ts';
import { violationsIn } from '../support/axe.ts';
import { colorsAt, openPage, openUiHub, type PageOptions, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';
import type { TestHub } from '../support/running_hub.ts';
import { createSite, DOCK, earth, FORKLIFT, HALL, move } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

/** A page whose map is centered on a position in the hall. */
async function lookAt(t: TestContext, hub: TestHub, place: [number, number], more = '', options: PageOptions = {}) {
  const [longitude, latitude] = earth(...place);
  const page = await openPage(t, `${hub.origin}/hub-ui/?at=${longitude},${latitude}&z=20${more}`, options);
  await page.locator('[data-map] canvas').first().waitFor();
  return page;
}

async function middle(page: Page): Promise<[number, number]> {
  const box = await page.getByRole('region', { name: 'Live map' }).boundingBox();
  assert.ok(box !== null);
  return [box.x + box.width / 2, box.y + box.height / 2];
}

function counts(page: Page, text: string): Promise<void> {
  return page.locator('[data-counts]', { hasText: text }).waitFor();
}

function panel(page: Page) {
  return page.getByRole('complementary', { name: 'Selected trackable' });
}

test('An empty hub offers to draw a site, add a floor plan or run the demo, which cleans up after itself', {
  skip,
}, async (t) => {
  const hub = await openUiHub(t);
  const page = await openPage(t, `${hub.origin}/hub-ui/`);
  const guide = page.getByRole('region', { name: 'First steps' });
  await guide.waitFor();
  assert.deepEqual(await violationsIn(page), []);
  await guide.getByRole('link', { name: 'Draw it' }).click();
  await page.getByText('Click the corners; double-click to finish.').waitFor();
  await page.goBack();
  await guide.getByRole('link', { name: 'Choose a plan' }).click();
  await page.locator('button:focus', { hasText: 'Choose a file' }).waitFor();
  await page.goBack();
  await untilHolds(page, async () => (await page.title()) === 'Map · Location hub');

  await guide.getByRole('button', { name: 'Start the demo' }).click();
  await guide.waitFor({ state: 'hidden' });
  await counts(page, '40 trackables');
  const note = page.getByRole('region', { name: 'Demo' });
  await note.getByText('The demo is running.').waitFor();
  assert.deepEqual(await violationsIn(page), []);
  assert.deepEqual((await hub.get('/demo')).body, { state: 'running', is_there: true });
  await note.getByRole('button', { name: 'Stop and remove the demo' }).click();
  await guide.waitFor();
  // The page is notified of the removal of its site before the demo's thread has exited.
  await untilHolds(page, async () => (await hub.get('/demo')).body.state === 'stopped');
  assert.deepEqual((await hub.get('/demo')).body, { state: 'stopped', is_there: false });
  for (const kind of ['zones', 'fences', 'trackables', 'providers']) {
    assert.deepEqual((await hub.get(`/${kind}`)).body, [], kind);
  }

  await hub.post('/zones', HALL);
  await guide.waitFor({ state: 'hidden' });
  const beside = await hub.post('/demo', {});
  assert.match(beside.text, /beside: must be true if the hub already has a site, found 1 zone/);
});

test('A clicked trackable shows its position and its fence', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  await move(hub, 'tag-1', [20, 20]);
  const page = await lookAt(t, hub, [20, 20]);
  await counts(page, '1 trackable');
  await page.mouse.click(...(await middle(page)));
  await panel(page).getByRole('heading', { name: 'Forklift 7' }).waitFor();
  await panel(page).getByText('Dock A', { exact: true }).waitFor();
  await panel(page).getByText('Technical').click();
  await panel(page).getByText('Hall', { exact: true }).waitFor();
  await page.waitForURL((url) => url.searchParams.get('sel') === `trackables:${FORKLIFT.id}`);
  await move(hub, 'tag-1', [50, 20], { floor: 0, accuracy: 0.25 });
  await panel(page).getByText('none').waitFor();
  await panel(page).getByText('0.25 m').waitFor();
});

test('A clicked fence lists the objects inside', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  const page = await lookAt(t, hub, [20, 20]);
  const [x, y] = await middle(page);
  const inside: [number, number] = [x + 40, y + 40];
  // 10 m are some 100 pixels. North of the fence is only the hall, which a click before it is drawn would select.
  await untilHolds(page, async () => {
    const [hall, both] = [await colorsAt(page, [x + 40, y - 160]), await colorsAt(page, inside)];
    return hall.length > 1 && (both.at(-1)?.[3] ?? 0) > (hall.at(-1)?.[3] ?? 0);
  });
  await page.mouse.click(x + 40, y);
  const fence = page.getByRole('complementary', { name: 'Selected fence' });
  await fence.getByRole('heading', { name: 'Dock A' }).waitFor();
  await fence.getByText('none').first().waitFor();
  await move(hub, 'tag-1', [20, 20]);
  await fence.getByText('Forklift 7').waitFor();
});

test('The search finds names, ids and properties, and pans to the match', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  await move(hub, 'tag-1', [90, 50]);
  const page = await openPage(t, `${hub.origin}/hub-ui/`);
  await counts(page, '1 trackable');
  await page.keyboard.press('/');
  const search = page.getByRole('combobox', { name: 'Search the site' });
  await search.fill('kim');
  await page.getByRole('option', { name: /Forklift 7/ }).waitFor();
  await page.keyboard.press('Enter');
  await panel(page).getByRole('heading', { name: 'Forklift 7' }).waitFor();
  const [longitude, latitude] = earth(90, 50);
  await page.waitForURL((url) => {
    const [lon = 0, lat = 0] = (url.searchParams.get('at') ?? '').split(',').map(Number);
    return Math.abs(lon - longitude) < 1e-5 && Math.abs(lat - latitude) < 1e-5;
  });

  await search.fill('9d2c4f7e-52b6-4c0b-8a0e-3a1f6a1de002');
  await page.getByRole('option', { name: /Cellar/ }).click();
  await page.getByRole('complementary', { name: 'Selected fence' }).getByText('-2').waitFor();
  await search.fill('no such thing');
  await page.getByText('No match for “no such thing”').waitFor();
});

test('A floor filter shows only objects on that floor, also below ground, and the URL restores it', {
  skip,
}, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  await move(hub, 'tag-1', [20, 20]);
  await hub.post('/trackables', { type: 'virtual', name: 'Cart', location_providers: ['tag-2'] });
  await move(hub, 'tag-2', [22, 22], { floor: -2 });
  const page = await lookAt(t, hub, [20, 20]);
  await counts(page, '2 trackables');
  await page.getByRole('button', { name: 'Floor -2' }).click();
  await counts(page, '1 trackable');
  await page.waitForURL(/floor=-2/);
  await move(hub, 'tag-1', [21, 21], { floor: -2 });
  await counts(page, '2 trackables');

  await page.reload();
  await counts(page, '2 trackables');
  assert.equal(await page.getByRole('button', { name: 'Floor -2' }).getAttribute('aria-pressed'), 'true');
  // The hub sends no more locations of objects that left the floor. The page detects that.
  await move(hub, 'tag-1', [21, 21], { floor: 0 });
  await counts(page, '1 trackable');
  await page.getByRole('button', { name: 'All', exact: true }).click();
  await counts(page, '2 trackables');
});

test('Following a trackable keeps it in the center', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  await move(hub, 'tag-1', [20, 20]);
  const page = await lookAt(t, hub, [20, 20], `&sel=trackables:${FORKLIFT.id}`);
  await counts(page, '1 trackable');
  await panel(page).getByRole('button', { name: 'Follow' }).click();
  await move(hub, 'tag-1', [70, 40]);
  const [longitude] = earth(70, 40);
  await page.waitForURL((url) => Math.abs(Number.parseFloat(url.searchParams.get('at') ?? '') - longitude) < 1e-6);
  await counts(page, '1 trackable');
});

test('A link to a moving object zooms to it, and follows it', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  await move(hub, 'tag-1', [20, 20]);
  const page = await openPage(t, `${hub.origin}/hub-ui/?sel=trackables:${FORKLIFT.id}&follow=1`);
  let x = 20;
  await untilHolds(page, async () => {
    x += 0.05;
    await move(hub, 'tag-1', [x, 20]);
    return Number(new URL(page.url()).searchParams.get('z')) > 18;
  });
});

test('The local view shows a zone in its local coordinates', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  await move(hub, 'tag-1', [20, 20]);
  const page = await lookAt(t, hub, [50, 30]);
  await page.getByLabel('View', { exact: true }).selectOption('Hall, in meters');
  await page.waitForURL(/zone=/);
  await counts(page, '1 trackable');
  // The hall is 100 m wide and 60 m deep: its center is the center of the view.
  await page.waitForURL((url) => {
    const [x = 0, y = 0] = (url.searchParams.get('at') ?? '').split(',').map(Number);
    return Math.abs(x - 50) < 6 && Math.abs(y - 30) < 6;
  });
  await page.getByRole('combobox', { name: 'Search the site' }).fill('dock');
  await page.getByRole('option', { name: /Dock A/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL((url) => {
    const [x = 0, y = 0] = (url.searchParams.get('at') ?? '').split(',').map(Number);
    return Math.abs(x - 20) < 6 && Math.abs(y - 20) < 6;
  });
  while (page.url().includes('zone=')) await page.goBack();
  const [longitude] = earth(50, 30);
  await page.waitForURL((url) => Math.abs(Number.parseFloat(url.searchParams.get('at') ?? '') - longitude) < 1e-6);
});

test('A measured line shows its geodesic length', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  const page = await lookAt(t, hub, [50, 30]);
  const [x, y] = await middle(page);
  await page.getByRole('button', { name: 'Measure' }).click();
  await page.getByText('Click points to measure').waitFor();
  await page.mouse.click(x - 200, y);
  await page.mouse.move(x, y);
  await page.mouse.click(x + 200, y);
  // At zoom 20 a pixel is 156543 m / 2^20 times the cosine of the latitude.
  const meters = 400 * (156_543.034 / 2 ** 20) * Math.cos((50.11045 * Math.PI) / 180);
  const shown = async () => Number.parseFloat(await page.getByRole('status').locator('strong').innerText());
  await untilHolds(page, async () => Math.abs((await shown()) - meters) < 0.2);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Stop measuring' }).waitFor({ state: 'hidden' });
});

/** A plan of four colors: red at its top left, green to the right, blue and white below. */
const PLAN =
  'data:image/svg+xml;base64,' +
  Buffer.from(
    '<svg xmlns="http://www.w3.org/2000/svg" width="200" height="120"><rect width="100" height="60" fill="#f00"/>' +
      '<rect x="100" width="100" height="60" fill="#0f0"/><rect y="60" width="100" height="60" fill="#00f"/></svg>',
  ).toString('base64');

test('A floor plan is placed and rotated by its ground control points', { skip }, async (t) => {
  const hub = await openUiHub(t);
  // The plan's left edge is the hall's x axis, which points north; its upper edge is at the hall's far end.
  const points = [earth(0, 60), [0, 0], earth(0, 0), [0, 120], earth(100, 60), [200, 0]];
  await hub.post('/zones', { ...HALL, properties: { floor_plan: { image: PLAN, ground_control_points: points } } });
  const page = await lookAt(t, hub, [25, 45], '&layers=plans');
  await untilColor(page, [255, 0, 0]);
  const right = await lookAt(t, hub, [75, 45], '&layers=plans');
  await untilColor(right, [0, 255, 0]);
  const below = await lookAt(t, hub, [25, 15], '&layers=plans');
  await untilColor(below, [0, 0, 255]);
  const local = await openPage(t, `${hub.origin}/hub-ui/?zone=${HALL.id}&at=75,45&z=14&layers=plans`);
  await local.locator('[data-map] canvas').first().waitFor();
  await untilColor(local, [0, 255, 0]);
});

test('The URL stores which layers are off', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  await move(hub, 'tag-1', [20, 20]);
  const page = await lookAt(t, hub, [20, 20]);
  await counts(page, '1 trackable');
  await page.getByRole('button', { name: 'Layers' }).click();
  await page.getByLabel('Location providers').check();
  await counts(page, '1 provider');
  await page.getByLabel('Trackables', { exact: true }).uncheck();
  await counts(page, '0 trackables');
  await page.reload();
  await counts(page, '0 trackables · 1 provider');
});

test('Clicking a cluster zooms to its members', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  for (const n of [1, 2, 3, 4]) {
    await hub.post('/trackables', { type: 'virtual', name: `Cart ${n}`, location_providers: [`cart-${n}`] });
    await move(hub, `cart-${n}`, [14 + 3 * n, 20]);
  }
  const [longitude, latitude] = earth(22, 20);
  const page = await openPage(t, `${hub.origin}/hub-ui/?at=${longitude},${latitude}&z=15.5`);
  await counts(page, '4 trackables');
  await page.mouse.click(...(await middle(page)));
  // The nine meters from first to last are a large part of the map, and the carts are drawn individually.
  await page.waitForURL((url) => Number(url.searchParams.get('z')) > 19);
  await counts(page, '4 trackables');
  assert.equal(new URL(page.url()).searchParams.get('sel'), null);
  await page.waitForURL(
    (url) => Math.abs(Number((url.searchParams.get('at') ?? '').split(',')[1]) - earth(21.5, 20)[1]) < 1e-6,
  );
  const [x, y] = await middle(page);
  // From the center to the next cart. Carts are three meters apart.
  const zoom = Number(new URL(page.url()).searchParams.get('z'));
  const metersPerPixel = (156_543.034 / 2 ** zoom) * Math.cos((50.11045 * Math.PI) / 180);
  await page.mouse.click(x, y + 1.5 / metersPerPixel);
  await panel(page).getByRole('heading', { name: 'Cart 2' }).waitFor();
});

test('Trackables that collide have a cross until they separate', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  await hub.post('/trackables', { type: 'omlox', name: 'Cart', location_providers: ['tag-2'], radius: 1 });
  const page = await lookAt(t, hub, [60, 20], '&layers=trackables');
  await move(hub, 'tag-1', [60, 20]);
  await counts(page, '1 trackable');
  const [x, y] = await middle(page);
  const isRed = async (): Promise<boolean> =>
    (await colorsAt(page, [x + 7, y - 7])).some(([r, g, b]) => r > 170 && g < 90 && b < 90);
  assert.equal(await isRed(), false);
  await move(hub, 'tag-2', [60.5, 20]);
  await untilHolds(page, isRed);
  await move(hub, 'tag-2', [80, 20]);
  await untilHolds(page, async () => !(await isRed()));
});

test('Few objects keep their size at low zoom if clustering is off', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  await hub.post('/trackables', { type: 'virtual', name: 'Cart', location_providers: ['tag-2'] });
  await move(hub, 'tag-1', [20, 20]);
  await move(hub, 'tag-2', [90, 50]);
  const page = await openPage(t, `${hub.origin}/hub-ui/?at=${earth(20, 20)}&z=16&layers=trackables`);
  await counts(page, '2 trackables');
  const [x, y] = await middle(page);
  const at = async (right: number): Promise<string> => JSON.stringify((await colorsAt(page, [x + right, y])).at(-1));
  await untilHolds(page, async () => (await at(0)) !== (await at(30)));
  assert.equal(await at(4), await at(0), 'it is still drawn four pixels from its center');
});

test('Objects without recent locations are counted as silent', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  const longAgo = new Date(Date.now() - 20_000).toISOString();
  await move(hub, 'tag-1', [20, 20], { timestamp_generated: longAgo });
  const page = await lookAt(t, hub, [20, 20]);
  await counts(page, '1 trackable, 1 silent');
  await move(hub, 'tag-1', [21, 20]);
  await page.locator('[data-counts]', { hasText: /^1 trackable$/ }).waitFor();
});

test('A trackable that is deleted leaves the map', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  await move(hub, 'tag-1', [20, 20]);
  const page = await lookAt(t, hub, [20, 20]);
  await counts(page, '1 trackable');
  await hub.delete(`/trackables/${FORKLIFT.id}`);
  await counts(page, '0 trackables');
  await hub.delete(`/fences/${DOCK.id}`);
});

/** Resolves when a layer has approximately this color at a point. Plans are slightly transparent. */
async function untilColor(page: Page, [r, g, b]: readonly [number, number, number]): Promise<void> {
  const point = await middle(page);
  const isNear = (one: number, other: number): boolean => Math.abs(one - other) < 40;
  await untilHolds(page, async () =>
    (await colorsAt(page, point)).some(([R, G, B]) => isNear(R, r) && isNear(G, g) && isNear(B, b)),
  );
}

test('The demo notice covers no control, and is hidden in wall mode', { skip }, async (t) => {
  const hub = await openUiHub(t);
  for (const zone of demoZones()) await hub.post('/zones', zone);
  for (const width of [1280, 390]) {
    const page = await openPage(t, `${hub.origin}/hub-ui/`, { width, height: 800 });
    const note = page.getByRole('region', { name: 'Demo' });
    await note.getByText('The demo site is loaded, but the demo is not running.').waitFor();
    for (const control of [
      page.getByRole('combobox', { name: 'Search the site' }),
      page.getByRole('button', { name: 'Measure' }),
      page.getByRole('button', { name: 'Zoom in' }),
    ]) {
      const [over, box] = [await note.boundingBox(), await control.boundingBox()];
      assert.ok(over !== null && box !== null);
      const isApart = over.y + over.height <= box.y || box.y + box.height <= over.y;
      assert.ok(isApart, `${width} pixels: ${JSON.stringify([over, box])}`);
    }
    await page.goto(`${hub.origin}/hub-ui/?wall=1`);
    await page.locator('[data-map]').first().waitFor();
    assert.equal(await note.count(), 0);
  }
});

test('A demo that another program runs is shown as running', { skip }, async (t) => {
  const hub = await openUiHub(t);
  for (const zone of demoZones()) await hub.post('/zones', zone);
  const page = await openPage(t, `${hub.origin}/hub-ui/`);
  const note = page.getByRole('region', { name: 'Demo' });
  await note.getByRole('button', { name: 'Start the demo' }).waitFor();
  const [member] = demoCrew(1).slice(-1);
  assert.ok(member !== undefined);
  const location = locationOf(member, Date.now());
  await untilHolds(page, async () => {
    await hub.put('/providers/locations', [location]);
    return note.getByText('A demo that was started outside of this hub is running.').isVisible();
  });
  assert.equal(await note.getByRole('button').count(), 0);
});
