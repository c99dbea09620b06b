import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Zone } from '../../src/model/zone.ts';
import { HALL } from '../support/hall.ts';
import {
  deleted,
  forced,
  type ObservedOutcome,
  inHall,
  locationAt,
  provider,
  ShardHarness,
  trackable,
  zone,
} from '../support/shard_harness.ts';

const BY_PROVIDERS = 'com.hdm.hub.zone.autozoneupdate.providers';
const BY_TRACKABLES = 'com.hdm.hub.zone.autozoneupdate.trackables';

/** A reader at 8° E, 50° N. */
function reader(id: string, more: Partial<Zone> = {}): Zone {
  return { id, type: 'rfid', position: { type: 'Point', coordinates: [8, 50] }, ...more };
}
const byProviders = (...ids: unknown[]) => ({ properties: { [BY_PROVIDERS]: ids } });
const byTrackables = (...ids: unknown[]) => ({ properties: { [BY_TRACKABLES]: ids } });

/** Returns the moves of zones as `zone to position, floor by object`. */
function goals({ zoneMoves }: ObservedOutcome): string[] {
  return zoneMoves.map(({ id, position, floor, by }) => `${id} to ${position}, ${floor} by ${by.kind} ${by.id}`);
}

async function open(...zones: Zone[]): Promise<ShardHarness> {
  const harness = await ShardHarness.open();
  harness.tell(0, zone(), ...zones.map(zone), provider('tag'), provider('own'), trackable('cart', ['tag']));
  return harness;
}

describe('a zone that follows a provider', () => {
  test('moves to each of its locations in EPSG:4326, with height and floor', async () => {
    const harness = await open(reader('r', byProviders('tag', 'other')), reader('still'));
    assert.deepEqual(goals(harness.tell(1, locationAt(1, 9, 51, { floor: 3 }))), ['r to 9,51, 3 by provider tag']);
    const [move] = harness.tell(2, inHall(2, [100, 0, 1.5])).zoneMoves;
    const [lon = 0, lat = 0, height] = move?.position ?? [];
    assert.ok(Math.abs(lon - 9.001394785) < 1e-8 && Math.abs(lat - 50) < 1e-8, `${lon} ${lat}`);
    assert.deepEqual([height, move?.floor], [1.5, HALL.floor]);
    assert.deepEqual(goals(harness.tell(3, locationAt(3, 9, 52, { provider_id: 'own' }))), []);
  });

  test('ignores locations that are outdated or have no position', async () => {
    const harness = await open(reader('r', byProviders('tag')));
    harness.tell(5, locationAt(5, 9, 51));
    assert.deepEqual(goals(harness.tell(6, locationAt(4, 9, 52))), []);
    harness.tell(7, deleted('zone', HALL.id));
    assert.deepEqual(goals(harness.tell(8, inHall(8, [0, 0]))), []);
  });

  test('is reported once per step, at the last location', async () => {
    const harness = await open(reader('r', byProviders('tag', 'own')));
    const items = harness.items(
      1,
      locationAt(1, 9, 51),
      locationAt(1, 9, 52),
      locationAt(1, 9, 53, { provider_id: 'own' }),
    );
    const { zoneMoves } = harness.step(1, items);
    assert.deepEqual(
      zoneMoves.map(({ position, seq }) => [...position, seq]),
      [[9, 53, items[2]?.seq]],
    );
    assert.deepEqual(harness.step(2).zoneMoves, []);
  });

  test('does not follow a location at its own position or in its own coordinates', async () => {
    const harness = await open(reader('r', byProviders('tag')), { ...HALL, ...byProviders('tag') });
    assert.deepEqual(goals(harness.tell(1, locationAt(1, 8, 50, { source: 'r' }))), [
      `${HALL.id} to 8,50, 0 by provider tag`,
    ]);
    assert.deepEqual(
      harness.tell(2, inHall(2, [5, 5])).zoneMoves.map(({ id }) => id),
      ['r'],
    );
  });

  test('is found by a UUID in any case', async () => {
    const lower = 'abcdefab-0000-4000-8000-00000000000a';
    for (const [listed, id] of [
      [lower.toUpperCase(), lower],
      [lower, lower.toUpperCase()],
    ] as const) {
      const harness = await open(reader('r', byProviders(listed)));
      assert.equal(harness.tell(1, locationAt(1, 9, 51, { provider_id: id })).zoneMoves.length, 1);
    }
  });

  test('stays after it is changed or deleted', async () => {
    const harness = await open(reader('r', byProviders('tag')), reader('s', byProviders('tag')));
    harness.tell(1, zone(reader('r', byProviders('own'))), deleted('zone', 's'));
    assert.deepEqual(goals(harness.tell(2, locationAt(2, 9, 51))), []);
    assert.deepEqual(goals(harness.tell(3, locationAt(3, 9, 51, { provider_id: 'own' }))), [
      'r to 9,51, 0 by provider own',
    ]);
    harness.tell(4, deleted('zone', 'r'));
    assert.equal(harness.shard.state.followers.any, false);
  });

  for (const lists of [null, 'tag', 7, { 0: 'tag' }, [null, 7, ['tag'], {}], []]) {
    test(`is not mobile if its list is ${JSON.stringify(lists)}`, async () => {
      const harness = await open(reader('r', { properties: { [BY_PROVIDERS]: lists, [BY_TRACKABLES]: lists } }));
      assert.equal(harness.shard.state.followers.any, false);
      assert.deepEqual(goals(harness.tell(1, locationAt(1, 9, 51))), []);
    });
  }
});

