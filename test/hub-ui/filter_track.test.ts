import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { previewOf } from '../../src/hub-ui/map_page/filter/filter_preview.ts';
import { acceptedPaths, FilterTrack, TRACK_MS } from '../../src/hub-ui/map_page/filter/filter_track.ts';
import { EARTH } from '../../src/hub-ui/map/plane/plane.ts';
import type { Location } from '../../src/model/location.ts';
import { colorsAt, openPage, openUiHub, untilHolds, WITHOUT_BROWSER } from '../support/browser.ts';
import type { TestHub } from '../support/running_hub.ts';
import { createSite, earth, FORKLIFT, move } from './ui_site.ts';

const skip = WITHOUT_BROWSER ?? false;
const DANGER = [0xc8, 0x28, 0x1e];
/** Width of the panel of the selected object. The map is centered in the rest of the page. */
const PANEL = 392;
const cardOf = (page: Page) => page.getByRole('complementary', { name: 'Raw and filtered track' });

/** Sends locations of the forklift's tag, a second apart, ending now. */
async function drive(hub: TestHub, places: readonly (readonly [x: number, y: number])[]): Promise<void> {
  for (const place of places) await move(hub, 'tag-1', place, { accuracy: 0.3 });
}

function mapUrl(hub: TestHub, layers: string): string {
  return `${hub.origin}/hub-ui/?at=${earth(20, 20)}&z=20&sel=trackables:${FORKLIFT.id}&layers=${layers}`;
}

/** Text of a part of the page; empty while it is absent. */
async function textOf(part: Locator): Promise<string> {
  return (await part.count()) === 0 ? '' : part.innerText();
}

/** A point of the page at a position in the hall: its x axis points up, its y axis to the left. */
async function pixelOf(page: Page, [x, y]: readonly [number, number]): Promise<readonly [number, number]> {
  const box = await page.locator('[data-map]').boundingBox();
  assert.ok(box !== null);
  const bar = page.locator('[data-scale] > span').first();
  const width = (await bar.boundingBox())?.width ?? 0;
  const perMeter = width / Number.parseFloat(await page.locator('[data-scale] > span').nth(1).innerText());
  return [box.x + (box.width - PANEL) / 2 - (y - 20) * perMeter, box.y + box.height / 2 - (x - 20) * perMeter];
}

/** Whether a layer has approximately this color within some pixels of a point. */
async function isColored(page: Page, [x, y]: readonly [number, number], wanted: readonly number[]): Promise<boolean> {
  for (const [dx, dy] of [
    [0, 0],
    [1, 1],
    [2, 2],
    [-2, -2],
    [3, 3],
    [-3, 3],
  ] as const) {
    const colors = await colorsAt(page, [x + dx, y + dy]);
    if (colors.some((color) => wanted.every((part, i) => Math.abs(part - (color[i] ?? 0)) < 30))) return true;
  }
  return false;
}

test('Outliers of the selected object are crosses, and a click says why', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  const filtered = { id: 'tag-1', type: 'uwb', filter: { kind: 'cv', max_speed: 5, reset_after: 9 } };
  assert.equal((await hub.post('/providers', filtered)).status, 201);
  await drive(hub, [[20, 20]]);
  const page = await openPage(t, mapUrl(hub, 'trackables'));
  await page.locator('[data-counts]', { hasText: '1 trackable' }).waitFor();
  // Nothing of it is shown by default.
  assert.equal(await cardOf(page).count(), 0);
  await page.getByRole('button', { name: 'Layers' }).click();
  await page.getByLabel('Raw and filtered track').check();
  await page.keyboard.press('Escape');
  await cardOf(page).getByText('Locations appear as they arrive.').waitFor();
  assert.equal(new URL(page.url()).searchParams.get('layers'), 'trackables,filter');

  // The subscriptions may not be active yet.
  await untilHolds(page, async () => {
    await drive(hub, [[20, 20]]);
    const card = await textOf(cardOf(page));
    return card.includes('0 of') && card.includes('Filtered');
  });
  await drive(hub, [[26, 14]]);
  await cardOf(page)
    .getByText(/^1 of \d+ locations are outliers$/)
    .waitFor();
  const cross = await pixelOf(page, [26, 14]);
  await untilHolds(page, () => isColored(page, cross, DANGER));
  await page.mouse.click(...cross);
  const reason = cardOf(page).getByRole('region', { name: 'Outlier' });
  await reason.getByText('The object would have moved faster than the maximum speed of the filter.').waitFor();
  await reason.getByText('tag-1').waitFor();
  await reason.getByText(/^8\.[45]\d? m from the last position$/).waitFor();
  await reason.getByRole('button', { name: 'Close' }).click();
  await reason.waitFor({ state: 'detached' });
  // The object remains selected, although nothing else is at the cross.
  assert.equal(new URL(page.url()).searchParams.get('sel'), `trackables:${FORKLIFT.id}`);

  const slower = { ...filtered, filter: { kind: 'cv', reset_after: 9 } };
  assert.equal((await hub.put('/providers/tag-1', slower)).status, 204);
  await drive(hub, [
    [20, 20],
    [20, 20],
    [20, 20],
    [29, 29],
  ]);
  await cardOf(page)
    .getByText(/^2 of \d+ locations are outliers$/)
    .waitFor();
  await page.mouse.click(...(await pixelOf(page, [29, 29])));
  await reason.getByText('It is farther from the expected position than the gate of the filter permits.').waitFor();
});

