import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { SentBudget, SentMessages } from '../../src/cluster/channel/sent_messages.ts';
import { Sequence } from '../../src/cluster/channel/sequence.ts';

test('Sequence delivers every message in order and once, for any order and number of arrivals', () => {
  const coming = fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 60 });
  fc.assert(
    fc.property(coming, fc.nat(12), (numbers, skipped) => {
      const sequence = new Sequence<number>();
      const got: number[] = [];
      const take = (): void => {
        for (let { first } = sequence; first !== undefined; { first } = sequence) {
          got.push(first);
          sequence.advance();
        }
      };
      for (const number of numbers) if (!sequence.has(number)) sequence.hold(number, number);
      take();
      const seen = new Set(numbers);
      const upTo = (last: number): number[] => Array.from({ length: last }, (_, i) => i + 1);
      const gap = upTo(13).find((number) => !seen.has(number)) ?? 13;
      const last = Math.max(0, ...numbers);
      assert.deepEqual(got, upTo(gap - 1));
      assert.deepEqual([sequence.next, sequence.sent, sequence.isComplete], [gap, last, gap > last]);
      const missing = sequence.gaps(100);
      assert.deepEqual(
        missing.flatMap((range) => upTo(range.last).slice(range.first - 1)),
        upTo(last).filter((number) => !seen.has(number)),
      );
      assert.deepEqual([sequence.gaps(1), sequence.hasGaps], [missing.slice(0, 1), missing.length > 0]);
      const dropped = sequence.skip(skipped);
      assert.deepEqual(
        [...dropped].sort((a, b) => a - b),
        upTo(skipped).filter((number) => number > gap && seen.has(number)),
      );
      take();
      const next = upTo(13).find((number) => number > skipped && number >= gap && !seen.has(number)) ?? 13;
      assert.deepEqual([sequence.next, got.at(-1) ?? 0], [next, Math.max(gap - 1, next - 1 > skipped ? next - 1 : 0)]);
    }),
    { seed: 7, numRuns: 2000 },
  );
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