describe('a zone that follows a trackable', () => {
  for (const [how, more] of [
    ['by its list', byTrackables('cart')],
    ['as its child', { parent: 'cart' }],
  ] as const) {
    test(`moves to its significant location, ${how}`, async () => {
      const harness = await open(reader('r', more));
      const locating_rules = [{ expression: "provider_id = 'own'", priority: 1 }];
      harness.tell(0, trackable('cart', ['tag', 'own'], { locating_rules }));
      assert.deepEqual(goals(harness.tell(1, locationAt(1, 9, 51))), ['r to 9,51, 0 by trackable cart']);
      assert.deepEqual(goals(harness.tell(2, locationAt(2, 9, 52, { provider_id: 'own' }))), [
        'r to 9,52, 0 by trackable cart',
      ]);
      // Outranked by the location of its other provider.
      assert.deepEqual(goals(harness.tell(3, locationAt(3, 9, 53))), []);
    });
  }

  test("moves to the location of the trackable's parent", async () => {
    const harness = await open(reader('r', { parent: 'box' }));
    harness.tell(0, trackable('box', [], { parent: 'cart' }));
    assert.deepEqual(goals(harness.tell(1, locationAt(1, 9, 51))), ['r to 9,51, 0 by trackable box']);
  });

  test('moves with a forced update', async () => {
    const harness = await open(reader('r', byTrackables('cart')));
    harness.tell(1, locationAt(1, 9, 51, { provider_id: 'own' }));
    const { zoneMoves } = harness.tell(2, forced(trackable('cart', ['own'])));
    assert.deepEqual(
      zoneMoves.map(({ position }) => position),
      [[9, 51]],
    );
  });

  test('moves where the trackable falls back to, and stays when it is deleted', async () => {
    const harness = await open(reader('r', byTrackables('cart')));
    harness.tell(0, trackable('cart', ['tag', 'own']));
    harness.tell(1, locationAt(1, 9, 51, { provider_id: 'own' }), locationAt(1, 9, 52));
    assert.deepEqual(goals(harness.tell(2, { kind: 'forget', id: 'tag' })), ['r to 9,51, 0 by trackable cart']);
    assert.deepEqual(goals(harness.tell(3, deleted('trackable', 'cart'))), []);
    assert.deepEqual(goals(harness.tell(4, locationAt(4, 9, 51))), []);
  });
});
