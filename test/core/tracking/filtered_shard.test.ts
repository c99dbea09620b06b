import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LastKnownRow } from '../../../src/core/item.ts';
import type { Filter } from '../../../src/model/filter.ts';
import type { Location } from '../../../src/model/location.ts';
import { square } from '../../support/hall.ts';
import { fence, inHall, locationAt, provider, ShardHarness, trackable, zone } from '../../support/shard_harness.ts';

const CV: Filter = { kind: 'cv' };
const DEGREES_PER_METER = 1 / 111_195;

interface Opened {
  readonly filter?: Filter;
  readonly ofTrackable?: Filter;
  readonly providers?: readonly string[];
}

async function open({ filter = CV, ofTrackable, providers = ['tag'] }: Opened = {}): Promise<ShardHarness> {
  const harness = await ShardHarness.open();
  harness.tell(0, zone(), fence(square({ id: 'dock' })), ...providers.map((id) => provider(id, { filter })));
  harness.tell(0, trackable('cart', providers, ofTrackable === undefined ? {} : { filter: ofTrackable }));
  return harness;
}

/** A location that stands still, at the equator, with an error in meters to the north. */
function still(second: number, north = 0, more: Partial<Location> = {}) {
  return locationAt(second, 8, north * DEGREES_PER_METER, { accuracy: 0.3, ...more });
}

/** Meters to the north. */
function northOf({ position }: Location): number {
  return (position.coordinates[1] as number) / DEGREES_PER_METER;
}

test('location_updates carries the location as sent, and the motion the filtered one with accuracy, speed and course', async () => {
  const harness = await open();
  for (let i = 0; i < 30; i++) harness.tell(i / 10, still(i / 10, i % 2 === 0 ? 0.3 : -0.3, { properties: { n: i } }));
  const { locations, motions } = harness.observed;
  const [sent, { location: moved }] = [locations.at(-1), motions.at(-1)] as [Location, { location: Location }];
  assert.ok(Math.abs(northOf(sent) + 0.3) < 1e-3);
  assert.deepEqual(sent.properties, { n: 29 });
  assert.equal(sent.accuracy, 0.3);
  assert.ok(Math.abs(northOf(moved)) < 0.1, `${northOf(moved)}`);
  assert.deepEqual(moved.properties, { n: 29, 'hub.filtered': true });
  assert.ok((moved.accuracy as number) < 0.2 && (moved.accuracy as number) > 0.05);
  assert.ok((moved.speed as number) < 0.3);
  assert.equal(moved.timestamp_generated, sent.timestamp_generated);
  assert.deepEqual(moved.trackables, ['cart']);
});

test('an outlier is published as such and counted, and moves neither trackable nor memberships', async () => {
  const harness = await open();
  for (let i = 0; i < 10; i++) harness.tell(i / 10, inHall(i / 10, [5, 5], { accuracy: 0.3 }));
  assert.equal(harness.takeFenceEvents().length, 2);
  const before = harness.takeMotions().length;
  const { counts } = harness.tell(1, inHall(1, [45, 5], { accuracy: 0.3 }));
  assert.equal(counts.outliers, 1);
  assert.equal(counts.processed, 1);
  assert.deepEqual([harness.takeFenceEvents(), harness.takeMotions()], [[], []]);
  assert.deepEqual(harness.observed.locations.at(-1)?.properties, {
    'hub.outlier': true,
    'hub.outlier_reason': 'gate',
  });
  const answer = harness.ask(1, { ask: 'provider_location', id: 'tag', view: { crs: 'EPSG:4326' } });
  assert.match(JSON.stringify(answer), /hub\.outlier/);
  harness.tell(1.1, inHall(1.1, [5, 5], { accuracy: 0.3 }));
  assert.equal(harness.takeMotions().length, 1);
  assert.equal(before, 10);
});

test('an outlier that would need more than `max_speed` says so, and the next one beyond the gate says that', async () => {
  const harness = await open({ filter: { kind: 'cv', max_speed: 3, reset_after: 9 } });
  const reasonAfter = (second: number, y: number) => {
    harness.tell(second, still(second, y, { properties: { 'hub.outlier_reason': 'of the sender' } }));
    return harness.observed.locations.at(-1)?.properties?.['hub.outlier_reason'];
  };
  for (let i = 0; i < 30; i++) assert.equal(reasonAfter(i / 10, 0), 'of the sender');
  assert.equal(reasonAfter(3, 50), 'max_speed');
  harness.tell(3.05, provider('tag', { filter: { kind: 'cv', reset_after: 9 } }));
  assert.equal(reasonAfter(3.1, -50), 'gate');
  assert.equal(reasonAfter(3.2, 0), 'of the sender');
});

test('after `reset_after` outliers in agreement, the trackable is at the new place', async () => {
  const harness = await open();
  for (let i = 0; i < 10; i++) harness.tell(i / 10, inHall(i / 10, [5, 5], { accuracy: 0.3 }));
  harness.takeFenceEvents();
  for (let i = 10; i < 13; i++) harness.tell(i / 10, inHall(i / 10, [45, 5], { accuracy: 0.3 }));
  assert.deepEqual(
    harness.takeFenceEvents().map(({ event_type: type }) => type),
    ['region_exit', 'region_exit'],
  );
});

