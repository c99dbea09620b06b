import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { Page } from 'playwright-core';
import { build, type Rolldown } from 'vite';
import { openPage, WITHOUT_BROWSER } from '../support/browser.ts';
import { diceOf } from '../support/dice.ts';

const skip = WITHOUT_BROWSER ?? false;

/** Maximum number of symbols drawn one by one. Larger crowds are drawn pixel by pixel. */
const MOST_SINGLE = 1_500;
const NOW_MS = 1_000_000;
/** Tolerance of thin edges, of 255: overlapping edges are blended in another order. */
const DISTINCT = 32;
const MAP = new URL('../../src/hub-ui/map/objects/', import.meta.url).pathname;
const PARTS = { moving_draw: 'drawMoving', moving_screen: 'newScreen', moving_objects: 'MovingObjects' };

/** The renderer of moving objects, bundled as one module for a browser. */
async function drawingModule(): Promise<string> {
  const { NODE_ENV } = process.env;
  const entry = 'drawing';
  const exported = Object.entries(PARTS).map(([file, names]) => `export { ${names} } from '${join(MAP, file)}.ts';`);
  const built = await build({
    configFile: false,
    logLevel: 'warn',
    plugins: [
      {
        name: entry,
        resolveId: (id) => (id === entry ? id : null),
        load: (id) => (id === entry ? exported.join('\n') : null),
      },
    ],
    build: {
      write: false,
      minify: false,
      target: 'es2022',
      modulePreload: false,
      rolldownOptions: { input: entry, preserveEntrySignatures: 'strict', output: { codeSplitting: false } },
    },
  });
  // Vite defines its build target, and the tests are not built by Vite.
  if (NODE_ENV === undefined) delete process.env['NODE_ENV'];
  const [{ output }] = [built].flat() as [Rolldown.RolldownOutput];
  return output[0].code;
}

