import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { planeOnly } from '../../src/core/fence/fence_plane.ts';
import type { Fence } from '../../src/model/fence.ts';
import type { Location } from '../../src/model/location.ts';
import type { Zone } from '../../src/model/zone.ts';
import { HALL, square } from '../support/hall.ts';
import {
  fence,
  inHall,
  iso,
  locationAt,
  type ShardCommand,
  ShardHarness,
  trackable,
  zone,
} from '../support/shard_harness.ts';
import { brief, briefMotions } from './brief.ts';

const IN = [5, 5] as const;
const OUT = [50, 5] as const;
const DOCK = square({ id: 'dock' });
/** A square of ten meters, from x = 45 on. */
const MOVED: Fence['region'] = {
  type: 'Polygon',
  coordinates: [
    [
      [45, 0],
      [55, 0],
      [55, 10],
      [45, 10],
      [45, 0],
    ],
  ],
};

async function open(more: Partial<Fence> = {}): Promise<ShardHarness> {
  const harness = await ShardHarness.open();
  harness.tell(0, zone(), fence({ ...DOCK, ...more }), trackable('cart', ['tag']));
  return harness;
}

/** The hall, shifted east by some meters. */
function hallMoved(meters: number): Zone {
  const rows = (HALL.ground_control_points as number[][]).map((row, i) =>
    i % 2 === 0 ? row : [(row[0] as number) - meters, row[1] as number],
  );
  return { ...HALL, ground_control_points: rows };
}

/** A location in EPSG:4326 at the position that has these coordinates in the hall, sent at second 1. */
function onEarth([x, y]: readonly [number, number], more: Partial<Location> = {}): ShardCommand {
  return locationAt(1, 9 + (x / 100) * 0.001394785, 50 + (y / 100) * 0.000898919, more);
}

function news(harness: ShardHarness): string[] {
  return brief(harness.takeFenceEvents());
}

describe('a new fence', () => {
  test('is entered by the objects in it at the moment of its creation', async () => {
    const harness = await ShardHarness.open();
    harness.tell(0, zone(), trackable('cart', ['tag']));
    harness.tell(1, inHall(1, IN), inHall(1, OUT, { provider_id: 'other' }));
    harness.tell(7.25, fence(DOCK));
    assert.deepEqual(news(harness), ['entry dock tag 7.25', 'entry dock cart 7.25']);
  });

  test('applies its entry delay to them, and its timeout starts at that moment', async () => {
    const harness = await ShardHarness.open();
    harness.tell(0, zone(), trackable('cart', ['tag']));
    harness.tell(1, inHall(1, IN));
    harness.tell(100, fence({ ...DOCK, entry_delay: 2000, timeout: 10_000 }));
    assert.deepEqual(news(harness), []);
    harness.step(103);
    assert.deepEqual(news(harness), ['entry dock tag 100', 'entry dock cart 100']);
    harness.step(109);
    assert.deepEqual(news(harness), []);
    harness.step(110);
    assert.deepEqual(news(harness), ['exit dock tag 100-110', 'exit dock cart 100-110']);
  });
});