test('Other settings are previewed on the last minute of the selected object', { skip }, async (t) => {
  const hub = await openUiHub(t);
  await createSite(hub);
  assert.equal((await hub.post('/providers', { id: 'tag-1', type: 'uwb' })).status, 201);
  await drive(hub, [[20, 20]]);
  const page = await openPage(t, mapUrl(hub, 'trackables,filter'));
  await untilHolds(page, async () => {
    await drive(hub, [[20, 20]]);
    return (await textOf(cardOf(page))).includes('0 of');
  });
  await drive(hub, [
    [20, 20],
    [26, 14],
    [20, 20],
    [20, 20],
  ]);
  await cardOf(page).getByRole('button', { name: 'Preview other settings' }).click();
  const preview = cardOf(page).getByRole('region', { name: 'Preview of other settings' });
  await preview.getByText(/^Noise: [\d.]+ m raw, [\d.]+ m filtered$/).waitFor();
  await preview.getByLabel('Gate').fill('1e6');
  await preview.getByText(/^0 of \d+ locations of the last minute are outliers$/).waitFor();
  await preview.getByLabel('Maximum speed').fill('2');
  await preview.getByText(/^1 of \d+ locations of the last minute are outliers$/).waitFor();
  const cross = await pixelOf(page, [26, 14]);
  await untilHolds(page, () => isColored(page, cross, DANGER));
  await page.mouse.click(...cross);
  const reason = cardOf(page).getByRole('region', { name: 'Outlier' });
  await reason.getByText('The object would have moved faster than the maximum speed of the filter.').waitFor();
  // Nothing is saved.
  assert.equal((await hub.get('/providers/tag-1')).body.filter, undefined);
  await cardOf(page).getByRole('button', { name: 'End preview' }).click();
  // A page that has reconnected in the meantime begins a new track.
  await untilHolds(page, async () => {
    await drive(hub, [[20, 20]]);
    return (await textOf(cardOf(page))).includes('0 of');
  });
  assert.equal(await preview.count(), 0);
});

const at = (second: number, more: Partial<Location> = {}): Location => ({
  position: { type: 'Point', coordinates: [8, 50] },
  provider_type: 'uwb',
  provider_id: 'tag',
  timestamp_generated: new Date(second * 1000).toISOString(),
  ...more,
});

test('A track has the locations of the last five minutes, at most three thousand', () => {
  const track = new FilterTrack(EARTH);
  for (let second = 0; second < 600; second++) track.addLocation(at(second), second * 1000);
  assert.deepEqual([track.raw.length, track.raw[0]?.timeMs], [TRACK_MS / 1000 + 1, 299_000]);
  for (let i = 0; i < 5000; i++) track.addLocation(at(600), 600_000);
  assert.equal(track.raw.length, 3000);
  // A location of the future does not stay longer.
  track.addLocation(at(1e6), 600_000);
  assert.equal(track.raw.at(-1)?.timeMs, 600_000);
});

test('Outliers have a reason and their distance, and are not part of the way of their provider', () => {
  const track = new FilterTrack(EARTH);
  const outlier = { properties: { 'hub.outlier': true, 'hub.outlier_reason': 'gate' } };
  const north = { position: { type: 'Point' as const, coordinates: [8, 50.001] } };
  track.addLocation(at(0, { ...north, ...outlier }), 0);
  track.addMotion(at(1, { properties: { 'hub.filtered': true } }), 1000);
  track.addLocation(at(1), 1000);
  track.addLocation(at(2, { ...north, ...outlier }), 2000);
  track.addLocation(at(2, { ...north, provider_id: 'other', properties: { 'hub.outlier': 'no' } }), 2000);
  const [first, , third] = track.raw.map((point) => point.outlier);
  assert.deepEqual(first, { reason: 'gate', meters: undefined });
  assert.ok(Math.abs((third?.meters ?? 0) - 111.2) < 0.5, String(third?.meters));
  assert.deepEqual(
    acceptedPaths(track.raw).map(({ length }) => length),
    [1, 1],
  );
  assert.equal(track.isFiltered, true);
});

test('A preview replays the last minute of each provider with other settings', () => {
  const track = new FilterTrack(EARTH);
  const metersNorth = (meters: number) => ({
    position: { type: 'Point' as const, coordinates: [8, 50 + meters / 111_229] },
    accuracy: 0.5,
  });
  // A minute at 1 m/s, one position 20 m off; and an earlier one that is too old.
  track.addLocation(at(0, metersNorth(500)), 0);
  for (let second = 10; second <= 70; second++) {
    const meters = second === 40 ? second + 20 : second + (second % 2 === 0 ? 0.2 : -0.2);
    track.addLocation(at(second, metersNorth(meters)), second * 1000);
  }
  const metersPerUnit = Math.cos((50 * Math.PI) / 180);
  const options = { nowMs: 70_000, metersPerUnit };
  const found = previewOf(track.raw, { kind: 'cv', process_noise: 0.1, max_speed: 3 }, options);
  assert.equal(found.locations, 61);
  assert.deepEqual(
    found.outliers.map(({ timeMs, outlier }) => [timeMs, outlier?.reason]),
    [[40_000, 'max_speed']],
  );
  assert.ok(Math.abs((found.outliers[0]?.outlier?.meters ?? 0) - 21) < 1.5);
  const { rawNoiseMeters: raw = 0, noiseMeters: noise = 0, lagMs: lag = 1e9 } = found.figures ?? {};
  assert.ok(raw > 0.1 && noise < raw / 2 && Math.abs(lag) < 200, `${raw} ${noise} ${lag}`);
  const wide = previewOf(track.raw, { kind: 'cv', gate: 1e9 }, options);
  assert.deepEqual(wide.outliers, []);
  assert.equal(previewOf([], { kind: 'cv' }, options).figures, undefined);
});
