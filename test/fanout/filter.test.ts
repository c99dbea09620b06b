import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { destination } from '../../src/core/geo/geodesic.ts';
import { filteredVariant } from '../../src/core/variant_filter.ts';
import { HubError } from '../../src/errors.ts';
import { compileFilter } from '../../src/fanout/filter.ts';
import { type FilterFields, TOPICS, type Topic } from '../../src/model/topics.ts';

const UUID = '6f1f4d3e-6a53-4a3e-9a43-0d8f4a4f2b11';
const OTHER = '0b680db2-b39b-45be-be77-40d7d2296cb4';

const EVENTS: Partial<Record<Topic, FilterFields>> = {
  location_updates: ['tag-1', 'hall-1', 'uwb', true, 2.5, 1, 179.9, 50],
  trackable_motions: [UUID, 'tag-1', 'AGV 7', 2.5, 1, 179.9, 50],
  fence_events: [UUID, 'dock', 'tag-1', OTHER, 'region_entry', 'trackable'],
  collision_events: [UUID, OTHER, 'collision_start', 1, 1],
  collision_forecast: [UUID, OTHER, 1],
  proximity_updates: ['tag-1', 'reader-3', 'rfid'],
  zone_changes: [UUID, 'update'],
};

/** A polygon across the antimeridian, from a longitude to 170° W, around 50° N. */
const polygon = (west: number) => ({
  type: 'Polygon',
  coordinates: [
    [
      [west, 49],
      [-170, 49],
      [-170, 51],
      [west, 51],
    ],
  ],
});

const MATCHES: readonly [Topic, Record<string, unknown>, boolean][] = [
  ['location_updates', { provider_id: 'tag-1' }, true],
  ['location_updates', { provider_id: 'TAG-1' }, false],
  ['location_updates', { provider_id: ['tag-0', 'tag-1'] }, true],
  ['location_updates', { provider_id: ['tag-0', 'tag-2'] }, false],
  ['location_updates', { provider_id: [] }, false],
  ['location_updates', { source: 'hall-1' }, true],
  ['location_updates', { source: 'hall-2' }, false],
  ['location_updates', { provider_type: 'uwb' }, true],
  ['location_updates', { provider_type: 'gps' }, false],
  ['location_updates', { associated: true }, true],
  ['location_updates', { associated: 'true' }, true],
  ['location_updates', { associated: '1' }, true],
  ['location_updates', { associated: 'false' }, false],
  ['location_updates', { accuracy: 2.5 }, true],
  ['location_updates', { accuracy: '2.6' }, true],
  ['location_updates', { accuracy: 2.4 }, false],
  ['location_updates', { floor: 1 }, true],
  ['location_updates', { floor: '1' }, true],
  ['location_updates', { floor: '1.0' }, true],
  ['location_updates', { floor: 0 }, false],
  ['location_updates', { provider_id: 'tag-1', floor: 2 }, false],
  ['location_updates', { provider_id: 'tag-1', floor: 1, accuracy: '5' }, true],
  ['trackable_motions', { id: UUID }, true],
  ['trackable_motions', { id: UUID.toUpperCase() }, true],
  ['trackable_motions', { trackable_id: UUID }, true],
  ['trackable_motions', { trackable_id: [OTHER, UUID.toUpperCase()] }, true],
  ['trackable_motions', { trackable_id: OTHER }, false],
  ['trackable_motions', { name: 'AGV 7' }, true],
  ['trackable_motions', { name: 'AGV' }, false],
  ['trackable_motions', { accuracy: 3, floor: 1 }, true],
  ['location_updates', { near: [179.9, 50], radius: 1 }, true],
  ['location_updates', { near: '-179.9,50', radius: '15000' }, true],
  ['location_updates', { near: '-179.9,50', radius: '14000' }, false],
  ['location_updates', { near: [179.9, 50], radius: 1, floor: 2 }, false],
  ['location_updates', { near: [0, 90], radius: 4_500_000 }, true],
  ['location_updates', { region: polygon(179) }, true],
  ['location_updates', { region: JSON.stringify(polygon(179)) }, true],
  ['location_updates', { region: polygon(179.95) }, false],
  ['trackable_motions', { region: polygon(179), near: [180, 50], radius: 8000 }, true],
  ['trackable_motions', { region: polygon(179), near: [180, 50], radius: 7000 }, false],
  ['trackable_motions', { region: null, id: UUID }, true],
  ['fence_events', { fence_id: UUID }, true],
  ['fence_events', { fence_id: [UUID, OTHER], event_type: 'region_entry' }, true],
  ['fence_events', { foreign_id: 'dock' }, true],
  ['fence_events', { provider_id: 'tag-1', object_type: 'trackable' }, true],
  ['fence_events', { object_type: 'location_provider' }, false],
  ['fence_events', { trackable_id: OTHER.toUpperCase() }, true],
  ['fence_events', { event_type: 'region_exit' }, false],
  ['collision_events', { collision_id_1: UUID }, true],
  ['collision_events', { collision_id_1: OTHER }, true],
  ['collision_events', { object_id_2: UUID.toUpperCase() }, true],
  ['collision_events', { collision_id_1: 'x' }, false],
  ['collision_events', { collision_id_1: OTHER, collision_id_2: UUID }, true],
  ['collision_events', { object_id_1: UUID, collision_id_2: OTHER }, true],
  ['collision_events', { collision_id_1: UUID, collision_id_2: UUID }, false],
  ['collision_events', { collision_id_1: UUID, collision_id_2: 'x' }, false],
  ['collision_events', { collision_type: 'collision_end' }, false],
  ['collision_events', { floor: '1' }, true],
  ['collision_forecast', { object_id_1: OTHER, floor: 1 }, true],
  ['collision_forecast', { collision_id_1: UUID, collision_id_2: 'x' }, false],
  ['collision_forecast', { floor: 2 }, false],
  ['proximity_updates', { source: 'reader-3', provider_type: 'rfid', provider_id: ['tag-1'] }, true],
  ['proximity_updates', { source: 'reader-4' }, false],
  ['zone_changes', { id: [UUID.toUpperCase()], event_type: 'update' }, true],
  ['zone_changes', { event_type: 'delete' }, false],
];