describe('a changed fence', () => {
  test('that moves away is exited, and one that moves here is entered', async () => {
    const harness = await open();
    harness.tell(1, inHall(1, IN), inHall(1, OUT, { provider_id: 'other' }));
    news(harness);
    harness.tell(5, fence({ ...DOCK, region: MOVED }));
    assert.deepEqual(news(harness), ['exit dock tag 1-5', 'entry dock other 5', 'exit dock cart 1-5']);
  });

  test('applies its exit delay and tolerance to members', async () => {
    const harness = await open();
    harness.tell(1, inHall(1, IN));
    news(harness);
    harness.tell(5, fence({ ...DOCK, region: MOVED, exit_delay: 3000 }));
    assert.deepEqual(news(harness), []);
    harness.tell(6, fence({ ...DOCK, region: MOVED, exit_tolerance: 100, tolerance_timeout: -1 }));
    harness.step(60);
    assert.deepEqual(news(harness), []);
  });

  for (const [name, more, exits] of [
    ['a floor', { floor: 1 }, true],
    ['its own floor', { floor: 0 }, false],
    ['heights above', { extrusion: 0.5 }, true],
    ['all heights', { extrusion: 3 }, false],
    ['another reference of heights', { extrusion: 0.5, elevation_ref: 'wgs84' }, false],
    ['a smaller circle', { region: { type: 'Point', coordinates: [5, 6.5] }, radius: 1 }, true],
    ['a circle', { region: { type: 'Point', coordinates: [5, 6.5] }, radius: 2 }, false],
    ['another plane', { crs: 'EPSG:4326', zone_id: null }, true],
    ['a zone that is not there', { zone_id: 'nowhere' }, true],
  ] as [string, Partial<Fence>, boolean][]) {
    test(`with ${name} ${exits ? 'is exited' : 'is not exited'}`, async () => {
      const harness = await open();
      harness.tell(1, inHall(1, [5, 5, 1]));
      news(harness);
      harness.tell(5, fence({ ...DOCK, ...more }));
      assert.deepEqual(news(harness), exits ? ['exit dock tag 1-5', 'exit dock cart 1-5'] : []);
    });
  }

  test('with a smaller entry tolerance is entered', async () => {
    const harness = await open({ entry_tolerance: 3 });
    harness.tell(1, inHall(1, [8, 5]));
    assert.deepEqual(news(harness), []);
    harness.tell(5, fence({ ...DOCK, entry_tolerance: 1 }));
    assert.deepEqual(news(harness), ['entry dock tag 1', 'entry dock cart 1']);
  });

  test('with the same region is not an observation: no object enters again, and no timeout is postponed', async () => {
    const harness = await open({ timeout: 10_000 });
    harness.tell(1, inHall(1, IN));
    news(harness);
    harness.tell(9, fence({ ...DOCK, timeout: 10_000, name: 'Dock', properties: { colour: 'red' } }));
    harness.step(11);
    assert.deepEqual(news(harness), ['exit dock tag 1-11', 'exit dock cart 1-11']);
    harness.tell(12, fence({ ...DOCK, timeout: 20_000 }));
    assert.deepEqual(news(harness), []);
  });

  test('keeps its members and their timers, and has its new name in their exits', async () => {
    const harness = await open({ exit_delay: 5000 });
    harness.tell(1, inHall(1, IN));
    harness.tell(2, inHall(2, OUT));
    news(harness);
    harness.tell(3, fence({ ...DOCK, exit_delay: 5000, foreign_id: 'new', properties: { a: 1 } }));
    harness.step(7);
    const [event] = harness.observed.fenceEvents;
    assert.deepEqual([event?.foreign_id, event?.properties], ['new', { a: 1 }]);
    assert.deepEqual(news(harness), ['exit dock tag 1-7', 'exit dock cart 1-7']);
  });
});

