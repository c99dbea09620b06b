import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DeliveryBatch } from '../../src/fanout/batch.ts';
import { CommitGate } from '../../src/fanout/commit_gate.ts';
import { look } from '../../src/model/borrowed.ts';
import type { EventBatch } from '../../src/model/event_batch.ts';
import { batchesOf } from '../support/event_batches.ts';

function block(...texts: readonly string[]): readonly EventBatch[] {
  return batchesOf(texts.map((text) => ({ variant: 1, fields: [], text })));
}

function openGate() {
  const published: string[] = [];
  const gate = new CommitGate((events) =>
    published.push(...events.flatMap(({ bytes, ends }) => new DeliveryBatch(look(bytes), ends).strings)),
  );
  return { gate, published };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('CommitGate immediately publishes events that wait for nothing', () => {
  const { gate, published } = openGate();
  gate.publish(block('a', 'b'), undefined);
  assert.deepEqual(published, ['a', 'b']);
  assert.equal(gate.held, 0);
});

test('CommitGate lets no event overtake waiting ones, and counts them', async () => {
  const { gate, published } = openGate();
  const first = Promise.withResolvers<void>();
  const second = Promise.withResolvers<void>();
  gate.publish(block('a', 'b'), first.promise);
  gate.publish(block('c'), undefined);
  gate.publish(block('d'), second.promise);
  second.resolve();
  await turn();
  assert.deepEqual(published, []);
  assert.equal(gate.held, 4);
  first.resolve();
  await turn();
  assert.deepEqual(published, ['a', 'b', 'c', 'd']);
  assert.equal(gate.held, 0);
});

test('CommitGate publishes events whose awaited work fails', async () => {
  const { gate, published } = openGate();
  gate.publish(block('a'), Promise.reject(new Error('disk full')));
  gate.publish(block('b'), undefined);
  await turn();
  assert.deepEqual(published, ['a', 'b']);
});

test('CommitGate publishes everything once and in order, in whatever order work completes', async () => {
  const plans = fc.array(fc.record({ events: fc.nat(3), endsAs: fc.option(fc.nat(20)), fails: fc.boolean() }));
  await fc.assert(
    fc.asyncProperty(plans, async (plan) => {
      const { gate, published } = openGate();
      const ends: { readonly at: number; end(): void }[] = [];
      const expected: string[] = [];
      for (const [index, { events, endsAs, fails }] of plan.entries()) {
        const texts = Array.from({ length: events }, (_, place) => `${index}.${place}`);
        expected.push(...texts);
        const work = Promise.withResolvers<void>();
        if (endsAs !== null) {
          const end = () => (fails ? work.reject(new Error('failed')) : work.resolve());
          ends.push({ at: endsAs, end });
        }
        gate.publish(block(...texts), endsAs === null ? undefined : work.promise);
        assert.equal(gate.held, expected.length - published.length);
      }
      for (const { end } of ends.sort((a, b) => a.at - b.at)) {
        end();
        await turn();
        assert.equal(gate.held, expected.length - published.length);
      }
      assert.deepEqual(published, expected);
    }),
    { seed: 1 },
  );
});