for (const [topic, params, expected] of MATCHES) {
  test(`a filter on ${topic} by ${JSON.stringify(params)} ${expected ? 'passes' : 'stops'} the event`, () => {
    const filter = compileFilter(topic, params);
    assert.equal(filter?.(EVENTS[topic] ?? []), expected);
  });
}

const WRONG: readonly [Topic, Record<string, unknown>, RegExp][] = [
  ['location_updates', { accuracy: 'abc' }, /^params\.accuracy: must be a number, found "abc"$/],
  ['location_updates', { accuracy: '' }, /^params\.accuracy: must be a number/],
  ['location_updates', { accuracy: [1] }, /^params\.accuracy: .* found \[\]$/],
  ['location_updates', { accuracy: Number.POSITIVE_INFINITY }, /^params\.accuracy: must be a number/],
  ['location_updates', { floor: { gt: 1 } }, /^params\.floor: .* found \{\}$/],
  ['location_updates', { associated: 'maybe' }, /^params\.associated: must be true or false, found "maybe"$/],
  ['location_updates', { associated: [] }, /^params\.associated: must be true or false, found \[\]$/],
  ['location_updates', { provider_type: 'radar' }, /^params\.provider_type: must be one of uwb, /],
  ['location_updates', { provider_id: [['a']] }, /^params\.provider_id: must be a string/],
  ['location_updates', { source: ['a'] }, /^params\.source: must be a string/],
  [
    'fence_events',
    { event_type: 'entry' },
    /^params\.event_type: must be one of region_entry, region_exit, found "entry"$/,
  ],
  ['fence_events', { object_type: 'zone' }, /^params\.object_type: /],
  ['collision_events', { object_id_1: true }, /^params\.object_id_1: /],
  ['location_updates', { near: [7, 51] }, /^params\.radius: is required, but is missing$/],
  ['location_updates', { radius: 5 }, /^params\.near: is required, but is missing$/],
  ['location_updates', { near: [7, 51], radius: 0 }, /^params\.radius: must be > 0, found 0$/],
  ['location_updates', { near: [7, 91], radius: 5 }, /^params\.near: must be a position .*found "7,91"$/],
  ['location_updates', { near: [7], radius: 5 }, /^params\.near: must be a position/],
  ['location_updates', { near: '7,x', radius: 5 }, /^params\.near: must be a number, found "x"$/],
  ['trackable_motions', { region: 'x' }, /^params\.region: must be a GeoJSON Polygon, found "x"$/],
  [
    'trackable_motions',
    { region: { type: 'Point', coordinates: [1, 2] } },
    /^params\.region: must be a GeoJSON Polygon/,
  ],
  ['trackable_motions', { region: { type: 'Polygon', coordinates: [[[1, 2]]] } }, /^params\.region: must be a GeoJSON/],
  [
    'trackable_motions',
    {
      region: {
        type: 'Polygon',
        coordinates: [
          [
            [1, 2],
            [3, 99],
            [4, 5],
          ],
        ],
      },
    },
    /^params\.region: must be a position/,
  ],
  [
    'trackable_motions',
    { region: { type: 'Polygon', coordinates: [Array.from({ length: 1001 }, () => [1, 2])] } },
    /^params\.region: must have at most 1,?000 positions, found 1,?001/,
  ],
  ['zone_changes', { event_type: 'region_entry' }, /^params\.event_type: must be one of create, update, delete/],
];

