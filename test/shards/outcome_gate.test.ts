import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { lend, look } from '../../src/model/borrowed.ts';
import { OutcomeGate } from '../../src/shards/outcome_gate.ts';
import type { ShardReply } from '../../src/wire/messages.ts';
import { packedRows } from '../../src/wire/store_messages.ts';

const memory = Buffer.alloc(8);

/** The reply to a step, whose bytes are overwritten by the next one. */
function reply(number: number): ShardReply {
  memory.writeDoubleLE(number);
  const none = packedRows([]);
  const outcome = {
    ...{ rows: none, backgroundRows: none, dirtyCount: 0, effects: lend(memory), answers: [], zoneMoves: [] },
    ...{
      counts: { processed: 0, outdated: 0, rejected: 0, outliers: 0, entries: 0, exits: 0, motions: 0 },
      nextDeadlineMs: Infinity,
    },
  };
  const events = [{ variant: 1, bytes: lend(memory), ends: Uint32Array.of(8), fields: undefined }];
  return { outcome, events, motions: undefined };
}

interface Step {
  readonly kept: PromiseWithResolvers<void> | undefined;
  readonly released: Promise<void> | undefined;
}

/** A gate, its steps, and the sequences of the released ones. */
function gateOf(areKept: readonly boolean[]) {
  const out: number[] = [];
  const failed: number[] = [];
  let next: Step['kept'];
  const gate = new OutcomeGate({
    commit: () => next?.promise,
    release({ events }) {
      out.push(Buffer.from(look((events[0] as ShardReply['events'][number]).bytes)).readDoubleLE());
      return undefined;
    },
    failed: ({ events }) => {
      failed.push(Buffer.from(look((events[0] as ShardReply['events'][number]).bytes)).readDoubleLE());
    },
  });
  const steps = areKept.map((isCommitted, number): Step => {
    next = isCommitted ? Promise.withResolvers<void>() : undefined;
    return { kept: next, released: gate.take(reply(number)) };
  });
  return { gate, out, failed, steps };
}

test('Steps are released in order, each after it and all earlier ones are committed, with unchanged bytes', async () => {
  const property = fc.asyncProperty(
    fc.array(fc.boolean(), { minLength: 1, maxLength: 12 }),
    fc.infiniteStream(fc.nat(1000)),
    async (areKept, places) => {
      const { gate, out, steps } = gateOf(areKept);
      const waiting = steps.flatMap(({ kept }, number) => (kept === undefined ? [] : [{ number, kept }]));
      const isFirstWaiting = (number: number): boolean => waiting.every((each) => each.number > number);
      const due = (): number[] => steps.map((_, number) => number).filter(isFirstWaiting);
      assert.deepEqual(out, due());
      while (waiting.length > 0) {
        const [{ kept }] = waiting.splice((places.next().value as number) % waiting.length, 1) as [
          (typeof waiting)[number],
        ];
        kept.resolve();
        await new Promise(setImmediate);
        assert.deepEqual(out, due());
      }
      await Promise.all(steps.map(({ released }) => released));
      await gate.released;
      assert.equal(gate.released, undefined);
    },
  );
  await fc.assert(property, { seed: 3, numRuns: 200 });
});

test('Nothing is released after a step that cannot be committed', async () => {
  const { gate, out, failed, steps } = gateOf([true, true, true]);
  const results = Promise.allSettled(steps.map(({ released }) => released));
  steps[2]?.kept?.resolve();
  steps[0]?.kept?.resolve();
  steps[1]?.kept?.reject(new Error('sealed'));
  assert.deepEqual(
    (await results).map(({ status }) => status),
    ['fulfilled', 'rejected', 'rejected'],
  );
  assert.deepEqual([out, failed], [[0], [1, 2]]);
  await assert.rejects(gate.released as Promise<void>, /sealed/);
});
