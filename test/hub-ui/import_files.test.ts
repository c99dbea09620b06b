import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Download, Locator, Page } from 'playwright-core';
import type { Fence } from '../../src/model/fence.ts';
import { violationsIn } from '../support/axe.ts';
import { openPage, openUiHub, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';

import { createSite, FORKLIFT, HALL } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;

async function open(page: Page, name: string, text?: string): Promise<Locator> {
  await page.getByRole('button', { name: 'Import' }).click();
  const path = fileURLToPath(new URL(`files/${name}`, import.meta.url));
  const file = text === undefined ? path : { name, mimeType: 'text/plain', buffer: Buffer.from(text) };
  await page.getByLabel('File to import').setInputFiles(file);
  return page.getByRole('dialog', { name: 'Import from a file' });
}

/** Applies the previewed changes, and closes the dialog. */
async function make(dialog: Locator, button: string, result: RegExp): Promise<void> {
  await dialog.getByRole('button', { name: button }).click();
  await dialog.getByText(result).waitFor();
  await dialog.getByRole('button', { name: 'Close' }).last().click();
}

test('Drawings and tables become a site, and unusable parts are reported and skipped', { skip }, async (t) => {
  const hub = await openUiHub(t);
  const names = async (kind: string): Promise<string[]> => {
    const { body } = await hub.get(`/${kind}/summary`);
    return body.map(({ name }: { readonly name: string }) => name).sort();
  };
  await hub.post('/zones', HALL);
  const page = await openPage(t, `${hub.origin}/hub-ui/lists/fences`);

  let dialog = await open(page, 'site.geojson');
  await dialog.getByText('A line that is not closed has no area.').waitFor();
  assert.equal(await dialog.getByLabel('zones becomes').inputValue(), 'zones');
  await dialog.getByLabel('trees becomes').selectOption('none');
  await dialog.getByLabel('Floor of docks').fill('3');
  assert.deepEqual(await violationsIn(page), []);
  await dialog.getByRole('button', { name: 'Compare with the hub' }).click();
  await dialog.getByText(/^Feature \d, Bow tie, Shape/).waitFor();
  assert.deepEqual(await violationsIn(page), []);
  await dialog.getByRole('button', { name: 'Skip invalid items' }).click();
  await dialog.getByText('1 item is skipped.').waitFor();
  await make(dialog, 'Import 3 items', /3 created/);
  assert.deepEqual(await names('fences'), ['Charger', 'Dock 1']);
  assert.deepEqual(await names('zones'), ['Hall', 'Yard']);
  const floors = (await hub.get('/fences/summary')).body.map(({ floor }: { floor: number }) => floor);
  assert.deepEqual(floors.sort(), [1, 3]);

  dialog = await open(page, 'site.kml');
  await dialog.getByText('Feature 3, Way in:').waitFor();
  await dialog.getByRole('button', { name: 'Compare with the hub' }).click();
  await make(dialog, 'Import 3 items', /3 created/);
  assert.deepEqual(await names('fences'), ['Charger', 'Dock & ramp', 'Dock 1', 'Two bays', 'Two bays']);

  dialog = await open(page, 'venue.zip');
  await dialog.getByRole('button', { name: 'Compare with the hub' }).click();
  await make(dialog, 'Import 3 items', /3 created/);

  dialog = await open(page, 'hall.dxf');
  await dialog.getByLabel('Coordinate system (zone)').selectOption({ label: 'Hall' });
  await dialog.getByRole('button', { name: 'Compare with the hub' }).click();
  await make(dialog, 'Import 4 items', /4 created/);
  const local = await hub.get(`/fences/summary?crs=local&zone_id=${HALL.id}`);
  const column = local.body.find(({ name }: { name: string }) => name === 'COLUMNS 1');
  assert.deepEqual([column.region.coordinates, column.radius], [[3, 4], 0.5]);

  dialog = await open(page, 'carts.csv');
  await dialog.getByLabel('Cost centre means').selectOption('property');
  await dialog.getByRole('button', { name: 'Compare with the hub' }).click();
  await dialog.getByText('Radius cannot be "wide": it becomes the property Radius.').waitFor();
  assert.deepEqual(await violationsIn(page), []);
  await make(dialog, 'Import 4 items', /4 created/);
  assert.deepEqual(await names('trackables'), ['Cart "2"; blue', 'Cart 1', 'Cart 3', 'Cart 4']);

  for (const [format, pattern] of [
    ['GeoJSON', /"name":"Dock & ramp"/],
    ['KML', /<name>Dock &amp; ramp<\/name>/],
    ['CSV', /"Cart ""2""; blue"/],
  ] as const) {
    await page.getByRole('button', { name: 'Export' }).click();
    const exporting = page.getByRole('dialog', { name: 'Export to a file' });
    await exporting.getByRole('button', { name: format, exact: true }).click();
    if (format === 'CSV') await exporting.getByLabel('providers').uncheck();
    const waiting = page.waitForEvent('download');
    await exporting.getByRole('button', { name: 'Export', exact: true }).click();
    const download = await waiting;
    assert.match(await readFile(await download.path(), 'utf8'), pattern);
  }
});

test('A drawing is placed by two control points, which are clicked or typed', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await hub.post('/zones', HALL);
  for (const theme of ['light', 'dark'] as const) {
    const page = await openPage(t, `${hub.origin}/hub-ui/lists/fences`, { theme });
    const dialog = await open(page, 'hall.dxf');
    await dialog.getByRole('button', { name: 'By two points' }).click();
    const compare = dialog.getByRole('button', { name: 'Compare with the hub' });
    const cell = (column: string, number: number): Locator => dialog.getByLabel(`${column} of point ${number}`);
    await dialog.getByRole('region', { name: 'Map: points in the drawing' }).click();
    await dialog.getByText('Now click the same point here').waitFor();
    await dialog.getByRole('region', { name: 'Map: points in the zone' }).click();
    await dialog.getByText('… and the same one on the map of the zone').waitFor();
    for (const column of ['x in the drawing', 'y in the drawing', 'x in the zone', 'y in the zone']) {
      assert.notEqual(await cell(column, 1).inputValue(), '', column);
    }
    assert.equal(await compare.isDisabled(), true);
    for (const [number, numbers] of [
      [0, 0, 10, 20],
      [10, 0, 10, 40],
    ].entries()) {
      for (const [i, column] of ['x in the drawing', 'y in the drawing', 'x in the zone', 'y in the zone'].entries()) {
        await cell(column, number + 1).fill(String(numbers[i]));
      }
    }
    await dialog.getByText('The points are 10 m apart in the drawing, and 20 m in the zone.').waitFor();
    await cell('y in the zone', 2).fill('30');
    await dialog.getByText('The points are 10 m apart in the drawing, and 10 m in the zone.').waitFor();
    assert.deepEqual(await violationsIn(page), []);
    await compare.click();
    if (theme === 'light') await make(dialog, 'Import 4 items', /4 created/);
    else await dialog.getByText('hall.dxf contains no changes.').waitFor();
  }
  const { body } = await hub.get(`/fences/summary?crs=local&zone_id=${HALL.id}`);
  const column = body.find(({ name }: { name: string }) => name === 'COLUMNS 1');
  assert.deepEqual(column.region.coordinates, [6, 23]);
});