for (const [topic, params, message] of WRONG) {
  test(`compileFilter rejects ${JSON.stringify(params)} on ${topic}`, () => {
    assert.throws(
      () => compileFilter(topic, params),
      (error) => error instanceof HubError && error.code === 'HUB_BAD_REQUEST' && message.test(error.message),
    );
  });
}

test('compileFilter creates no filter for parameters that are absent, null, unknown or inherited', () => {
  const params = JSON.parse('{"token":"t","crs":"local","floor":null,"__proto__":{"floor":3},"constructor":1}');
  for (const topic of Object.keys(TOPICS) as Topic[]) assert.equal(compileFilter(topic, params), undefined);
  assert.equal(compileFilter('location_updates', Object.create({ floor: 3 })), undefined);
});

test('a filter stops every event that lacks the compared value', () => {
  const values: Record<string, unknown> = {
    accuracy: 9e9,
    floor: 0,
    associated: false,
    provider_type: 'uwb',
    state: 'raised',
  };
  for (const topic of Object.keys(TOPICS) as Topic[]) {
    for (const param of TOPICS[topic]) {
      if (topic.startsWith('collision_') || ['event_type', 'object_type', 'lon', 'lat'].includes(param)) continue;
      const filter = compileFilter(topic, { [param]: values[param] ?? 'x' });
      assert.equal(filter?.(TOPICS[topic].map(() => undefined)), false, `${topic} ${param}`);
    }
  }
});

test('every position that a filter by an area passes is in the box by which shards select events', () => {
  const degrees = (most: number) => fc.double({ min: -most, max: most, noNaN: true });
  const at: [number, number] = [0, 0];
  fc.assert(
    fc.property(
      degrees(180),
      degrees(90),
      fc.integer({ min: 0, max: 7 }),
      degrees(180),
      (lon, lat, digits, bearing) => {
        const radius = 10 ** digits;
        const filter = compileFilter('trackable_motions', { near: [lon, lat], radius });
        assert.ok(filter?.box !== undefined);
        const wanted = { keys: [], limits: [], boxes: [filter.box] };
        const variant = filteredVariant({ id: 1, topic: 'trackable_motions', crs: 'EPSG:4326', wanted });
        for (const share of [0.5, 0.99, 1.01]) {
          destination(lon, lat, bearing, share * radius, at);
          const fields = ['t', 'p', undefined, 1, 0, ...at];
          assert.equal(filter(fields), share < 1);
          if (share < 1) assert.equal(variant.wants?.(fields), true, JSON.stringify({ at, box: filter.box }));
        }
      },
    ),
    { seed: 3, numRuns: 2000 },
  );
  const outside = filteredVariant({
    ...{ id: 1, topic: 'trackable_motions', crs: 'EPSG:4326' },
    wanted: { keys: [], limits: [], boxes: [{ at: 5, west: 179, south: 49, east: 190, north: 51 }] },
  });
  assert.equal(outside.wants?.(['t', 'p', undefined, 1, 0, -169, 50]), false);
  assert.equal(outside.wants?.(['t', 'p', undefined, 1, 0, -171, 50]), true);
});

test('a filter by several ids passes the union of the filters by one id', () => {
  const id = fc.oneof(fc.constantFrom('a', 'A', 'b', UUID, UUID.toUpperCase(), OTHER), fc.string());
  fc.assert(
    fc.property(fc.array(id, { minLength: 1, maxLength: 4 }), id, (ids, found) => {
      const fields = [found, undefined];
      const each = ids.map((one) => compileFilter('zone_changes', { id: one })?.(fields));
      assert.equal(compileFilter('zone_changes', { id: ids })?.(fields), each.includes(true));
    }),
    { seed: 7, numRuns: 200 },
  );
});
