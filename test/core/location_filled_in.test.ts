import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Location } from '../../src/model/location.ts';
import { HALL } from '../support/hall.ts';
import {
  eventsOf,
  forced,
  inHall,
  iso,
  locationAt,
  ShardHarness,
  T0,
  trackable,
  zone,
} from '../support/shard_harness.ts';

/** The last published location. */
function last(harness: ShardHarness): Location {
  return harness.observed.locations.at(-1) as Location;
}

/** Returns the published form of one location, in a hall on the second floor. */
async function observed(more: Partial<Location>): Promise<Location> {
  const harness = await ShardHarness.open();
  harness.tell(0, zone({ ...HALL, floor: 2 }));
  harness.tell(1, locationAt(1, 9, 50, more));
  return last(harness);
}

describe('a location is published', () => {
  test('with its time of receipt if it has no generation time', async () => {
    const harness = await ShardHarness.open();
    harness.tell(5, locationAt(5, 9, 50, { timestamp_generated: null }));
    assert.equal(last(harness).timestamp_generated, iso(5));
  });

  test('with its time as it was sent', async () => {
    const found = await observed({ timestamp_generated: '2026-03-01T13:00:01+01:00' });
    assert.equal(found.timestamp_generated, '2026-03-01T13:00:01+01:00');
  });

  for (const { name, more, floor } of [
    { name: 'its own', more: { floor: -3.5, source: HALL.id }, floor: -3.5 },
    { name: 'its own, even if it is 0, not that of its zone', more: { floor: 0, source: HALL.id }, floor: 0 },
    { name: "its zone's", more: { source: HALL.id }, floor: 2 },
    { name: "its zone's, named by foreign id", more: { source: 'hall' }, floor: 2 },
    { name: "its zone's, named in another case", more: { source: HALL.id.toUpperCase() }, floor: 2 },
    { name: '0 where its source is no zone', more: { source: 'gps' }, floor: 0 },
  ]) {
    test(`with a floor: ${name}`, async () => {
      assert.equal((await observed(more)).floor, floor);
    });
  }

  test('with a floor of 0 if its zone has none', async () => {
    const { floor: _, ...zoneWithoutFloor } = HALL;
    const harness = await ShardHarness.open();
    harness.tell(0, zone(zoneWithoutFloor));
    harness.tell(1, locationAt(1, 9, 50, { source: HALL.id }));
    assert.equal(last(harness).floor, 0);
  });

  test('with heights from the floor by default', async () => {
    assert.equal((await observed({})).elevation_ref, 'floor');
    assert.equal((await observed({ elevation_ref: 'wgs84' })).elevation_ref, 'wgs84');
  });

  test('with the trackables of its provider, in id order', async () => {
    const harness = await ShardHarness.open();
    harness.tell(0, trackable('b', ['tag']), trackable('c', ['other']), trackable('a', ['other', 'tag']));
    harness.tell(1, locationAt(1, 9, 50));
    assert.deepEqual(last(harness).trackables, ['a', 'b']);
  });

  test('with all other members as they were sent', async () => {
    const sent = {
      accuracy: 0.25,
      associated: true,
      true_heading: 359.5,
      magnetic_heading: 1,
      heading_accuracy: 3,
      speed: 1.5,
      course: 270,
      properties: { nested: { list: [1, 'two', null] }, empty: {} },
    };
    const { position, ...rest } = await observed({ ...sent, source: 'anything', provider_type: 'ble-aoa' });
    assert.deepEqual(position, { type: 'Point', coordinates: [9, 50] });
    assert.deepEqual(rest, {
      ...sent,
      source: 'anything',
      provider_type: 'ble-aoa',
      provider_id: 'tag',
      crs: 'EPSG:4326',
      timestamp_generated: iso(1),
      timestamp_sent: iso(1),
      trackables: [],
      floor: 0,
      elevation_ref: 'floor',
    });
  });
});

