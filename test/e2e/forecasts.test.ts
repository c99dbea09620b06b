import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checker } from '../../src/model/check.ts';
import { CollisionForecast, TrackableForecast } from '../../src/model/forecast.ts';
import { openTestHub, type TestHub } from '../support/running_hub.ts';

const METER = 1 / 111_319.49;
const [CART, TRUCK] = ['0b680db2-b39b-45be-be77-40d7d2296cb4', '3f7b6a52-8d0e-4f0c-9a77-1c5f0e6b2d42'] as const;

/** A fence of 4 m around a point of the equator. */
const fenceAt = (name: string, meters: number) => ({
  ...{ name, radius: 2 },
  region: { type: 'Point', coordinates: [8 + meters * METER, 0] },
});

/** Moves both objects towards each other at 1 m/s, until now: they are 8 m apart. */
async function approach(hub: TestHub): Promise<void> {
  const nowMs = Date.now();
  const way = Array.from({ length: 41 }, (_, i) => (i - 40) / 10).flatMap((second) => [
    at('tag-1', second, nowMs + second * 1000),
    at('tag-2', 8 - second, nowMs + second * 1000),
  ]);
  const sent = await hub.put('/providers/locations', way);
  assert.equal(sent.status, 204, sent.text);
}

const at = (provider: string, meters: number, timeMs: number) => ({
  ...{ provider_id: provider, provider_type: 'uwb', source: 'yard', crs: 'EPSG:4326', accuracy: 0.1, floor: 0 },
  position: { type: 'Point', coordinates: [8 + meters * METER, 0] },
  timestamp_generated: new Date(timeMs).toISOString(),
});

async function furnish(hub: TestHub, filter: object | undefined): Promise<void> {
  for (const [id, tag] of [
    [CART, 'tag-1'],
    [TRUCK, 'tag-2'],
  ]) {
    const trackable = { id, type: 'omlox', radius: 0.5, location_providers: [tag], calculate_collisions: true };
    assert.equal((await hub.post('/trackables', { ...trackable, ...(filter && { filter }) })).status, 201);
  }
}

const CV = { kind: 'cv', process_noise: 0.1, max_gap: 60_000 };

test('A forecast says what a trackable will do at the fences around it', async (t) => {
  const hub = await openTestHub();
  t.after(hub.close);
  await furnish(hub, CV);
  const [here, ahead, behind] = await Promise.all(
    [fenceAt('Here', 0), fenceAt('Ahead', 6), fenceAt('Behind', -9)].map(async (fence) => {
      return ((await hub.post('/fences', fence)).body as { id: string }).id;
    }),
  );
  await approach(hub);
  const { status, body, text } = await hub.get(`/trackables/${CART}/forecast?horizon=10000`);
  assert.equal(status, 200, text);
  const { fences, position, horizon, trackable_id: id, timestamp, accuracy } = checker(TrackableForecast).parse(body);
  assert.deepEqual([id, horizon], [CART, 10_000]);
  const meters = ((position.coordinates[0] ?? 0) - 8) / METER;
  assert.ok(Math.abs(meters - 10) < 2 && accuracy > 0.1, `${meters} ${accuracy}`);
  const by = new Map(fences.map((fence) => [fence.fence_id, fence]));
  assert.deepEqual(
    [by.get(here ?? '')?.event, by.get(ahead ?? '')?.event, by.has(behind ?? '')],
    ['exit', 'enter', false],
  );
  const seconds = (Date.parse(by.get(ahead ?? '')?.time ?? '') - Date.parse(timestamp)) / 1000;
  assert.ok(seconds > 1.5 && seconds < 5, String(seconds));
  assert.ok((by.get(ahead ?? '')?.probability ?? 0) > 0.9);

  for (const [path, code, message] of [
    [`${CART}/forecast?horizon=999`, 400, /^horizon: must be a number from 1000 to 60000, found "999"$/],
    [`${CART}/forecast?horizont=1000`, 400, /horizont.* is no parameter of this path, which has horizon/],
    ['nothing/forecast', 404, /no trackable has that id/],
  ] as const) {
    const answer = await hub.get(`/trackables/${path}`);
    assert.equal(answer.status, code, path);
    assert.match(answer.body.message, message);
  }
});

test('Without a filter there is no forecast', async (t) => {
  const hub = await openTestHub({ collision_forecast_horizon: 20_000 });
  t.after(hub.close);
  await furnish(hub, undefined);
  await approach(hub);
  const answer = await hub.get(`/trackables/${CART}/forecast`);
  assert.equal(answer.status, 404);
  assert.match(answer.body.message, /^Cannot forecast trackable ".*": no filter knows its velocity/);
});

test('A collision is forecast to subscribers of its trackables before it happens', async (t) => {
  const hub = await openTestHub({ collision_forecast_horizon: 20_000 });
  t.after(hub.close);
  await furnish(hub, CV);
  const all = await hub.subscribe('collision_forecast', {});
  const others = await hub.subscribe('collision_forecast', { object_id_1: 'another' });
  await approach(hub);
  const forecast = (await all.next()) as unknown as CollisionForecast;
  const { distance, probability, position, floor } = checker(CollisionForecast).parse(forecast);
  assert.deepEqual([forecast.trackable_id, forecast.other_trackable_id], [CART, TRUCK]);
  const seconds = (Date.parse(forecast.time) - Date.parse(forecast.timestamp)) / 1000;
  assert.ok(seconds > 0 && seconds <= 4.1 && distance < 0.2 && probability > 0.3, JSON.stringify(forecast));
  assert.ok(Math.abs(((position.coordinates[0] ?? 0) - 8) / METER - 4) < 0.3);
  assert.equal(floor, 0);
  assert.deepEqual(others.events, []);
});
