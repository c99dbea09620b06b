import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { ExportedState, LastKnownRow, PastStep } from '../../src/core/item.ts';
import { type CheckedProximity, checkProximity } from '../../src/ingest/check_proximity.ts';
import { look } from '../../src/model/borrowed.ts';
import type { Zone } from '../../src/model/zone.ts';
import {
  iso,
  type LocationCommand,
  locationAt,
  provider,
  ShardHarness,
  T0,
  trackable,
  zone,
} from '../support/shard_harness.ts';

const A: Zone = {
  id: 'a',
  type: 'ibeacon',
  foreign_id: 'door',
  position: { type: 'Point', coordinates: [8, 50] },
  radius: 4,
  floor: 2,
  proximity_resolution: {},
};
const B: Zone = {
  id: 'b',
  type: 'ibeacon',
  position: { type: 'Point', coordinates: [8, 50.0001] },
  radius: 3,
  floor: 1,
};
const C: Zone = { ...B, id: 'c', position: { type: 'Point', coordinates: [8.0001, 50.0001] }, floor: 2 };

/** A sighting of the tag as accepted by ingest. */
function seen(second: number, source: string, properties: Record<string, unknown> = {}): LocationCommand {
  const zones = new Map([A, B, C].map((each) => [each.id, each]).concat([['door', A]]) as [string, Zone][]);
  const value = { source, provider_type: 'ibeacon', provider_id: 'tag', timestamp_generated: iso(second), properties };
  const context = { at: '', receivedMs: 0, zone: (name: string) => zones.get(name), knownId: (id: string) => id };
  const { location, generatedMs } = checkProximity(value, context) as CheckedProximity;
  return { kind: 'location', generatedMs, location };
}

async function open(zones: readonly Zone[] = [A, B, C]): Promise<ShardHarness> {
  const harness = await ShardHarness.open();
  harness.tell(0, ...zones.map((each) => zone(each)), provider('tag'), trackable('cart', ['tag']));
  return harness;
}

/** Sightings that move the tag from a to b: b is 10 dB stronger for two windows. */
const WALK = Array.from({ length: 12 }, (_, i) => [
  seen(i + 0.1, 'a', { rssi: -70 }),
  seen(i + 0.2, 'b', { rssi: -60 }),
]).flat();

const sources = (harness: ShardHarness): string[] => harness.observed.locations.map(({ source }) => source as string);

describe('A sighting of a tag that another zone holds', () => {
  test('is a location in the zone that holds it, and names the reader', async () => {
    const harness = await open();
    harness.tell(1, seen(1, 'door', { rssi: -50 }));
    harness.tell(2, seen(2, 'b', { rssi: -60, note: 1.5 }));
    const [, location] = harness.observed.locations;
    const { timestamp_sent: _, ...members } = location ?? {};
    assert.deepEqual(members, {
      position: { type: 'Point', coordinates: [8, 50] },
      source: 'door',
      provider_type: 'ibeacon',
      provider_id: 'tag',
      timestamp_generated: iso(2),
      accuracy: 4,
      floor: 2,
      elevation_ref: 'floor',
      speed: 0,
      properties: { rssi: -60, note: 1.5, 'hub.sighting_source': 'b' },
      crs: 'EPSG:4326',
      trackables: ['cart'],
    });
    const motion = harness.observed.motions.at(-1)?.location;
    assert.deepEqual([motion?.source, motion?.position.coordinates], ['door', [8, 50]]);
  });

  test('moves the tag when its zone wins', async () => {
    const harness = await open();
    for (const command of WALK) harness.tell(command.generatedMs / 1000 - T0 / 1000, command);
    const all = sources(harness);
    assert.equal(all.lastIndexOf('a') + 1, all.indexOf('b'));
    assert.equal(all.indexOf('b'), 12);
  });

  test('is at the centroid of three readers on the floor if the zone asks for it', async () => {
    const centroid: Zone = { ...A, proximity_resolution: { position_mode: 'centroid' } };
    const harness = await open([centroid, { ...B, floor: 2 }, C]);
    for (const id of ['a', 'b', 'c']) harness.tell(1, seen(1, id, { rssi: -60 }));
    const last = harness.observed.locations.at(-1);
    assert.deepEqual(last?.position.coordinates, [8.000033333, 50.000066667]);
    // The readers are 11.12 m and 7.17 m apart: sqrt(2/9 (a² + b²)) without the diagonal.
    assert.equal(last?.accuracy, 6.2383);
    assert.equal(last?.source, 'a');
  });

  test('moves the tag as before if no zone has proximity_resolution', async () => {
    const plain: Zone = { ...A, proximity_resolution: null };
    const harness = await open([plain, B, C]);
    const asLocations = await open([plain, B, C]);
    for (const { generatedMs, location } of WALK) {
      const second = (generatedMs - T0) / 1000;
      harness.tell(second, { kind: 'location', generatedMs, location });
      const { isProximity: _, ...sent } = location;
      asLocations.tell(second, { kind: 'location', generatedMs, location: sent });
    }
    assert.deepEqual(harness.events, asLocations.events);
    assert.equal(new Set(sources(harness)).size, 2);
    assert.equal(harness.shard.state.providers.get('tag')?.proximity, undefined);
  });

  test('that was sent as a location moves the tag', async () => {
    const harness = await open();
    harness.tell(1, seen(1, 'a'));
    harness.tell(2, locationAt(2, 8, 50.0001, { source: 'b' }));
    assert.deepEqual(sources(harness), ['a', 'b']);
  });

  test('that is older than the last one changes nothing', async () => {
    const harness = await open();
    harness.tell(3, seen(3, 'a', { rssi: -70 }));
    const before = structuredClone(harness.shard.state.providers.get('tag')?.proximity);
    harness.tell(4, seen(1, 'b', { rssi: -30 }));
    assert.deepEqual(harness.shard.state.providers.get('tag')?.proximity, before);
  });
});