/** An empty page with the renderer. */
async function openDrawing(t: TestContext): Promise<Page> {
  const code = await drawingModule();
  const server = createServer(({ url }, response) => {
    response.setHeader('Content-Type', url === '/drawing.js' ? 'text/javascript' : 'text/html');
    response.end(url === '/drawing.js' ? code : '<!doctype html><link rel="icon" href="data:,"><title>Drawing</title>');
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  t.after(() => server.close());
  return openPage(t, `http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
}

/** An object: column and row of its pixel, its heading, and its last-seen time. */
type Drawn = readonly [x: number, y: number, heading: number, lastSeenMs: number];

interface Scene {
  readonly objects: readonly Drawn[];
  readonly width: number;
  readonly height: number;
  readonly symbol: 'trackable' | 'provider';
  /** Whether some objects have alerts: their rings touch the tips of symbols. */
  readonly isAlarmed: boolean;
}

/** Pixel comparison of objects drawn one by one and as a crowd. */
interface Compared {
  /** Pixels that objects cover. */
  readonly covered: number;
  /** Maximum color difference of a pixel, of 255. */
  readonly worst: number;
  /** Pixels with a visible difference. */
  readonly others: number;
  readonly seen: readonly [single: number, crowd: number];
}

/** One additional object, outside the picture but within the drawn margin, makes the objects a crowd. */
const OUTSIDE: Drawn = [-19, -19, 0, NOW_MS];

function compare(page: Page, scene: Scene): Promise<Compared> {
  // The code is a string because it runs in the browser.
  return page.evaluate(`(async ({ objects, width, height, symbol, isAlarmed }) => {
    const { drawMoving, newScreen, MovingObjects } = await import('/drawing.js');
    const draw = (drawn) => {
      const all = new MovingObjects({ kind: 'zone', id: 'z', zone: { id: 'z', type: 'uwb' } });
      all.markBy((id) => Number(id) % 11 === 0);
      const rows = drawn.flatMap(([x, y, heading, lastSeenMs], i) => [i, x, y, heading ?? NaN, NaN, NaN, lastSeenMs]);
      const added = drawn.map((_, index) => ({ index, id: String(index), name: undefined, providerType: 'uwb' }));
      all.take({ added, rows: Float64Array.from(rows), outlines: new Float64Array(0), isReset: true }, ${NOW_MS});
      for (let i = 0; i < all.count; i++) all.group[i] = i % 3 === 0 ? 1 : 0;
      const canvas = document.createElement('canvas');
      Object.assign(canvas, { width, height });
      const context = canvas.getContext('2d', { willReadFrequently: true });
      const ids = (each) => new Set(Array.from({ length: ${MOST_SINGLE} }, (_, i) => String(i)).filter((_, i) => i % each === 5));
      const screen = newScreen();
      drawMoving(
        { context, width, height, toPixel: [1, 0, 0, 1, 0, 0], resolution: 1, pixelRatio: 1, center: [0, 0], rotation: 0 },
        all,
        {
          symbol, scale: 1, tails: false, accuracy: false, clusters: false, trail: undefined, floor: undefined,
          palette: { halo: '#ffffff', critical: '#c0392b', warning: '#9a5a00', selected: '#c2185b', unassigned: '#7a3db8' },
          colors: ['#0b6e66', '#b35900'], selectedId: '7', chosen: ids(97), colliding: isAlarmed ? ids(37) : new Set(),
          alarms: new Map(isAlarmed ? [...ids(31)].map((id, i) => [id, i % 2 === 0 ? 'critical' : 'warning']) : []),
          marked: { symbol: 'unassigned', isOnly: false },
        },
        screen,
        ${NOW_MS},
      );
      // The layer below.
      context.globalCompositeOperation = 'destination-over';
      context.fillStyle = '#8090a0';
      context.fillRect(0, 0, width, height);
      return { seen: screen.drawn, pixels: context.getImageData(0, 0, width, height).data };
    };
    const [single, crowd] = [draw(objects), draw([...objects, ${JSON.stringify(OUTSIDE)}])];
    const ground = [0x80, 0x90, 0xa0, 255];
    let covered = 0, worst = 0, others = 0;
    for (let at = 0; at < single.pixels.length; at += 4) {
      let most = 0, isCovered = false;
      for (let k = 0; k < 4; k++) {
        const color = single.pixels[at + k];
        isCovered ||= color !== ground[k];
        most = Math.max(most, Math.abs(color - crowd.pixels[at + k]));
      }
      covered += Number(isCovered);
      others += Number(most > ${DISTINCT});
      worst = Math.max(worst, most);
    }
    return { covered, worst, others, seen: [single.seen, crowd.seen] };
  })(${JSON.stringify(scene)})`);
}

test('Crowd rendering matches single rendering where objects do not overlap', { skip }, async (t) => {
  const page = await openDrawing(t);
  const dice = diceOf(1);
  // In rows with margins; objects at the edges are clipped.
  const [columns, apart] = [50, 34];
  const objects = Array.from({ length: MOST_SINGLE }, (_, i): Drawn => {
    const [x, y] = [(i % columns) * apart, Math.floor(i / columns) * apart];
    // JSON has no NaN: an object without a heading has null.
    const heading = dice(4) === 0 ? (null as unknown as number) : dice(360);
    return [x, y, heading, NOW_MS - [0, 20_000, 70_000][dice(3)]!];
  });
  const size = { width: (columns - 1) * apart, height: (MOST_SINGLE / columns - 1) * apart };
  for (const [symbol, isAlarmed, most] of [
    ['trackable', false, 5],
    ['trackable', true, DISTINCT],
    ['provider', false, 5],
    ['provider', true, DISTINCT],
  ] as const) {
    const { covered, worst, seen } = await compare(page, { objects, symbol, isAlarmed, ...size });
    assert.deepEqual(seen, [MOST_SINGLE, MOST_SINGLE + 1]);
    assert.ok(covered > MOST_SINGLE * 60, `${covered} pixels of ${symbol}s`);
    assert.ok(worst <= most, `${worst} of 255 between ${symbol}s`);
  }
});

test('Overlapping objects of a crowd have the stacking order of single rendering', { skip }, async (t) => {
  const page = await openDrawing(t);
  const dice = diceOf(2);
  for (const [width, height] of [
    [1500, 800],
    [600, 400],
  ] as const) {
    const objects = Array.from({ length: MOST_SINGLE }, (): Drawn => {
      return [dice(width + 30) - 15, dice(height + 30) - 15, dice(360), NOW_MS];
    });
    const { covered, others } = await compare(page, { objects, width, height, symbol: 'trackable', isAlarmed: true });
    assert.ok(others < 0.001 * covered, `${others} of ${covered} pixels are others`);
  }
});
