import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { Batch } from '../../src/fanout/batch.ts';
import { InTurn } from '../../src/fanout/in_turn.ts';
import { batchesOf, type EventBatch } from '../../src/model/event_batch.ts';

function block(...texts: readonly string[]): readonly EventBatch[] {
  return batchesOf(texts.map((text) => ({ variant: 1, fields: [], text })));
}

function openInTurn() {
  const published: string[] = [];
  const inTurn = new InTurn((events) =>
    published.push(...events.flatMap(({ bytes, ends }) => new Batch(bytes, ends).texts)),
  );
  return { inTurn, published };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('InTurn publishes at once what waits for nothing', () => {
  const { inTurn, published } = openInTurn();
  inTurn.publish(block('a', 'b'), undefined);
  assert.deepEqual(published, ['a', 'b']);
  assert.equal(inTurn.held, 0);
});

test('InTurn lets nothing overtake what waits, and counts it', async () => {
  const { inTurn, published } = openInTurn();
  const first = Promise.withResolvers<void>();
  const second = Promise.withResolvers<void>();
  inTurn.publish(block('a', 'b'), first.promise);
  inTurn.publish(block('c'), undefined);
  inTurn.publish(block('d'), second.promise);
  second.resolve();
  await turn();
  assert.deepEqual(published, []);
  assert.equal(inTurn.held, 4);
  first.resolve();
  await turn();
  assert.deepEqual(published, ['a', 'b', 'c', 'd']);
  assert.equal(inTurn.held, 0);
});

test('InTurn publishes what it was to wait for a work that fails', async () => {
  const { inTurn, published } = openInTurn();
  inTurn.publish(block('a'), Promise.reject(new Error('disk full')));
  inTurn.publish(block('b'), undefined);
  await turn();
  assert.deepEqual(published, ['a', 'b']);
});

test('InTurn publishes everything once and in order, whenever works end', async () => {
  const plans = fc.array(fc.record({ events: fc.nat(3), endsAs: fc.option(fc.nat(20)), fails: fc.boolean() }));
  await fc.assert(
    fc.asyncProperty(plans, async (plan) => {
      const { inTurn, published } = openInTurn();
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
        inTurn.publish(block(...texts), endsAs === null ? undefined : work.promise);
        assert.equal(inTurn.held, expected.length - published.length);
      }
      for (const { end } of ends.sort((a, b) => a.at - b.at)) {
        end();
        await turn();
        assert.equal(inTurn.held, expected.length - published.length);
      }
      assert.deepEqual(published, expected);
    }),
    { seed: 1 },
  );
});
