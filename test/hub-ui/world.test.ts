import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { type Topology, worldOf } from '../../src/hub-ui/map/ground/world.ts';
import { worldOpacity } from '../../src/hub-ui/map/ground/world_fade.ts';
import { mapX, mapY } from '../../src/hub-ui/map/plane/plane.ts';
import { type Color, colorsAt, openPage, openUiHub, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';
import { createSite } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

/** Two countries that share a border from north to south, on one island. */
const ISLAND: Topology = {
  transform: { scale: [1, 1], translate: [0, 0] },
  // By steps: the border from (10, 0) to (10, 10), then the western and the eastern shore.
  arcs: [
    [
      [10, 0],
      [0, 10],
    ],
    [
      [10, 10],
      [-10, 0],
      [0, -10],
      [10, 0],
    ],
    [
      [10, 0],
      [10, 0],
      [0, 10],
      [-10, 0],
    ],
  ],
  objects: {
    countries: {
      type: 'GeometryCollection',
      geometries: [
        { type: 'Polygon', arcs: [[0, 1]], properties: { name: 'West' } },
        { type: 'MultiPolygon', arcs: [[[2, ~0]]], properties: { name: 'East' } },
      ],
    },
    land: { type: 'GeometryCollection', geometries: [{ type: 'MultiPolygon', arcs: [[[1, 2]]] }] },
  },
};

test('worldOf distinguishes coasts from borders, and places a name where its country is wide', () => {
  const { land, coasts, borders, countries } = worldOf(ISLAND);
  assert.deepEqual([land.length, coasts.length, borders.length], [1, 2, 1]);
  const [left, bottom, right, top] = land[0]?.box ?? [];
  assert.deepEqual([left, right], [mapX(0), mapX(20)]);
  assert.deepEqual([bottom, top], [mapY(0), mapY(10)]);
  assert.deepEqual([...(borders[0]?.points ?? [])], [mapX(10), mapY(0), mapX(10), mapY(10)]);
  const names = countries.map(({ name, at: [x] }) => [name, Math.round(x / mapX(1))]);
  assert.deepEqual(names, [
    ['West', 5],
    ['East', 15],
  ]);
});

test('worldOf draws shapes across the antimeridian in one piece, and closes Antarctica at its pole', () => {
  const file = new URL('../../node_modules/world-atlas/countries-110m.json', import.meta.url);
  const { land } = worldOf(JSON.parse(readFileSync(file, 'utf8')) as Topology);
  for (const { points } of land) {
    for (let i = 2; i + 2 < points.length; i += 2) {
      const isAtThePole = (points[i + 1] ?? 0) <= mapY(-85);
      const step = Math.abs((points[i] ?? 0) - (points[i - 2] ?? 0));
      assert.ok(isAtThePole || step < mapX(90), 'no line crosses the whole map');
    }
  }
  const around = land.filter(({ box: [left, , right] }) => right - left > mapX(355));
  assert.deepEqual(
    around.map(({ box }) => box[1]),
    [mapY(-90)],
  );
  assert.ok(
    land.some(({ box: [, , right] }) => right > mapX(185)),
    'Chukotka lies beyond 180 degrees',
  );
});

for (const [zoom, opacity] of [
  [0, 1],
  [7, 1],
  [8.25, 0.5],
  [9.5, 0],
  [17, 0],
] as const) {
  test(`The world has opacity ${opacity} at zoom ${zoom}`, () => {
    assert.ok(Math.abs(worldOpacity(mapX(360) / 256 / 2 ** zoom) - opacity) < 1e-9);
  });
}

/** Page coordinates of a geographic position, for a map with this center. */
async function pixelOf(page: Page, [longitude, latitude]: readonly [number, number]): Promise<[number, number]> {
  const query = new URL(page.url()).searchParams;
  const [x0 = 0, y0 = 0] = (query.get('at') ?? '').split(',').map(Number);
  const pixels = (256 * 2 ** Number(query.get('z'))) / mapX(360);
  const { x, y, width, height } = (await page.locator('[data-map]').boundingBox()) ?? assert.fail('there is no map');
  const across = (mapX(longitude) - mapX(x0)) * pixels;
  return [x + width / 2 + across, y + height / 2 - (mapY(latitude) - mapY(y0)) * pixels];
}

const TIBESTI = [18, 21] as const;
const ATLANTIC = [-35, 30] as const;
const GROUNDS = [
  ['light', [242, 244, 245, 255]],
  ['dark', [15, 19, 23, 255]],
] as const;

test('An empty hub shows the world in both themes, which fades as the map zooms in', { skip }, async (t) => {
  const hub = await openUiHub(t);
  const page = await openPage(t, 'about:blank');
  const hosts = new Set<string>();
  page.on('request', (request) => hosts.add(new URL(request.url()).host));
  await page.goto(`${hub.origin}/hub-ui/`);
  await page.getByText('Natural Earth').waitFor();
  const zoom = () => Number(new URL(page.url()).searchParams.get('z') ?? Number.NaN);
  await untilHolds(page, async () => zoom() > 0);
  const lowest = async (at: readonly [number, number]): Promise<Color | undefined> => {
    return (await colorsAt(page, await pixelOf(page, at)))[0];
  };
  for (const [colorScheme, ground] of GROUNDS) {
    await page.emulateMedia({ colorScheme });
    await untilHolds(page, async () => String(await lowest(TIBESTI)) === String(ground));
    const [red = 0, , blue = 0] = (await lowest(ATLANTIC)) ?? [];
    assert.ok(blue - red > 10, `water is blue in the ${colorScheme} theme, found ${[red, blue]}`);
  }
  await page.getByRole('region', { name: 'Live map' }).focus();
  // The detailed coasts are loaded before the map is zoomed in far enough to show them.
  const fine = page.waitForResponse((response) => response.url().includes('countries-50m'));
  while (zoom() < 10) {
    const before = zoom();
    await page.keyboard.press('+');
    await untilHolds(page, async () => zoom() >= before + 0.9);
  }
  await fine;
  await page.getByText('Natural Earth').waitFor({ state: 'hidden' });
  assert.deepEqual([...hosts], [new URL(hub.origin).host]);
});

test('A page that shows a site does not fetch the world', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  const page = await openPage(t, 'about:blank');
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await page.goto(`${hub.origin}/hub-ui/`);
  await untilHolds(page, async () => Number(new URL(page.url()).searchParams.get('z')) > 15);
  await page.getByText(/^0 trackables/).waitFor();
  assert.deepEqual(
    asked.filter((path) => /countries|world_draw/.test(path)),
    [],
  );
});
