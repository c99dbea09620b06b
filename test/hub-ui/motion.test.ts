import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type GlideView, turnBetween } from '../../src/hub-ui/map/objects/glides.ts';
import { MovingObjects } from '../../src/hub-ui/map/objects/moving_objects.ts';
import { openPage, openUiHub, PIXELS_OF, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';
import { createSite, earth, move } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

/** A plane in meters, of which 100 m by 100 m are visible. */
const PLANE = { kind: 'zone', id: 'z', zone: { id: 'z', type: 'uwb' } } as const;
const VIEW = { extent: [0, 0, 100, 100], step: 0.05, unitsPerMeter: 1 } as const;

interface Report {
  readonly x: number;
  readonly atMs: number;
  readonly heading?: number;
  readonly floor?: number;
}

/** An object in a view, which has reported its first location at 0 s. */
function objectAt(first: Omit<Report, 'atMs'>) {
  const objects = new MovingObjects(PLANE);
  const added = [{ index: 0, id: 'a', name: undefined, providerType: 'uwb' }];
  const report = ({ x, atMs, heading = Number.NaN, floor = 0 }: Report, view: Partial<GlideView> = {}): void => {
    const rows = Float64Array.of(0, x, 50, heading, Number.NaN, floor, atMs);
    const batch = { added: objects.count === 0 ? added : [], rows, outlines: new Float64Array(0), isReset: false };
    objects.take(batch, 1e12 + atMs, { ...VIEW, atMs, ...view });
  };
  report({ ...first, atMs: 0 });
  const drawnAt = (atMs: number): number => {
    objects.advance(atMs);
    return objects.x[0] ?? Number.NaN;
  };
  return { objects, report, drawnAt };
}

test('An object glides to its reported position, arrives with the next location, and never passes it', () => {
  const { report, drawnAt } = objectAt({ x: 10 });
  report({ x: 12, atMs: 950 });
  assert.deepEqual([950, 1_450, 1_950, 5_000].map(drawnAt), [10, 11, 12, 12]);
});

test('A new location during a glide starts from the drawn position', () => {
  const { report, drawnAt } = objectAt({ x: 10 });
  report({ x: 12, atMs: 950 });
  assert.equal(drawnAt(1_450), 11);
  report({ x: 10, atMs: 1_450 });
  assert.equal(drawnAt(1_450), 11);
  assert.equal(drawnAt(1_725), 10.5);
  assert.equal(drawnAt(9_000), 10);
});

for (const [name, from, to, view] of [
  ['a jump', {}, { x: 80, atMs: 200 }, {}],
  ['a gap in time', {}, { x: 12, atMs: 3_001 }, {}],
  ['a change of the floor', {}, { x: 12, atMs: 200, floor: 1 }, {}],
  ['less than half a pixel', {}, { x: 10.04, atMs: 200 }, {}],
  ['an object out of view', {}, { x: 12, atMs: 200 }, { extent: [20, 0, 100, 100] }],
] as const) {
  test(`No object glides across ${name}`, () => {
    const { objects, report, drawnAt } = objectAt({ x: 10, ...from });
    report(to, view);
    assert.equal(drawnAt(to.atMs), to.x);
    assert.equal(objects.advance(to.atMs), false, 'no frame is needed');
  });
}

test('A deleted object that is reported again appears where it is', () => {
  const { objects, report, drawnAt } = objectAt({ x: 10 });
  objects.remove('a');
  report({ x: 12, atMs: 200 });
  assert.equal(drawnAt(200), 12);
});

test('A tail ends at the drawn position, not at the reported one ahead of it', () => {
  const { objects, report } = objectAt({ x: 10 });
  report({ x: 12, atMs: 200 });
  report({ x: 14, atMs: 400 });
  const points = [...objects.tails.subarray(0, 2 * (objects.tailLength[0] ?? 0))].filter((_, k) => k % 2 === 0);
  assert.deepEqual([...new Set(points)], [10, 12]);
});

test('Headings turn the shorter way around', () => {
  assert.deepEqual(
    [turnBetween(350, 20), turnBetween(20, 350), turnBetween(0, 180), turnBetween(-90, 270)],
    [30, -30, 180, 0],
  );
  const { objects, report } = objectAt({ x: 10, heading: 350 });
  report({ x: 12, heading: 20, atMs: 950 });
  const headings = [1_000, 1_450, 1_900, 1_950].map((atMs) => {
    objects.advance(atMs);
    return ((objects.heading[0] ?? Number.NaN) + 360) % 360;
  });
  assert.ok(headings[0]! < 351 && headings[0]! >= 350, `${headings[0]}`);
  assert.equal(headings[1], 5);
  assert.ok(headings[2]! > 19 && headings[2]! <= 20, `${headings[2]}`);
  assert.equal(headings[3], 20);
});

/** Column of the trackable on the screen, in pixels: the mean of all pixels with its color. */
const COLUMN = `(() => {
  let [sum, count] = [0, 0];
  for (const canvas of document.querySelectorAll('[data-map] canvas')) {
    const { width, height } = canvas;
    const data = ${PIXELS_OF}(canvas, 0, 0, width, height);
    for (let at = 0; at < data.length; at += 4) {
      if (data[at] !== 0x0b || data[at + 1] !== 0x6e || data[at + 2] !== 0x66 || data[at + 3] < 255) continue;
      sum += (at / 4) % width;
      count++;
    }
  }
  return Math.round(sum / count);
})()`;

for (const reducedMotion of ['no-preference', 'reduce'] as const) {
  const isReduced = reducedMotion === 'reduce';
  test(`A trackable on the map ${isReduced ? 'jumps if motion is reduced' : 'glides'}`, { skip }, async (t) => {
    const hub = await openUiHub(t);
    await createSite(hub);
    await move(hub, 'tag-1', [50, 30], { floor: 0 });
    const page = await openPage(t, 'about:blank');
    await page.emulateMedia({ reducedMotion });
    const [longitude, latitude] = earth(50, 30);
    await page.goto(`${hub.origin}/hub-ui/?at=${longitude},${latitude}&z=21&layers=trackables`);
    await page.locator('[data-counts]', { hasText: '1 trackable' }).waitFor();
    const drawnAt = (): Promise<number> => page.evaluate<number>(COLUMN);
    await untilHolds(page, async () => (await drawnAt()) > 0);
    const start = await drawnAt();
    // 3 m to the left are 62 pixels.
    const left = start - 62;
    const walk = async (at: number, hasArrived: (column: number) => boolean): Promise<void> => {
      await move(hub, 'tag-1', [50, at], { floor: 0 });
      await untilHolds(page, async () => hasArrived(await drawnAt()));
    };
    await walk(33, (column) => column <= left + 1);
    await page.evaluate(`{
      window.columns = new Set();
      const note = () => {
        columns.add(${COLUMN});
        requestAnimationFrame(note);
      };
      note();
    }`);
    for (let round = 0; round < 4; round++) {
      await walk(30, (column) => column >= start - 1);
      await walk(33, (column) => column <= left + 1);
    }
    const columns = await page.evaluate<readonly number[]>('[...columns].sort((a, b) => a - b)');
    const between = columns.filter((column) => column > left + 2 && column < start - 2);
    assert.equal(between.length === 0, isReduced, `${columns}`);
    const isPast = columns.some((column) => column < left - 2 || column > start + 1);
    assert.equal(isPast, false, `${columns}`);
  });
}
