import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BodyMemory, type StoredBody } from '../../src/transport/body_memory.ts';

const KIB = 1024;

/** Appends chunks as the native server passes them: it overwrites each one afterwards. */
function append(body: StoredBody, ...pieces: readonly (readonly [bytes: number, fill: number])[]): boolean {
  return pieces.every(([bytes, fill]) => {
    const piece = new Uint8Array(bytes).fill(fill);
    const isTaken = body.append(piece.buffer);
    piece.fill(255);
    return isTaken;
  });
}

function bodyOf(memory: BodyMemory, bytes: number, fill = 1): StoredBody {
  const body = memory.open();
  assert.ok(append(body, [bytes, fill]));
  return body;
}

test('A body is the concatenation of its chunks, in memory that no later body changes', () => {
  const pieces = fc.array(fc.integer({ min: 1, max: 700 * KIB }), { minLength: 1, maxLength: 6 });
  const early = fc.array(fc.integer({ min: 1, max: 40 * KIB }), { maxLength: 3 });
  fc.assert(
    fc.property(fc.array(fc.tuple(early, pieces), { minLength: 2, maxLength: 4 }), (bodies) => {
      const memory = new BodyMemory(100_000 * KIB);
      const joined = bodies.map(([first, then], round) => {
        const stored = memory.open();
        const sizes = [...first, ...then];
        assert.ok(append(stored, ...sizes.map((bytes, n) => [bytes, round * 10 + n] as const)));
        return { sizes, body: stored.join() };
      });
      for (const [round, { sizes, body }] of joined.entries()) {
        const expected = Buffer.concat(sizes.map((bytes, n) => Buffer.alloc(bytes, round * 10 + n)));
        assert.ok(expected.equals(body));
      }
    }),
    { seed: 35, numRuns: 20 },
  );
});

test('All bodies share one bound, and a body releases what it has reserved', () => {
  const memory = new BodyMemory(1024 * KIB);
  const [one, two] = [bodyOf(memory, 500 * KIB), bodyOf(memory, 500 * KIB)];
  assert.equal(append(memory.open(), [1, 3]), false);
  one.release();
  assert.equal(append(memory.open(), [513 * KIB, 3]), false);
  assert.ok(append(two, [500 * KIB, 3]));
  // A joined body reserves only its own bytes.
  assert.equal(two.join().byteLength, 1000 * KIB);
  assert.equal(append(memory.open(), [25 * KIB, 4]), false);
  assert.ok(append(memory.open(), [24 * KIB, 4]));
});

test('A body as long as the bound is accepted', () => {
  assert.equal(bodyOf(new BodyMemory(1000 * KIB), 1000 * KIB).join().byteLength, 1000 * KIB);
});

test('Many short bodies at once reserve no blocks', () => {
  const memory = new BodyMemory(1000 * KIB);
  for (let n = 0; n < 500; n++) bodyOf(memory, 2 * KIB);
});

test('Blocks are reused, and freed after a period without use', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const memory = new BodyMemory(100_000 * KIB);
  bodyOf(memory, 6 * 512 * KIB).release();
  assert.equal(memory.freeBlocks, 6);
  const again = bodyOf(memory, 812 * KIB);
  assert.equal(memory.freeBlocks, 4);
  again.release();
  // Two of them have been used since they were returned.
  t.mock.timers.tick(10_000);
  assert.equal(memory.freeBlocks, 6);
  bodyOf(memory, 512 * KIB).release();
  t.mock.timers.tick(10_000);
  assert.equal(memory.freeBlocks, 1);
  t.mock.timers.tick(10_000);
  assert.equal(memory.freeBlocks, 0);
});

test('The memory of a long body is freed when the body is released', () => {
  const stored = bodyOf(new BodyMemory(1000 * KIB), 300 * KIB);
  const body = stored.join();
  stored.release();
  assert.equal(body.byteLength, 0);
});
