import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CopyBuffer } from '../../src/fanout/copy_buffer.ts';

test('copies are adjacent in blocks that grow with the retained bytes', () => {
  const buffer = new CopyBuffer();
  const copies: Uint8Array[] = [];
  let kept = 0;
  for (let i = 0; i < 2000; i++) {
    const bytes = new Uint8Array(1000 + (i % 7)).fill(i);
    const copy = buffer.copy(bytes, kept);
    bytes.fill(0);
    copies.push(copy);
    kept += copy.byteLength;
  }
  for (const [i, copy] of copies.entries()) {
    assert.equal(copy.byteLength, 1000 + (i % 7));
    assert.ok(copy.every((byte) => byte === i % 256));
  }
  const blocks = [...new Set(copies.map(({ buffer }) => buffer))];
  const bytes = blocks.reduce((sum, { byteLength }) => sum + byteLength, 0);
  assert.ok(blocks.length < 20, `${blocks.length} blocks`);
  assert.ok(bytes <= 1.5 * kept, `${bytes} bytes for ${kept}`);
  assert.equal((blocks[0] as ArrayBuffer).byteLength, 1000);
});

test('a copy longer than a block has its own block', () => {
  const buffer = new CopyBuffer();
  assert.equal(buffer.copy(new Uint8Array(2_000_000), 10).byteLength, 2_000_000);
  assert.equal(buffer.copy(new Uint8Array(0), 10).byteLength, 0);
});