test('Nested KML folders become layers, and their placemarks keep their data', { skip }, async (t) => {
  const hub = await openUiHub(t);
  const page = await openPage(t, `${hub.origin}/hub-ui/lists/fences`);
  const dialog = await open(page, 'folders.kml');
  await dialog.getByText('Load the image of a ground overlay as the floor plan of a zone.').waitFor();
  await dialog.getByText('It has no geometry.').waitFor();
  await dialog.getByText('Linked files are not read.').waitFor();
  assert.equal(await dialog.getByLabel('Labs becomes').inputValue(), 'fences');
  assert.equal(await dialog.getByLabel('Ground floor becomes').inputValue(), 'fences');
  await dialog.getByRole('button', { name: 'Compare with the hub' }).click();
  await make(dialog, 'Import 3 items', /3 created/);
  const { body } = await hub.get('/fences/summary');
  const found = body.map(({ name, floor, region, properties }: Fence) => [name, floor, region.type, properties]);
  const properties = { crew: 'red', description: '<b>Keep out</b>', id: 'lab-1' };
  assert.deepEqual(found.sort(), [
    ['4711', -1, 'Point', properties],
    ['4711', -1, 'Polygon', properties],
    ['Gate', undefined, 'Point', undefined],
  ]);
  const yard = body.find(({ region }: Fence) => region.type === 'Polygon');
  assert.equal(yard.region.coordinates.length, 2);
});

