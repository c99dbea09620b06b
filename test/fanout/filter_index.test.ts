import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { both, compileFilter, type Filter } from '../../src/fanout/filter.ts';
import { FilterIndex } from '../../src/fanout/filter_index.ts';
import type { FilterFields } from '../../src/model/topics.ts';

const UUID = '0b680db2-b39b-45be-be77-40d7d2296cb4';
const id = fc.constantFrom('a', 'b', 'A', '', '7', UUID, UUID.toUpperCase());
const params = fc.record(
  {
    provider_id: fc.oneof(id, fc.array(id, { maxLength: 3 }), fc.constant(7)),
    source: id,
    floor: fc.constantFrom(0, 1),
    accuracy: fc.constantFrom(0.5, 2),
  },
  { requiredKeys: [] },
);
const event: fc.Arbitrary<FilterFields> = fc.tuple(
  fc.option(id, { nil: undefined }),
  id,
  fc.constant('uwb'),
  fc.constant(undefined),
  fc.constantFrom(0, 1, 3, undefined),
  fc.constantFrom(0, 1, undefined),
);

test('FilterIndex finds the matching events of each subscription after random additions and removals', () => {
  const filters = fc.array(fc.tuple(params, fc.boolean(), fc.boolean()), { maxLength: 12 });
  fc.assert(
    fc.property(filters, fc.array(event, { maxLength: 8 }), (all, events) => {
      const index = new FilterIndex<{ filter: Filter }>();
      const staying: { filter: Filter }[] = [];
      for (const [given, stays, isOnFloor] of all) {
        const own = compileFilter('location_updates', given);
        const filter = isOnFloor ? both(own, (fields) => fields[5] === 0) : own;
        if (filter === undefined) continue;
        const subscription = { filter };
        index.add(subscription);
        if (stays) staying.push(subscription);
        else index.delete(subscription);
      }
      assert.equal(index.size, staying.length);
      const found = index.match(events);
      for (const subscription of staying) {
        const expected = [...events.keys()].filter((place) => subscription.filter(events[place] as FilterFields));
        assert.deepEqual(found.get(subscription) ?? [], expected);
        found.delete(subscription);
      }
      assert.equal(found.size, 0);
    }),
    { seed: 17, numRuns: 400 },
  );
});