describe('the sending time', () => {
  const ITS_OWN = '2026-03-01T12:00:00.5Z';
  const PROPERTIES = { timestamp_sent: ITS_OWN, text: ',"timestamp_sent":"x"' };

  /**
   * Sending time, in each representation, of a location that a shard receives at second 1 and publishes at second 2.
   */
  async function published(more: Partial<Location>): Promise<Location[]> {
    const harness = await ShardHarness.open();
    const views = [{ crs: 'EPSG:4326' }, { crs: 'EPSG:32632' }, { crs: 'EPSG:4326', geojson: true }];
    const topics = ['location_updates', 'trackable_motions'] as const;
    const variants = topics.flatMap((topic, t) => views.map((view, v) => ({ id: 10 + 3 * t + v, topic, ...view })));
    harness.tell(0, { kind: 'variants', variants }, trackable('cart', ['tag']));
    const items = harness.items(1, locationAt(1, 9, 50, more));
    const events = eventsOf(harness.shard.step({ nowMs: T0 + 1000, sentMs: T0 + 2000, items, flushBudget: 0 }));
    assert.equal(events.length, 6);
    return events.map(({ text }) => {
      const event = JSON.parse(text);
      const members = event.features?.[0].properties ?? event;
      return members.location ?? members;
    });
  }

  test("is set by the hub in locations and motions of every representation, overriding the sender's", async () => {
    for (const timestamp_sent of [null, ITS_OWN]) {
      const locations = await published({ timestamp_sent, properties: PROPERTIES, accuracy: 2 });
      for (const { timestamp_sent: sent, properties, accuracy } of locations) {
        assert.deepEqual({ sent, properties, accuracy }, { sent: iso(2), properties: PROPERTIES, accuracy: 2 });
      }
    }
  });

  test('occurs once', async () => {
    const harness = await ShardHarness.open();
    const events = eventsOf(harness.tell(1, locationAt(1, 9, 50, { timestamp_sent: ITS_OWN })));
    assert.equal(events[0]?.text.split('"timestamp_sent"').length, 2);
  });

  test("is the sender's in a queried last location, even after a restart", async () => {
    const harness = await ShardHarness.open();
    harness.rows = 'all';
    const { rows } = harness.tell(1, locationAt(1, 9, 50, { timestamp_sent: ITS_OWN, properties: PROPERTIES }));
    const after = await ShardHarness.open();
    after.tell(2, trackable('cart', ['tag']), { kind: 'restore', rows, suppressUntilMs: 0 });
    for (const asked of [harness, after]) {
      const answer = asked.ask(3, { ask: 'provider_location', id: 'tag', view: { crs: 'EPSG:4326' } });
      const [text = ''] = 'texts' in answer ? answer.texts : [];
      const { timestamp_sent: sent, properties } = JSON.parse(text);
      assert.deepEqual({ sent, properties }, { sent: ITS_OWN, properties: PROPERTIES });
    }
    after.tell(4, forced(trackable('other', ['tag'])));
    assert.equal(after.observed.motions.at(-1)?.location.timestamp_sent, iso(4));
  });
});

describe('speed and course are', () => {
  test('unknown for the first location', async () => {
    const found = await observed({});
    assert.equal(found.speed, undefined);
    assert.equal(found.course, undefined);
  });

  test('computed from the previous location', async () => {
    const harness = await ShardHarness.open();
    harness.tell(0, zone());
    harness.tell(1, inHall(1, [10, 10]));
    harness.tell(3, inHall(3, [16, 18]));
    const { speed, course } = last(harness);
    assert.ok(Math.abs((speed as number) - 5) < 0.01, String(speed));
    // The hall is on the central meridian of its UTM zone, so grid north is true north to within 0.001 degrees.
    assert.ok(Math.abs((course as number) - (Math.atan2(6, 8) * 180) / Math.PI) < 0.01, String(course));
  });

  test('those of the sender, each independently', async () => {
    const harness = await ShardHarness.open();
    harness.tell(0, zone());
    harness.tell(1, inHall(1, [10, 10]));
    harness.tell(2, inHall(2, [10, 12], { speed: 9 }));
    assert.equal(last(harness).speed, 9);
    assert.ok(Math.abs(last(harness).course as number) < 0.01 || (last(harness).course as number) > 359.99);
    harness.tell(3, inHall(3, [10, 14], { course: 90 }));
    assert.equal(last(harness).course, 90);
    assert.ok(Math.abs((last(harness).speed as number) - 2) < 0.01);
  });

  test('unknown if no time has passed; a standing object has no course', async () => {
    const harness = await ShardHarness.open();
    harness.tell(0, zone());
    harness.tell(1, inHall(1, [10, 10]), inHall(1, [20, 10]));
    assert.equal(last(harness).speed, undefined);
    harness.tell(2, inHall(2, [20, 10]));
    assert.equal(last(harness).speed, 0);
    assert.equal(last(harness).course, undefined);
  });

  test('measured by event times, so that a clock ahead slows no object down', async () => {
    const harness = await ShardHarness.open();
    harness.tell(0, zone());
    harness.tell(1, inHall(1000, [10, 10]));
    harness.tell(2, inHall(5000, [13, 10]));
    assert.ok(Math.abs((last(harness).speed as number) - 3) < 0.01);
  });

  test('not computed from an outdated location', async () => {
    const harness = await ShardHarness.open();
    harness.tell(0, zone());
    harness.tell(5, inHall(5, [10, 10]));
    harness.tell(6, inHall(1, [90, 90]));
    harness.tell(7, inHall(7, [10, 12]));
    assert.ok(Math.abs((last(harness).speed as number) - 1) < 0.01);
  });
});