describe('a fence in the plane of a zone', () => {
  test('moves with its zone, so members exit and others enter', async () => {
    const harness = await open();
    harness.tell(1, onEarth(IN), onEarth([25, 5], { provider_id: 'other' }));
    news(harness);
    harness.tell(5, zone(hallMoved(20)));
    assert.deepEqual(news(harness), ['exit dock tag 1-5', 'entry dock other 5', 'exit dock cart 1-5']);
  });

  test('moves with its zone together with objects located in the coordinates of that zone', async () => {
    const harness = await open();
    harness.tell(1, inHall(1, IN), inHall(1, OUT, { provider_id: 'other' }));
    news(harness);
    harness.observed.motions.length = 0;
    harness.observed.locations.length = 0;
    harness.rows = 'all';
    const { motions, rows } = harness.tell(5, zone(hallMoved(20)));
    assert.deepEqual([news(harness), harness.observed.locations], [[], []]);
    assert.deepEqual(briefMotions(harness.observed.motions), ['cart by tag of 1']);
    const [lon = 0, lat = 0] = harness.observed.motions[0]?.location.position.coordinates ?? [];
    assert.ok(Math.abs(lon - (9 + (25 / 100) * 0.001394785)) < 1e-7 && lat > 50, `${lon} ${lat}`);
    assert.deepEqual(
      motions.map((motion) => motion.kind === 'moved' && [motion.id, motion.eventTimeMs]),
      [['cart', Date.parse(iso(5))]],
    );
    assert.deepEqual(rows.map(({ id }) => id).sort(), ['cart', 'other', 'tag']);
    const view = { crs: 'local' };
    const { texts } = harness.ask(6, { ask: 'provider_locations', view }) as { texts: string[] };
    const shown = texts.map((text) => JSON.parse(text).position.coordinates);
    assert.deepEqual(shown, [[...IN], [...OUT]]);
    harness.tell(7, inHall(7, OUT));
    assert.deepEqual(news(harness), ['exit dock tag 1-7', 'exit dock cart 1-7']);
  });

  test('is moved in one observation with all other fences of the zone: exits first, each in id order', async () => {
    const harness = await open();
    for (const [id, region] of [
      ['d', MOVED],
      ['b', MOVED],
      ['c', DOCK.region],
      ['a', DOCK.region],
    ] as const) {
      harness.tell(0, fence({ ...DOCK, id, region }));
    }
    harness.tell(1, onEarth([50, 5]));
    news(harness);
    harness.tell(5, zone(hallMoved(45)));
    const objects = ['tag', 'cart'];
    const expected = objects.flatMap((id) => [
      ...['b', 'd'].map((name) => `exit ${name} ${id} 1-5`),
      ...['a', 'c', 'dock'].map((name) => `entry ${name} ${id} 5`),
    ]);
    assert.deepEqual(news(harness), expected);
  });

  test('keeps its position if only the name of its zone changes', async () => {
    const harness = await open({ timeout: 10_000 });
    harness.tell(1, inHall(1, IN));
    news(harness);
    harness.tell(5, zone({ ...HALL, name: 'Hall' }));
    harness.step(11);
    assert.deepEqual(news(harness), ['exit dock tag 1-11', 'exit dock cart 1-11']);
    harness.tell(12, zone({ ...HALL, name: 'Big hall' }));
    assert.deepEqual(news(harness), []);
  });

  for (const name of ['hall', HALL.id.toUpperCase()]) {
    test(`may name it ${name}, even before it exists`, async () => {
      const harness = await ShardHarness.open();
      harness.tell(0, fence({ ...DOCK, zone_id: name }));
      harness.tell(1, locationAt(1, 9.00005, 50.00003));
      assert.deepEqual(news(harness), []);
      harness.tell(2, zone());
      assert.deepEqual(news(harness), ['entry dock tag 2']);
      harness.tell(3, zone(hallMoved(50)));
      assert.deepEqual(news(harness), ['exit dock tag 2-3']);
    });
  }

  test('has no position after the foreign id that it names is removed', async () => {
    const harness = await open({ zone_id: 'hall' });
    harness.tell(1, inHall(1, IN));
    news(harness);
    harness.tell(5, zone({ ...HALL, foreign_id: 'renamed' }));
    assert.deepEqual(news(harness), ['exit dock tag 1-5', 'exit dock cart 1-5']);
    harness.tell(6, zone({ ...hallMoved(1000), id: 'other', foreign_id: 'hall' }));
    assert.deepEqual(news(harness), []);
    harness.tell(7, zone({ ...HALL, id: 'other', foreign_id: 'hall' }));
    assert.deepEqual(news(harness), ['entry dock tag 7', 'entry dock cart 7']);
  });

  test('keeps its position after its zone is removed, until another zone gets that name', async () => {
    const harness = await open({ timeout: 10_000 });
    harness.tell(1, inHall(1, IN));
    news(harness);
    const { ground_control_points } = HALL;
    const left = {
      ...DOCK,
      timeout: 10_000,
      former_zone: { id: HALL.id, type: 'uwb' as const, ground_control_points },
    };
    harness.tell(5, fence(left), { kind: 'zone', id: HALL.id, entity: undefined });
    harness.tell(6, fence({ ...left, name: 'Dock' }));
    assert.deepEqual(news(harness), []);
    harness.tell(7, locationAt(7, 9.00005, 50.00003, { provider_id: 'other' }));
    assert.deepEqual(news(harness), ['entry dock other 7']);
    harness.step(11);
    assert.deepEqual(news(harness), ['exit dock tag 1-11', 'exit dock cart 1-11']);
    harness.tell(12, zone(hallMoved(50)));
    assert.deepEqual(news(harness), ['entry dock tag 12', 'exit dock other 7-12', 'entry dock cart 12']);
  });

  test('keeps the height of its floor too', async () => {
    const harness = await ShardHarness.open();
    const hall = { ...HALL, wgs84_height: 100 };
    const low = { ...DOCK, extrusion: 3 };
    const position = { type: 'Point' as const, coordinates: [9.00005, 50.00003, 400] };
    harness.tell(0, zone(hall), fence(low));
    harness.tell(1, locationAt(1, 0, 0, { position, elevation_ref: 'wgs84' }));
    const left = { ...low, former_zone: planeOnly(hall) };
    harness.tell(2, fence(left), { kind: 'zone', id: HALL.id, entity: undefined });
    assert.deepEqual(news(harness), []);
    harness.tell(3, fence(low));
    harness.tell(4, zone());
    assert.deepEqual(news(harness), ['entry dock tag 4'], 'above a floor of unknown height');
  });

  test('in EPSG:4326 does not move with a zone', async () => {
    const region: Fence['region'] = { type: 'Point', coordinates: [9, 50] };
    const harness = await open({ crs: 'EPSG:4326', region, radius: 20 });
    harness.tell(1, onEarth(IN));
    news(harness);
    harness.tell(5, zone(hallMoved(500)));
    assert.deepEqual(news(harness), []);
  });
});
