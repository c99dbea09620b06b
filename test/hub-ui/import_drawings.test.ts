import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { strToU8, zipSync } from 'fflate';
import type { Locator, Page } from 'playwright-core';
import type { Fence } from '../../src/model/fence.ts';
import { violationsIn } from '../support/axe.ts';
import { openPage, openUiHub, WITHOUT_BROWSER } from '../support/browser.ts';
import { CELLAR, DOCK, earth, HALL } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

/** Applies the previewed changes, and closes the dialog. */
async function make(dialog: Locator, button: string, result: RegExp): Promise<void> {
  await dialog.getByRole('button', { name: button }).click();
  await dialog.getByText(result).waitFor();
  await dialog.getByRole('button', { name: 'Close' }).last().click();
}

/** Opens bytes as a file in the import dialog. */
async function openBytes(page: Page, name: string, buffer: Buffer): Promise<Locator> {
  await page.getByRole('button', { name: 'Import' }).click();
  const file = { name, mimeType: 'application/octet-stream', buffer };
  await page.getByLabel('File to import').setInputFiles(file);
  return page.getByRole('dialog', { name: 'Import from a file' });
}

const TIMED = {
  ...{
    id: '9d2c4f7e-52b6-4c0b-8a0e-3a1f6a1de0a1',
    name: ' Dock "1" ',
    foreign_id: 'dock-1',
    floor: 2,
    timeout: 60_000,
  },
  ...{ exit_tolerance: 1.5, tolerance_timeout: 5000, exit_delay: 2000, entry_delay: 1000, extrusion: 3 },
  properties: { code: '0012', kind: 'loading', type: 'dock', level: 1, size: [1, 2], name: 'other' },
  region: {
    type: 'Polygon',
    coordinates: [
      [
        [8.6822, 50.111, 1.5],
        [8.6824, 50.111, 1.5],
        [8.6824, 50.1112, 1.5],
        [8.6822, 50.1112, 1.5],
        [8.6822, 50.111, 1.5],
      ],
    ],
  },
};
const ROWS = HALL.ground_control_points;
/** A hall with an inner control point, whose local origin is not its first corner. */
const MEASURED = {
  ...HALL,
  properties: { owner: 'Logistics' },
  ground_control_points: [...ROWS.slice(4), ...ROWS.slice(0, 4), [8.6818, 50.1112], [33.25, 30.5]],
};
const LOCAL = { ...DOCK, timeout: 30_000 };

for (const format of ['GeoJSON', 'KML'] as const) {
  test(`Importing an unchanged ${format} export changes nothing, and a moved corner changes alone`, {
    skip,
  }, async (t) => {
    const hub = await openUiHub(t);
    for (const zone of [MEASURED]) await hub.post('/zones', zone);
    for (const fence of [TIMED, LOCAL, CELLAR]) await hub.post('/fences', fence);
    const inZone = `/fences/${LOCAL.id}?crs=local&zone_id=${HALL.id}`;
    const state = async () => {
      const found = [`/zones/${HALL.id}`, `/fences/${CELLAR.id}`, `/fences/${TIMED.id}`, inZone];
      return await Promise.all(found.map(async (path) => (await hub.get(path)).body));
    };
    const before = await state();
    const page = await openPage(t, `${hub.origin}/hub-ui/lists/fences`);
    await page.getByRole('button', { name: 'Export' }).click();
    const exporting = page.getByRole('dialog', { name: 'Export to a file' });
    await exporting.getByRole('button', { name: format, exact: true }).click();
    const waiting = page.waitForEvent('download');
    await exporting.getByRole('button', { name: 'Export', exact: true }).click();
    const text = await readFile(await (await waiting).path(), 'utf8');
    const name = format === 'KML' ? 'site.kml' : 'site.geojson';

    let dialog = await openBytes(page, name, Buffer.from(text));
    await dialog.getByRole('button', { name: 'Compare with the hub' }).click();
    await dialog.getByText(`${name} contains no changes.`).waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();

    dialog = await openBytes(page, name, Buffer.from(text.replaceAll('8.6824', '8.6825')));
    await dialog.getByRole('button', { name: 'Compare with the hub' }).click();
    await make(dialog, 'Import 1 item', /1 changed/);
    const after = await state();
    const moved = JSON.parse(JSON.stringify(before[2]).replaceAll('8.6824', '8.6825'));
    assert.deepEqual(after, [before[0], before[1], moved, before[3]]);
  });
}

