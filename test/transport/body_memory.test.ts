import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BodyMemory } from '../../src/transport/body_memory.ts';

const KIB = 1024;

/** A piece of a body as the native server hands it over: it is filled with something else afterwards. */
function pieceOf(bytes: number, fill: number): ArrayBuffer {
  return new Uint8Array(bytes).fill(fill).buffer;
}

function copyOf(memory: BodyMemory, bytes: number, fill: number): Uint8Array {
  const piece = pieceOf(bytes, fill);
  const copy = memory.copy(piece);
  assert.ok(copy);
  new Uint8Array(piece).fill(255);
  return copy;
}

test('A body is what its pieces were, in memory that no later body changes', () => {
  const memory = new BodyMemory(100_000 * KIB);
  const sizes = [512 * KIB, 300 * KIB, 64 * KIB, 1, 512 * KIB];
  const bodies = Array.from({ length: 4 }, (_, round) => {
    const pieces = sizes.map((bytes, i) => copyOf(memory, bytes, round * 10 + i));
    return memory.join(
      pieces,
      sizes.reduce((sum, bytes) => sum + bytes),
    );
  });
  for (const [round, body] of bodies.entries()) {
    let at = 0;
    for (const [i, bytes] of sizes.entries()) {
      assert.ok(body.subarray(at, at + bytes).every((byte) => byte === round * 10 + i));
      at += bytes;
    }
    assert.equal(body.byteLength, at);
  }
});

test('Bytes that are taken must be given back before more come', () => {
  const memory = new BodyMemory(1000 * KIB);
  const [one, two] = [copyOf(memory, 500 * KIB, 1), copyOf(memory, 500 * KIB, 2)];
  assert.equal(memory.copy(pieceOf(1, 3)), undefined);
  memory.give([one], 500 * KIB);
  assert.equal(memory.copy(pieceOf(500 * KIB + 1, 3)), undefined);
  const body = memory.join([two, copyOf(memory, 500 * KIB, 3)], 1000 * KIB);
  // The body has what its pieces had.
  assert.equal(memory.copy(pieceOf(1, 4)), undefined);
  memory.give([], body.byteLength);
  assert.ok(memory.copy(pieceOf(1, 4)));
});

test('Blocks are reused, and released when they were not needed for a while', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const memory = new BodyMemory(100_000 * KIB);
  const copies = Array.from({ length: 6 }, (_, i) => copyOf(memory, 512 * KIB, i));
  memory.give(copies, 6 * 512 * KIB);
  assert.equal(memory.freeBlocks, 6);
  const again = [copyOf(memory, 512 * KIB, 7), copyOf(memory, 300 * KIB, 8)];
  assert.equal(memory.freeBlocks, 4);
  assert.ok(again.every(({ buffer }) => copies.some((copy) => copy.buffer === buffer)));
  memory.give(again, 812 * KIB);
  // Two of them were needed since they were given back.
  t.mock.timers.tick(10_000);
  assert.equal(memory.freeBlocks, 6);
  const last = copyOf(memory, 512 * KIB, 9);
  memory.give([last], 512 * KIB);
  t.mock.timers.tick(10_000);
  assert.equal(memory.freeBlocks, 1);
  t.mock.timers.tick(10_000);
  assert.equal(memory.freeBlocks, 0);
});
