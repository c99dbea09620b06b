import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecentBlocks } from '../../src/events/recent_blocks.ts';

const MIB = 1 << 20;
const block = (first: number, size: number) => {
  return { first, count: 10, timeMs: first, bytes: new Uint8Array(size).fill(first) };
};

test('the newest blocks are copies, of at most 4 MiB, and older ones are reported as forgotten', () => {
  const recent = new RecentBlocks(9);
  assert.deepEqual([recent.after(8), recent.after(9)], [undefined, []]);
  const reused = block(10, MIB);
  recent.add(reused);
  reused.bytes.fill(0);
  for (const first of [20, 30, 40]) recent.add(block(first, MIB));
  const found = (position: number) => {
    return recent.after(position)?.map(({ first, bytes }) => [first, bytes.length, bytes[0], bytes.at(-1)]);
  };
  assert.deepEqual(
    found(9),
    [10, 20, 30, 40].map((first) => [first, MIB, first, first]),
  );
  assert.equal(recent.oldestMs, 10);
  assert.deepEqual(found(28)?.at(0), [20, MIB, 20, 20], 'a block from its middle on');
  recent.add(block(50, 1));
  assert.equal(found(28), undefined);
  assert.deepEqual(
    found(29)?.map(([first]) => first),
    [30, 40, 50],
  );
});

test('a block that is too long is forgotten, with all before it', () => {
  const recent = new RecentBlocks(9);
  recent.add(block(10, 1));
  recent.add(block(20, 2 * MIB + 1));
  recent.add(block(30, 1));
  assert.equal(recent.after(28), undefined);
  assert.deepEqual(
    recent.after(29)?.map(({ first }) => first),
    [30],
  );
});
