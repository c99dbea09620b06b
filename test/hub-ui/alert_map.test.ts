import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { colorsAt, openPage, openUiHub, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';
import type { TestHub } from '../support/running_hub.ts';
import { TestMap } from './setup_map.ts';
import { createSite, DOCK, earth, move } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

type Rgb = readonly [number, number, number];
const CRITICAL: Rgb = [0xc8, 0x28, 0x1e];
const WARNING: Rgb = [0x9a, 0x5a, 0x00];
const ENTRY: Rgb = [0x0f, 0x8f, 0x5a];
/** Radius of the ring around an object with an alert, in pixels. */
const RING = 13;

/** A hub with the site, and without the alerts and rules of other tests. */
async function openSite(t: TestContext): Promise<TestHub> {
  const hub = await openUiHub(t);
  for (const { id } of (await hub.get('/alerts/rules')).body) await hub.delete(`/alerts/rules/${id}`);
  const ids = (await hub.get('/alerts')).body.map(({ id }: { readonly id: string }) => id);
  if (ids.length > 0) await hub.post('/alerts/clear', { ids });
  await createSite(hub);
  return hub;
}

async function alertOfEntries(hub: TestHub, severity: string): Promise<void> {
  await hub.post('/alerts/rules', { name: 'Entry', kind: 'entry', fence_ids: [DOCK.id], severity });
}

/** Whether a layer of the map has a color, within rounding, next to one of these points of the page. */
async function shows(page: Page, color: Rgb, points: readonly (readonly [number, number])[]): Promise<boolean> {
  for (const point of points) {
    const found = await colorsAt(page, point);
    if (found.some((each) => each[3] > 120 && color.every((value, i) => Math.abs(value - (each[i] ?? 0)) < 24)))
      return true;
  }
  return false;
}

/** Points around a pixel, at about a radius. */
function around([x, y]: readonly [number, number], radius: number): [number, number][] {
  return [-1, 0, 1].flatMap((d): [number, number][] => [
    [x + radius + d, y],
    [x - radius + d, y],
    [x, y + radius + d],
    [x, y - radius + d],
  ]);
}

/** Opens the map at the dock, and waits for the trackable and the alerts of the hub. */
async function openMap(t: TestContext, hub: TestHub, prepare?: (page: Page) => Promise<void>): Promise<Page> {
  const page = await openPage(t, 'about:blank');
  await prepare?.(page);
  const alerts = page.waitForResponse(/\/alerts$/);
  await page.goto(`${hub.origin}/hub-ui/?at=${earth(20, 20)}&z=21&layers=trackables,fences`);
  await (await alerts).finished();
  await page.getByText(/^1 trackable/).waitFor();
  return page;
}

for (const [severity, ring] of [
  ['critical', CRITICAL],
  ['warning', WARNING],
  ['info', undefined],
] as const) {
  test(`An object with an alert of severity ${severity} has ${ring === undefined ? 'no ring' : 'a ring of its color'}`, {
    skip,
  }, async (t) => {
    const hub = await openSite(t);
    await alertOfEntries(hub, severity);
    await move(hub, 'tag-1', [20, 20]);
    await hub.settle();
    const page = await openMap(t, hub);
    const map = new TestMap(page, 'Live map');
    const points = around(await map.pixelOf(earth(20, 20)), RING);
    if (ring !== undefined) await untilHolds(page, () => shows(page, ring, points));
    for (const other of [CRITICAL, WARNING].filter((color) => color !== ring)) {
      assert.equal(await shows(page, other, points), false);
    }
  });
}

test('The edge of a fence shows an entry for 2 s, and its fill does not change', { skip }, async (t) => {
  const hub = await openSite(t);
  await move(hub, 'tag-1', [5, 20]);
  const page = await openMap(t, hub);
  const map = new TestMap(page, 'Live map');
  const edge = await map.pixelOf(earth(20, 10));
  const [inside, object] = [await map.pixelOf(earth(27, 27)), await map.pixelOf(earth(20, 20))];
  const isEdge = (): Promise<boolean> => shows(page, ENTRY, around(edge, 0));
  assert.equal(await isEdge(), false);
  const before = await colorsAt(page, inside);
  await move(hub, 'tag-1', [20, 20]);
  await untilHolds(page, isEdge);
  assert.deepEqual(await colorsAt(page, inside), before);
  await untilHolds(page, async () => !(await isEdge()));
  assert.equal(await shows(page, CRITICAL, around(object, RING)), false);
});

test('A cluster is a donut of the severities of its members, with their number', { skip }, async (t) => {
  const hub = await openSite(t);
  await alertOfEntries(hub, 'critical');
  const ids = Array.from({ length: 40 }, (_, i) => `crowd-${i}`);
  for (const id of ids) {
    await hub.post('/trackables', { type: 'virtual', name: id, location_providers: [id] });
    await move(hub, id, Number(id.slice(6)) < 20 ? [20, 20] : [35, 20]);
  }
  await hub.settle();
  const page = await openPage(t, `${hub.origin}/hub-ui/?at=${earth(27, 20)}&z=16&layers=trackables,fences,clusters`);
  await page.getByText(/^40 trackables/).waitFor();
  const map = new TestMap(page, 'Live map');
  const center = await map.pixelOf(earth(27.5, 20));
  await untilHolds(page, () =>
    shows(
      page,
      CRITICAL,
      [16, 17, 18, 19].flatMap((radius) => around(center, radius)),
    ),
  );
});

/** Records the radii of the circles of the page that are larger than a ring. */
function recordArcs(): void {
  const radii: number[] = [];
  Object.assign(globalThis, { drawnRadii: radii });
  const { arc } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.arc = function (x, y, radius, ...angles) {
    if (radius > 13) radii.push(radius);
    arc.call(this, x, y, radius, ...angles);
  };
}

for (const reducedMotion of ['no-preference', 'reduce'] as const) {
  const isReduced = reducedMotion === 'reduce';
  test(`A new critical alert pulses ${isReduced ? 'never, with reduced motion' : 'once'}`, { skip }, async (t) => {
    const hub = await openSite(t);
    await alertOfEntries(hub, 'critical');
    await move(hub, 'tag-1', [5, 20]);
    const page = await openMap(t, hub, async (opened) => {
      await opened.emulateMedia({ reducedMotion });
      await opened.addInitScript(recordArcs);
    });
    await page.evaluate('drawnRadii.length = 0');
    await move(hub, 'tag-1', [20, 20]);
    const map = new TestMap(page, 'Live map');
    const points = around(await map.pixelOf(earth(20, 20)), RING);
    await untilHolds(page, () => shows(page, CRITICAL, points));
    const radii = async () => (await page.evaluate('drawnRadii')) as number[];
    if (isReduced) {
      assert.deepEqual(await radii(), []);
      return;
    }
    await untilHolds(page, async () => Math.max(...(await radii())) > 25);
    const all = await radii();
    const restarts = all.filter((radius, i) => i > 0 && radius < (all[i - 1] ?? 0) - 1);
    assert.deepEqual(restarts, [], 'it grows once');
  });
}
