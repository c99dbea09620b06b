import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BodyBlocks, BodyPieces } from '../../src/transport/body_blocks.ts';

const anyPiece = fc.oneof(fc.nat({ max: 300 }), fc.integer({ min: 60_000, max: 200_000 }));

test('pieces of any size are joined in their order, in memory that no later body writes to', () => {
  const each = fc.property(fc.array(fc.array(anyPiece, { maxLength: 6 }), { maxLength: 6 }), (bodies) => {
    const blocks = new BodyBlocks();
    const kept: { body: Uint8Array; expected: Buffer }[] = [];
    for (const [n, sizes] of bodies.entries()) {
      const sent = sizes.map((size, piece) => Buffer.alloc(size, 1 + n * 16 + piece));
      const pieces = new BodyPieces(blocks);
      for (const piece of sent) pieces.append(piece);
      // A body may end before it is whole.
      if (n % 3 === 2) pieces.clear();
      else kept.push({ body: pieces.joined(), expected: Buffer.concat(sent) });
    }
    for (const { body, expected } of kept) assert.ok(expected.equals(body));
  });
  fc.assert(each, { numRuns: 200, seed: 5 });
});

test('blocks of a large body are used for the next one', () => {
  const blocks = new BodyBlocks();
  const block = blocks.take();
  blocks.give(block);
  const pieces = new BodyPieces(blocks);
  pieces.append(Buffer.alloc(100_000, 7));
  assert.equal(block[0], 7);
  assert.equal(pieces.joined().length, 100_000);
  assert.ok([blocks.take(), blocks.take()].includes(block));
});

test('a small body has memory of its own size, which is not given to others', () => {
  const blocks = new BodyBlocks();
  const pieces = new BodyPieces(blocks);
  pieces.append(Buffer.from('abc'));
  pieces.append(Buffer.from('de'));
  assert.equal(String(pieces.joined()), 'abcde');
  assert.equal(blocks.take().length, 65_536);
});