test('A file that is not KML is rejected, and the message names its actual format', { skip }, async (t) => {
  const hub = await openUiHub(t);
  // The browser styles its message about bad XML, which the content security policy forbids.
  const page = await openPage(t, `${hub.origin}/hub-ui/lists/fences`, { mayFail: true });
  await page.getByRole('button', { name: 'Import' }).click();
  for (const [text, why] of [
    ['<kml><Document></kml>', 'The file is not XML'],
    ['<gpx><wpt/></gpx>', 'The file is XML, but not KML'],
  ] as const) {
    const file = { name: 'other.kml', mimeType: 'text/xml', buffer: Buffer.from(text) };
    await page.getByLabel('File to import').setInputFiles(file);
    await page.getByText(why).waitFor();
  }
});

const CART = {
  ...{
    id: FORKLIFT.id,
    type: 'virtual',
    name: 'Cart',
    radius: 1.5,
    fence_timeout: 60_000,
    location_providers: ['tag-1'],
  },
  properties: { crew: 'red', load_kg: 12 },
};

async function compare(dialog: Locator): Promise<void> {
  await dialog.getByRole('button', { name: 'Compare with the hub' }).click();
}

test('An import shows each member that it changes, and deletes values only by choice', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await hub.post('/trackables', CART);
  const cart = async () => (await hub.get(`/trackables/${CART.id}`)).body;
  const page = await openPage(t, `${hub.origin}/hub-ui/lists/trackables`);
  const table = `id,name,radius,Fence timeout,crew\r\n${CART.id},Cart,2.5,,blue\r\n`;

  let dialog = await open(page, 'carts.csv', table);
  await compare(dialog);
  const changes = dialog.getByRole('region', { name: 'Changes' });
  await changes.getByRole('row', { name: 'Cart Radius 1.5 2.5', exact: true }).waitFor();
  await changes.getByRole('row', { name: 'Cart Property crew "red" "blue"', exact: true }).waitFor();
  assert.equal(await changes.getByRole('row').count(), 3, 'and a row of headings');
  const choice = dialog.getByLabel('Delete values that are missing in the file: 1');
  assert.equal(await choice.isChecked(), false);
  await make(dialog, 'Import 1 item', /1 changed, 0 deleted/);
  const changed = { ...CART, radius: 2.5, properties: { crew: 'blue', load_kg: 12 } };
  assert.deepEqual(await cart(), changed);

  dialog = await open(page, 'carts.csv', table);
  await compare(dialog);
  await dialog.getByText('carts.csv contains no changes.').waitFor();
  await choice.check();
  const deleted = dialog.getByRole('region', { name: 'Values that are missing in the file' });
  await deleted.getByRole('row', { name: 'Cart Timeout without positions 60000 deleted', exact: true }).waitFor();
  assert.equal(await deleted.getByRole('row').count(), 2);
  assert.deepEqual(await violationsIn(page), []);
  await make(dialog, 'Import 1 item', /1 changed, 0 deleted/);
  const { fence_timeout: _deleted, ...rest } = changed;
  assert.deepEqual(await cart(), rest);
});

