import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { HubError } from '../../src/errors.ts';
import { compileFilter } from '../../src/fanout/filter.ts';
import { type FilterFields, TOPICS, type Topic } from '../../src/model/topics.ts';

const UUID = '6f1f4d3e-6a53-4a3e-9a43-0d8f4a4f2b11';
const OTHER = '0b680db2-b39b-45be-be77-40d7d2296cb4';

const EVENTS: Partial<Record<Topic, FilterFields>> = {
  location_updates: ['tag-1', 'hall-1', 'uwb', true, 2.5, 1],
  trackable_motions: [UUID, 'tag-1', 'AGV 7', 2.5, 1],
  fence_events: [UUID, 'dock', 'tag-1', OTHER, 'region_entry', 'trackable'],
  collision_events: [UUID, OTHER, 'collision_start', 1, 1],
  proximity_updates: ['tag-1', 'reader-3', 'rfid'],
  zone_changes: [UUID, 'update'],
};

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
      if (topic === 'collision_events' || param === 'event_type' || param === 'object_type') continue;
      const filter = compileFilter(topic, { [param]: values[param] ?? 'x' });
      assert.equal(filter?.(TOPICS[topic].map(() => undefined)), false, `${topic} ${param}`);
    }
  }
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
