import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { RowQueue } from '../../src/store/row_queue.ts';
import { packedRows } from '../../src/wire/store_messages.ts';
import { row } from './rows.ts';

type Step = { readonly do: 'put'; readonly number: number } | { readonly do: 'take' | 'committed' | 'failed' };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('put' as const), number: fc.integer({ min: 0, max: 9 }) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('take' as const, 'committed' as const, 'failed' as const) }),
  },
);

test('RowQueue ends with the newest row of each object, for any sequence of takes, successes and failures', () => {
  const steps = fc.array(step, { maxLength: 120 });
  fc.assert(
    fc.property(steps, fc.constantFrom(1, 2000, Infinity), (history, bytesMax) => {
      const queue = new RowQueue({ bytesMax, bytesBeforeLook: 0 });
      const newest = new Map<string, number>();
      const stored = new Map<string, number>();
      let flight: ReturnType<RowQueue['take']> | undefined;
      const keep = (): void => {
        for (const { id, ...own } of flight ?? []) stored.set(id, 'receivedMs' in own ? own.receivedMs : 0);
        flight = undefined;
        queue.stored();
      };
      for (const [at, each] of history.entries()) {
        if (each.do === 'put') {
          queue.put(packedRows([row(each.number, { atMs: at })]));
          newest.set(`tag-${each.number}`, at + each.number);
        } else if (each.do === 'take') {
          if (flight === undefined) flight = queue.take();
        } else if (flight !== undefined && each.do === 'committed') keep();
        else if (flight !== undefined) {
          queue.failed(new Error('not now'));
          flight = undefined;
        }
        // As many are waiting, and a row has just arrived.
        assert.ok(queue.size <= 4 * newest.size + 1, `${queue.size} rows of ${newest.size} objects`);
      }
      if (flight !== undefined) keep();
      while (queue.size > 0) {
        flight = queue.take();
        if (bytesMax === 1) assert.equal(flight.count, 1);
        keep();
      }
      assert.deepEqual(stored, newest);
    }),
    { seed: 7, numRuns: 400 },
  );
});

test('RowQueue takes about as many bytes as permitted, in the order of arrival', () => {
  const { size } = packedRows([row(1)]);
  const queue = new RowQueue({ bytesMax: 3.5 * size });
  queue.put(packedRows(Array.from({ length: 8 }, (_, number) => ({ ...row(1), id: `tag-${number + 1}` }))));
  const taken: string[][] = [];
  while (queue.size > 0) {
    taken.push(Array.from(queue.take(), ({ id }) => id));
    queue.stored();
  }
  assert.deepEqual(taken, [
    ['tag-1', 'tag-2', 'tag-3'],
    ['tag-4', 'tag-5', 'tag-6'],
    ['tag-7', 'tag-8'],
  ]);
});