test('A fence in local coordinates keeps these when a file moves its corner', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await hub.post('/zones', MEASURED);
  await hub.post('/fences', LOCAL);
  const path = `/fences/${LOCAL.id}`;
  const shown: Fence = (await hub.get(path)).body;
  const [[first = []] = []] = shown.region.coordinates as number[][][];
  const region = JSON.parse(
    JSON.stringify(shown.region).replaceAll(JSON.stringify(first), JSON.stringify(earth(5, 5))),
  );
  const feature = { type: 'Feature', id: LOCAL.id, properties: {}, geometry: region };
  const page = await openPage(t, `${hub.origin}/hub-ui/lists/fences`);
  const dialog = await openBytes(page, 'site.geojson', Buffer.from(JSON.stringify(feature)));
  await dialog.getByRole('button', { name: 'Compare with the hub' }).click();
  await make(dialog, 'Import 1 item', /1 changed/);
  // The zone moves, and entities in its local coordinates move with it.
  const east = MEASURED.ground_control_points.map((row, i) => (i % 2 === 0 ? [(row[0] ?? 0) + 0.001, row[1]] : row));
  await hub.put(`/zones/${HALL.id}`, { ...MEASURED, ground_control_points: east });
  const followed: Fence = (await hub.get(path)).body;
  const [[corner = []] = []] = followed.region.coordinates as number[][][];
  assert.ok(Math.abs((corner[0] ?? 0) - earth(5, 5)[0] - 0.001) < 1e-7, `found ${corner}`);
});

test('The declared encoding of a file is used, and the dialog shows a guessed encoding', { skip }, async (t) => {
  const hub = await openUiHub(t);
  const page = await openPage(t, `${hub.origin}/hub-ui/lists/fences`);
  const kml = (encoding: string) =>
    `<?xml version="1.0"${encoding}?><kml><Placemark><name>B\u00fchne</name><ExtendedData><Data name="room"><value>0012</value></Data>
    </ExtendedData><Polygon><outerBoundaryIs><LinearRing><coordinates>8.68, 50.11 8.69, 50.11 8.69, 50.12</coordinates>
    </LinearRing></outerBoundaryIs></Polygon></Placemark></kml>`;
  let dialog = await openBytes(page, 'bay.kml', Buffer.from(kml(' encoding="ISO-8859-1"'), 'latin1'));
  await dialog.getByRole('button', { name: 'Compare with the hub' }).click();
  await make(dialog, 'Import 1 item', /1 created/);
  const [{ name, properties }] = (await hub.get('/fences/summary')).body;
  assert.deepEqual([name, properties], ['B\u00fchne', { room: '0012' }]);

  dialog = await openBytes(page, 'bay.kml', Buffer.from(kml(''), 'latin1'));
  await dialog.getByText('It was read as Windows-1252').waitFor();
  assert.deepEqual(await violationsIn(page), []);
  await dialog.getByRole('button', { name: 'Cancel' }).click();

  dialog = await openBytes(page, 'bay.kmz', Buffer.from(zipSync({ 'doc.kml': strToU8(kml('')) })));
  await dialog.getByRole('button', { name: 'Compare with the hub' }).click();
  await make(dialog, 'Import 1 item', /1 created/);
});

test('A file with latitude before longitude is detected, and its axes are swapped', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await hub.post('/zones', HALL);
  const page = await openPage(t, `${hub.origin}/hub-ui/lists/fences`);
  const ring = [earth(0, 0), earth(9, 0), earth(9, 9), earth(0, 0)].map(([longitude, latitude]) => [
    latitude,
    longitude,
  ]);
  const area = {
    type: 'Feature',
    properties: { name: 'Bay', floor: 'EG' },
    geometry: { type: 'Polygon', coordinates: [ring] },
  };
  const dialog = await openBytes(page, 'bay.geojson', Buffer.from(JSON.stringify(area)));
  await dialog.getByText('The file seems to have latitude before longitude.').waitFor();
  await dialog.getByLabel('Swap longitude and latitude').check();
  assert.deepEqual(await violationsIn(page), []);
  await dialog.getByRole('button', { name: 'Compare with the hub' }).click();
  await dialog.getByText('It becomes a property (1 times), for example "EG".').waitFor();
  await make(dialog, 'Import 1 item', /1 created/);
  const [fence] = (await hub.get('/fences/summary')).body;
  assert.deepEqual(fence.region.coordinates[0][0], earth(0, 0));
  assert.deepEqual([fence.floor, fence.properties], [undefined, { floor: 'EG' }]);
});