test('the value of a provider overrides that of its only trackable, its type and the configuration', async () => {
  const filters = { all: CV, types: { uwb: { kind: 'none' }, gps: { gate: 1e9 } } } as const;
  const outliersOf = async (type: 'uwb' | 'gps' | 'wifi', ofProvider?: Filter, ofTrackable?: Filter) => {
    const harness = await ShardHarness.open({ filters });
    harness.tell(
      0,
      provider('tag', { filter: ofProvider ?? null }),
      trackable('cart', ['tag'], { filter: ofTrackable ?? null }),
    );
    let outliers = 0;
    for (let i = 0; i < 11; i++) {
      const { counts } = harness.tell(i, still(i, i === 10 ? 400 : 0, { provider_type: type }));
      outliers += counts.outliers;
    }
    const last = harness.takeMotions().at(-1)?.location.properties;
    return [outliers, last === undefined ? 'raw' : 'filtered'];
  };
  assert.deepEqual(await outliersOf('wifi'), [1, 'filtered']);
  assert.deepEqual(await outliersOf('gps'), [0, 'filtered']);
  assert.deepEqual(await outliersOf('uwb'), [0, 'raw']);
  assert.deepEqual(await outliersOf('uwb', undefined, CV), [1, 'filtered']);
  assert.deepEqual(await outliersOf('uwb', { kind: 'none' }, CV), [0, 'raw']);
  assert.deepEqual(await outliersOf('wifi', { gate: 1e9 }, CV), [0, 'filtered']);
  assert.deepEqual(await outliersOf('wifi', { gate: 1e9 }, { gate: 1 }), [0, 'filtered']);
});

test('a changed filter applies from the next location, also while the object is tracked', async () => {
  const harness = await open({ filter: { kind: 'none' } });
  const propertiesAfter = (second: number, filter: Filter | null) => {
    harness.tell(second, provider('tag', { filter }));
    harness.tell(second, still(second));
    return harness.takeMotions().at(-1)?.location.properties;
  };
  assert.equal(propertiesAfter(1, { kind: 'none' }), undefined);
  assert.deepEqual(propertiesAfter(2, CV), { 'hub.filtered': true });
  assert.deepEqual(propertiesAfter(3, { kind: 'cv', gate: 5 }), { 'hub.filtered': true });
  assert.equal(propertiesAfter(4, null), undefined);
});

test('with `fuse` the locations of all providers feed one filter, by their accuracy', async () => {
  const harness = await open({ providers: ['a', 'b'], ofTrackable: { kind: 'cv', fuse: true } });
  for (let i = 0; i < 40; i++) {
    const [id, north, accuracy] = i % 2 === 0 ? (['a', 0, 0.3] as const) : (['b', 1, 3] as const);
    harness.tell(i / 10, still(i / 10, north, { provider_id: id, accuracy }));
  }
  const motions = harness.takeMotions();
  assert.equal(motions.length, 40);
  const last = motions.at(-1)?.location as Location;
  // The weights are 100 to 1.
  assert.ok(northOf(last) > 0 && northOf(last) < 0.1, `${northOf(last)}`);
});

test('a position in meters of a zone, and its velocity, move with the zone', async () => {
  const harness = await open();
  for (let i = 0; i < 20; i++) harness.tell(i / 10, inHall(i / 10, [i / 10, 5], { accuracy: 0.3 }));
  const [before] = harness.takeMotions().slice(-1);
  const rows = ((zone() as { entity: { ground_control_points: number[][] } }).entity.ground_control_points ?? []).map(
    ([x = 0, y = 0], i) => (i % 2 === 0 ? [x + 0.001, y] : [x, y]),
  );
  const hall = (zone() as { entity: object }).entity;
  harness.tell(2, zone({ ...hall, ground_control_points: rows } as never));
  const [after] = harness.takeMotions().slice(-1);
  const lon = (motion: typeof before) => motion?.location.position.coordinates[0] as number;
  assert.ok(Math.abs(lon(after) - lon(before) - 0.001) < 1e-8);
  assert.equal(after?.location.speed, before?.location.speed);
});

test('a restored shard continues the track of an object, and one from before filters existed', async () => {
  const harness = await open();
  harness.rows = 'all';
  for (let i = 0; i < 20; i++) harness.tell(i / 10, still(i / 10, i % 2 === 0 ? 0.3 : -0.3));
  const rows = new Map<string, LastKnownRow>();
  for (const outcome of harness.outcomes) for (const row of outcome.rows) rows.set(`${row.kind} ${row.id}`, row);
  const continued = async (kept: readonly LastKnownRow[]) => {
    const other = await open();
    other.tell(2, { kind: 'restore', rows: kept, suppressUntilMs: 0 });
    other.tell(2, still(2, 0.3));
    return other.takeMotions().at(-1)?.location as Location;
  };
  harness.takeMotions();
  harness.tell(2, still(2, 0.3));
  const expected = harness.takeMotions().at(-1)?.location as Location;
  const found = await continued([...rows.values()]);
  assert.deepEqual({ ...found, timestamp_sent: '' }, { ...expected, timestamp_sent: '' });
  const old = [...rows.values()].map((row) => {
    const { location } = row as { location: string };
    return { ...row, location: location.replace(/,"track":"[^"]*"/, '') } as LastKnownRow;
  });
  assert.ok(Math.abs(northOf(await continued(old)) - 0.3) < 1e-3);
});

test('without a filter a fix has no memory for a track', async () => {
  const harness = await open({ filter: { kind: 'none' } });
  harness.tell(1, still(1));
  assert.equal(harness.shard.state.providers.get('tag')?.fix?.hasTrack, false);
});
