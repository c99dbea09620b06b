import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Page } from 'playwright-core';
import { type Color, colorsAt, openPage, openUiHub, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';
import { tileFile } from '../support/map_tiles.ts';
import { temporaryFolder } from '../support/temporary_folder.ts';
import { inTown, TOWN_TILE, townFile, townTile } from './town_map.ts';

const skip = WITHOUT_BROWSER ?? false;

const WATER = [215, 226, 234, 255];
/** On the river, where there is no street. */
const RIVER = inTown(2250, 2550);

/** Color of the lowest layer at the center of a map. */
async function colorInTheMiddle(page: Page): Promise<Color | undefined> {
  const { x, y, width, height } = (await page.locator('[data-map]').boundingBox()) ?? assert.fail('there is no map');
  return (await colorsAt(page, [x + width / 2, y + height / 2]))[0];
}

/**
 * A local tile server. Close it after the hub, whose pages close first: they would report tiles
 * that they cannot load.
 */
async function openTileServer(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<{ readonly origin: string; close(): void }> {
  const server = createServer((request, response) => {
    response.setHeader('Access-Control-Allow-Origin', '*');
    response.setHeader('Access-Control-Allow-Headers', 'Range');
    response.setHeader('Access-Control-Expose-Headers', 'ETag');
    if (request.method === 'OPTIONS') response.end();
    else answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

test('Map tiles are loaded from the configured URL, with their attribution', { skip }, async (t) => {
  const asked: string[] = [];
  const server = await openTileServer((request, response) => {
    asked.push(request.url ?? '');
    response.setHeader('Content-Type', 'image/svg+xml');
    response.end('<svg xmlns="http://www.w3.org/2000/svg" width="256" height="256"><rect width="9" height="9"/></svg>');
  });
  const map_tile_url = `${server.origin}/{z}/{x}/{y}.svg`;
  const hub = await openUiHub(t, { map_tile_url, map_tile_attribution: 'Tiles by Example' });
  t.after(server.close);
  const page = await openPage(t, `${hub.origin}/hub-ui/?at=0.001,0.001&z=3`);
  await page.getByText('Tiles by Example').waitFor();
  await untilHolds(page, async () => asked.includes('/3/4/3.svg'));
});

test('Vector tiles are drawn in the colors of the theme; without them, the world is drawn', { skip }, async (t) => {
  const tiles = new Map([[`/${TOWN_TILE}.mvt`, townTile()]]);
  let isThere = true;
  const server = await openTileServer((request, response) => {
    const tile = isThere ? tiles.get(request.url ?? '') : undefined;
    response.statusCode = isThere ? (tile === undefined ? 204 : 200) : 404;
    response.end(tile);
  });
  const map_tile_url = `${server.origin}/{z}/{x}/{y}.mvt`;
  const hub = await openUiHub(t, { map_tile_url, map_tile_attribution: '© Town' });
  t.after(server.close);
  const page = await openPage(t, `${hub.origin}/hub-ui/?at=${RIVER}&z=17`, { mayFail: true });
  await page.getByText('© Town').waitFor();
  await untilHolds(page, async () => String(await colorInTheMiddle(page)) === String(WATER));
  await page.emulateMedia({ colorScheme: 'dark' });
  await untilHolds(page, async () => String(await colorInTheMiddle(page)) === '10,26,36,255');
  isThere = false;
  await page.goto(`${hub.origin}/hub-ui/?at=10,30&z=3`);
  await page.getByRole('alert').getByText('has not answered with any').waitFor();
  await page.getByText('Natural Earth').waitFor();
  isThere = true;
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('has not answered with any').waitFor({ state: 'hidden' });
  await page.getByText('Natural Earth').waitFor({ state: 'hidden' });
});

test('A map file next to the configuration is used as the map, and the page reports its errors', {
  skip,
}, async (t) => {
  const folder = temporaryFolder();
  const path = join(folder, 'town.pmtiles');
  const hub = await openUiHub(t, { map_tile_url: 'town.pmtiles' }, { folder });
  // The browser logs error responses to the console.
  const page = await openPage(t, `${hub.origin}/hub-ui/?at=${RIVER}&z=17`, { mayFail: true });
  const alert = page.getByRole('alert').filter({ hasText: 'There are no map tiles.' });
  await alert.getByText('there is no such file in the folder of hub_config.yaml').waitFor();
  assert.equal(hub.logged.filter(({ message }) => message.includes('map file')).length, 1);
  await writeFile(path, 'This is a letter, and no map.'.repeat(99));
  await alert.getByRole('button', { name: 'Try again' }).click();
  await alert.getByText('Wrong magic number').waitFor();
  await writeFile(path, townFile().subarray(0, -600));
  await alert.getByRole('button', { name: 'Try again' }).click();
  await alert.getByText('Wrong magic number').waitFor({ state: 'hidden' });
  await alert.waitFor();
  await writeFile(path, townFile());
  await alert.getByRole('button', { name: 'Try again' }).click();
  await alert.waitFor({ state: 'hidden' });
  await page.getByText('© Town survey').waitFor();
  await untilHolds(page, async () => String(await colorInTheMiddle(page)) === String(WATER));
  // The world is drawn around the town.
  await page.goto(`${hub.origin}/hub-ui/?at=10,50&z=5`);
  await page.getByText('Natural Earth').waitFor();
});

test('A raster map file may be on another server', { skip }, async (t) => {
  const painter = await openPage(t, 'about:blank', { width: 256, height: 256 });
  await painter.evaluate(`document.body.style.background = 'rgb(1, 2, 3)'`);
  const tiles = { '0/0/0': await painter.screenshot() };
  const file = tileFile({ tiles, kind: 'png', box: [-180, -85, 180, 85] });
  const ranges: string[] = [];
  const server = await openTileServer((request, response) => {
    const [, start = '', end = ''] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
    ranges.push(start);
    response.statusCode = 206;
    response.end(file.subarray(Number(start), Number(end) + 1));
  });
  const map_tile_url = `${server.origin}/earth.pmtiles`;
  const hub = await openUiHub(t, { map_tile_url, map_tile_attribution: 'Painted' });
  t.after(server.close);
  const page = await openPage(t, `${hub.origin}/hub-ui/?at=10,10&z=3`);
  await page.getByText('Painted').waitFor();
  await untilHolds(page, async () => String(await colorInTheMiddle(page)) === '1,2,3,255');
  assert.ok(ranges.length >= 2, `it is read in parts, found ${ranges}`);
});
