import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ReorderBuffer } from '../../src/cluster/fanout/reorder_buffer.ts';
import { SentBudget, SentMessages } from '../../src/cluster/fanout/sent_messages.ts';

test('InOrder delivers every message in order and once, for any order and number of arrivals', () => {
  const coming = fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 60 });
  fc.assert(
    fc.property(coming, fc.nat(12), (numbers, skipped) => {
      const order = new ReorderBuffer<number>(1);
      const got: number[] = [];
      const take = (): void => {
        for (let next = order.takeNext(); next !== undefined; next = order.takeNext()) got.push(next);
      };
      for (const number of numbers) {
        const came = order.come(number);
        if (came === 'inTurn') got.push(number);
        if (came === 'early') order.keep(number, number);
        take();
      }
      const seen = new Set(numbers);
      const gap = Array.from({ length: 12 }, (_, i) => i + 1).find((number) => !seen.has(number)) ?? 13;
      assert.deepEqual(
        got,
        Array.from({ length: gap - 1 }, (_, i) => i + 1),
      );
      const { missing } = order;
      assert.deepEqual(
        order.gaps(100).flatMap(({ first, last }) => Array.from({ length: last - first + 1 }, (_, i) => first + i)),
        Array.from({ length: Math.max(0, ...numbers) }, (_, i) => i + 1).filter((number) => !seen.has(number)),
      );
      assert.deepEqual(order.gaps(1), missing === undefined ? [] : [missing]);
      assert.equal(missing?.first, Math.max(0, ...numbers) > gap ? gap : undefined);
      for (let { missing: next } = order; next !== undefined && next.first <= skipped; { missing: next } = order) {
        for (let number = next.first; number <= next.last; number++) assert.ok(!seen.has(number), `${number}`);
        order.skip(Math.min(next.last, skipped));
        take();
      }
      assert.deepEqual(
        got,
        [...got].sort((a, b) => a - b),
      );
      const upTo = Math.max(...got, order.missing === undefined ? 0 : Math.max(skipped, gap - 1));
      assert.deepEqual(
        got,
        [...seen].filter((number) => number <= upTo).sort((a, b) => a - b),
      );
    }),
    { seed: 7, numRuns: 2000 },
  );
});

test('InOrder starts with the first message by default', () => {
  const order = new ReorderBuffer<number>(undefined);
  assert.deepEqual([order.missing, order.has(5)], [undefined, true]);
  assert.deepEqual([order.come(7), order.come(6), order.missing], ['inTurn', 'again', undefined]);
  order.reach(9);
  assert.deepEqual([order.missing, order.has(7), order.has(8)], [{ first: 8, last: 9 }, true, false]);
  const other = new ReorderBuffer<number>(undefined);
  other.reach(3);
  assert.deepEqual([other.missing, other.come(3), other.come(4)], [undefined, 'again', 'inTurn']);
});

const message = (number: number, length: number): Uint8Array => new Uint8Array(length).fill(number % 251);

test('SentMessages keeps the newest messages as they were, as many as have room', () => {
  const lengths = fc.array(fc.oneof(fc.nat(300), fc.integer({ min: 100_000, max: 3_000_000 })), { maxLength: 40 });
  fc.assert(
    fc.property(lengths, (sizes) => {
      const sent = new SentMessages(new SentBudget());
      for (const [i, size] of sizes.entries()) sent.add(i + 1, message(i + 1, size));
      const { lost, messages } = sent.again(1, sizes.length);
      assert.equal(lost + messages.length, sizes.length);
      for (const [i, bytes] of messages.entries()) {
        const number = lost + 1 + i;
        assert.deepEqual([bytes.length, bytes.every((byte) => byte === number % 251)], [sizes[number - 1], true]);
      }
      const all = sizes.reduce((sum, size) => sum + size, 0);
      const kept = messages.reduce((sum, { length }) => sum + length, 0);
      assert.ok(kept >= Math.min(all, (8 << 20) - 2 * 3_000_000), `${kept} of ${all}`);
    }),
    { seed: 7, numRuns: 60 },
  );
});

test('SentMessages reports unavailable messages, and drops them after two to three heartbeats', () => {
  const sent = new SentMessages(new SentBudget());
  for (const number of [1, 2, 4, 5]) sent.add(number, message(number, 10));
  const again = (first: number, last: number) => {
    const { lost, messages } = sent.again(first, last);
    return [lost, ...messages.map(([byte]) => byte)];
  };
  assert.deepEqual([again(1, 2), again(1, 5), again(4, 5), again(3, 3)], [[0, 1, 2], [3, 4, 5], [0, 4, 5], [3]]);
  sent.beat();
  sent.add(6, message(6, 10));
  sent.beat();
  assert.deepEqual(again(4, 6), [0, 4, 5, 6]);
  sent.beat();
  assert.deepEqual(again(4, 6), [5, 6]);
  sent.beat();
  assert.deepEqual(again(4, 6), [6]);
});

test('SentMessages of many receivers share 32 MiB, and idle ones release theirs', () => {
  const budget = new SentBudget();
  const all = Array.from({ length: 8 }, () => new SentMessages(budget));
  const keptBy = (sent: SentMessages): number => 16 - sent.again(1, 16).lost;
  for (let number = 1; number <= 16; number++) for (const sent of all) sent.add(number, message(number, 500_000));
  const kept = all.reduce((sum, sent) => sum + keptBy(sent), 0);
  assert.ok(kept * 500_000 <= 32 << 20 && kept >= 30, `${kept}`);
  for (const sent of all.slice(1)) for (let i = 0; i < 4; i++) sent.beat();
  const [first] = all;
  assert.ok(first);
  for (let number = 1; number <= 16; number++) first.add(number, message(number, 500_000));
  assert.ok(keptBy(first) >= 15, `${keptBy(first)}`);
});
