import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DeadlineHeap } from '../../src/core/deadline_heap.ts';

test('DeadlineHeap pops in order of time, with the latest or earliest push of each subject', () => {
  const commands = fc.array(fc.tuple(fc.constantFrom('push', 'remove', 'pop'), fc.nat(9), fc.nat(20)), {
    maxLength: 80,
  });
  fc.assert(
    fc.property(commands, (list) => {
      const subjects = Array.from({ length: 10 }, (_, id) => ({ id, heapIndex: -1 }));
      const heap = new DeadlineHeap<(typeof subjects)[number]>();
      const model = new Map<number, number>();
      for (const [command, id, time] of list) {
        const subject = subjects[id];
        assert.ok(subject);
        if (command === 'push') {
          heap.push(time, subject);
          model.set(id, Math.min(time, model.get(id) ?? Number.POSITIVE_INFINITY));
        } else if (command === 'remove') {
          heap.remove(subject);
          model.delete(id);
        } else {
          const due = Math.min(...model.values());
          const popped = heap.popDue(time);
          if (due > time) assert.equal(popped, undefined);
          else {
            assert.ok(popped);
            assert.equal(model.get(popped.id), due);
            model.delete(popped.id);
          }
        }
        assert.equal(heap.size, model.size);
        assert.equal(heap.nextMs, Math.min(...model.values()));
      }
    }),
    { seed: 1, numRuns: 300 },
  );
});

test('DeadlineHeap ignores an infinite deadline', () => {
  const heap = new DeadlineHeap<{ heapIndex: number }>();
  heap.push(Number.POSITIVE_INFINITY, { heapIndex: -1 });
  assert.equal(heap.size, 0);
});