test('An ambiguous number needs a choice of the user, with a preview of its value', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await hub.post('/trackables', CART);
  const page = await openPage(t, `${hub.origin}/hub-ui/lists/trackables`);
  const dialog = await open(page, 'carts.csv', `id;fence_timeout\r\n${CART.id};60.000\r\n`);
  await dialog.getByText('60.000 is ambiguous.').waitFor();
  assert.equal(await dialog.getByRole('button', { name: 'Compare with the hub' }).isDisabled(), true);
  await dialog.getByRole('button', { name: '1,234.56' }).click();
  await dialog.getByText('60.000, that is 60', { exact: true }).waitFor();
  await dialog.getByRole('button', { name: '1.234,56' }).click();
  await dialog.getByText('60.000, that is 60000', { exact: true }).waitFor();
  assert.deepEqual(await violationsIn(page), []);
  await compare(dialog);
  await dialog.getByText('carts.csv contains no changes.').waitFor();
});

test('Two rows with the same tag, and rows without a name, are warned about', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await hub.post('/trackables', CART);
  const page = await openPage(t, `${hub.origin}/hub-ui/lists/trackables`);
  const dialog = await open(page, 'pumps.csv', 'Name,Tag ID\nPump 1,tag-1\n,tag-2\nPump 2,tag-2\n');
  assert.equal(await dialog.getByLabel('Tag ID means').inputValue(), 'location_providers');
  await compare(dialog);
  const notes = dialog.getByRole('list', { name: 'Notes' });
  await notes.getByText('Row 2, Pump 1: Its provider tag-1 is also the provider of Cart.').waitFor();
  await notes.getByText('Row 3: It has no name.').waitFor();
  await notes.getByText(/^Row 4, Pump 2: Its provider tag-2 is also the provider of /).waitFor();
});

test('Importing an export changes nothing, in any format, to the last digit', {
  skip,
}, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  await hub.post('/fences', {
    ...{ id: '11111111-0000-4000-8000-000000000001', name: 'UTM', crs: 'EPSG:32632', radius: 2 },
    region: { type: 'Point', coordinates: [480_000, 5_550_000] },
  });
  const body = '{"id":"=tag","type":"uwb","name":"Tag 7 ","properties":{"serial":723413320329068590,"crew":"007"}}';
  const headers = { 'content-type': 'application/json' };
  assert.equal((await fetch(`${hub.origin}/hub/v2/providers`, { method: 'POST', headers, body })).status, 201);
  await hub.post('/trackables', {
    ...CART,
    id: '11111111-0000-4000-8000-000000000002',
    location_providers: ['a;b', '=tag'],
  });
  const page = await openPage(t, `${hub.origin}/hub-ui/lists`);
  for (const [format, count] of [
    ['Hub', 1],
    ['CSV', 2],
  ] as const) {
    await page.getByRole('button', { name: 'Export' }).click();
    const exporting = page.getByRole('dialog', { name: 'Export to a file' });
    await exporting.getByRole('button', { name: format, exact: true }).click();
    const files: Download[] = [];
    page.on('download', (download) => files.push(download));
    await exporting.getByRole('button', { name: 'Export', exact: true }).click();
    await untilHolds(page, async () => files.length === count);
    for (const file of files) {
      const dialog = await open(page, file.suggestedFilename(), await readFile(await file.path(), 'utf8'));
      const compared = dialog.getByText(/ contains no changes\.| compared with the hub:/);
      await compared
        .or(dialog.getByRole('button', { name: 'Compare with the hub' }))
        .first()
        .waitFor();
      if ((await compared.count()) === 0) await compare(dialog);
      await compared.waitFor();
      assert.match(await compared.innerText(), /contains no changes/, await dialog.innerText());
      assert.equal(await dialog.getByLabel(/^Delete values/).count(), 0);
      await dialog.getByRole('button', { name: 'Cancel' }).click();
    }
    page.removeAllListeners('download');
  }
});