describe('Arbitration', () => {
  test('does not depend on the division into batches', async () => {
    const single = await open();
    for (const command of WALK) single.tell(20, command);
    for (const size of [2, 5, WALK.length]) {
      const batched = await open();
      for (let at = 0; at < WALK.length; at += size) batched.tell(20, ...WALK.slice(at, at + size));
      assert.deepEqual(batched.observed.locations, single.observed.locations);
    }
  });

  test('does not depend on the shard that owns the tag', async () => {
    const one = await open();
    const two = [await open(), await open()] as const;
    const all = [];
    for (const [i, command] of WALK.entries()) {
      const second = (command.generatedMs - T0) / 1000;
      one.tell(second, command);
      const [from, to] = i % 2 === 0 ? two : ([two[1], two[0]] as const);
      from.tell(second, command);
      all.push(...from.observed.locations.splice(0));
      const { answers } = from.tell(second, { kind: 'exportState', id: 1, providers: ['tag'], trackables: ['cart'] });
      to.tell(second, { kind: 'importState', state: structuredClone(answers[0]?.[1] as ExportedState) });
    }
    assert.deepEqual(all, one.observed.locations);
  });

  test('leaves the tag in its zone in a worker that replays the steps, and after a restart', async () => {
    const harness = await open();
    harness.rows = 'all';
    const steps: PastStep[] = [];
    let rows: readonly LastKnownRow[] = [];
    for (const command of [seen(1, 'a', { rssi: -60 }), seen(2, 'b', { rssi: -50 })]) {
      const items = harness.items(3, command);
      const outcome = harness.step(3, items);
      const locations = items.filter((item) => item.kind === 'location');
      steps.push({ locations, effects: Buffer.from(look(outcome.effects)) });
      ({ rows } = outcome);
    }
    const view = { ask: 'provider_location', id: 'tag', view: { crs: 'EPSG:4326' } } as const;
    const expected = harness.ask(3, view);
    const replaced = await open();
    replaced.tell(3, { kind: 'replay', steps });
    const restarted = await open();
    restarted.tell(3, { kind: 'restore', rows, suppressUntilMs: 0 });
    for (const next of [replaced, restarted]) {
      assert.deepEqual(next.ask(3, view), expected);
      next.tell(4, seen(4, 'b', { rssi: -50 }));
      assert.deepEqual(sources(next), ['a']);
      assert.equal(next.observed.locations[0]?.properties?.['hub.sighting_source'], 'b');
    }
  });

  test('frees its state with the settings of the zones', async () => {
    const harness = await open();
    harness.tell(1, seen(1, 'a'));
    assert.notEqual(harness.shard.state.providers.get('tag')?.proximity, undefined);
    harness.tell(2, zone({ ...A, proximity_resolution: null }));
    harness.tell(3, seen(3, 'b'));
    assert.equal(harness.shard.state.providers.get('tag')?.proximity, undefined);
    assert.deepEqual(sources(harness), ['a', 'b']);
  });
});
