import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { WaitingEvents } from '../../src/store/waiting_events.ts';

const BYTES_MAX = 100;

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('put' as const), bytes: fc.integer({ min: 1, max: 60 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom('committed' as const, 'failed' as const) }) },
);

test('waiting events are committed once and in order, or a later commit reports that earlier ones were dropped', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const events = new WaitingEvents(BYTES_MAX);
      /** Size of each event, whose bytes are its number; the number of events in flight or before, and of those settled. */
      const sizes: number[] = [];
      let begun = 0;
      let settled = 0;
      for (const each of steps) {
        if (each.do === 'put') {
          const { bytes } = each;
          events.put((to) => {
            const at = to.begin(bytes + 10);
            to.bytes.fill(sizes.length, at, at + bytes);
            to.end(at + bytes);
          });
          sizes.push(bytes);
          continue;
        }
        if (each.do === 'failed') events.failed();
        else {
          const { bytes, count } = events.inFlight.after({ size: 0, count: 0 });
          const from = begun - count;
          const expected = sizes.slice(from, begun).flatMap((size, i) => Array.from({ length: size }, () => from + i));
          assert.deepEqual([...bytes], expected);
          assert.equal(events.hasLost, from > settled);
          const waited = sizes.slice(settled).reduce((sum, size) => sum + size, 0);
          if (events.hasLost) assert.ok(waited > BYTES_MAX, `only ${waited} bytes were waiting`);
          events.committed();
          settled = begun;
        }
        events.begin();
        begun = sizes.length;
      }
    }),
    { numRuns: 1000 },
  );
});
