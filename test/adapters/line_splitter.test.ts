import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { LINE_MAX_BYTES, LineSplitter } from '../../src/adapters/iso24730/line_splitter.ts';

function linesOf(...chunks: readonly (string | Uint8Array)[]): string[] {
  const splitter = new LineSplitter();
  return chunks.flatMap((chunk) => splitter.push(typeof chunk === 'string' ? Buffer.from(chunk) : chunk));
}

describe('LineSplitter', () => {
  const cases: readonly (readonly [name: string, chunks: readonly string[], expected: readonly string[]])[] = [
    ['ends lines at CR LF', ['a\r\nb\r\n'], ['a', 'b']],
    ['ends lines at LF', ['a\nb\n'], ['a', 'b']],
    ['drops one CR only', ['a\r\r\n'], ['a\r']],
    ['keeps a CR within a line', ['a\rb\n'], ['a\rb']],
    ['leaves out empty lines', ['\r\n\n\r\na\n\n'], ['a']],
    ['joins a line of many chunks', ['a', 'b', 'c\r', '\n'], ['abc']],
    ['returns no line before its end', ['abc'], []],
    ['joins the bytes of a character', ['ä'.repeat(3), '\n'], ['äää']],
    ['keeps a byte order mark, which the reader trims', ['\uFEFFa\n'], ['\uFEFFa']],
  ];
  for (const [name, chunks, expected] of cases) {
    test(name, () => assert.deepEqual(linesOf(...chunks), expected));
  }

  test('replaces invalid UTF-8 by replacement characters', () => {
    assert.deepEqual(linesOf(Uint8Array.of(0x61, 0xff, 0xe2, 0x0a, 0x62, 0x0a)), ['a\uFFFD\uFFFD', 'b']);
  });

  test('returns the longest permitted line, and drops a longer one up to its end, regardless of chunk boundaries', () => {
    const longest = 'x'.repeat(LINE_MAX_BYTES);
    for (const size of [1000, LINE_MAX_BYTES, LINE_MAX_BYTES + 2, 1_000_000]) {
      const bytes = Buffer.from(`${longest}\n${longest}y\nz\n`);
      const splitter = new LineSplitter();
      const lines: string[] = [];
      for (let at = 0; at < bytes.length; at += size) lines.push(...splitter.push(bytes.subarray(at, at + size)));
      assert.deepEqual(lines, [longest, 'z']);
      assert.equal(splitter.overlongLines, 1);
    }
  });

  test('buffers no more than the longest permitted line of an endless one', () => {
    const splitter = new LineSplitter();
    const chunk = Buffer.alloc(10_000, 'x');
    for (let i = 0; i < 2000; i++) {
      assert.deepEqual(splitter.push(chunk), []);
      assert.ok(splitter.heldBytes <= LINE_MAX_BYTES, `${splitter.heldBytes}`);
    }
    assert.equal(splitter.overlongLines, 1);
    assert.deepEqual(splitter.push(Buffer.from('\na\n')), ['a']);
  });

  test('returns the same lines for any bytes, regardless of chunk boundaries', () => {
    const byte = fc.oneof(fc.nat(255), fc.constantFrom(0x0a, 0x0d, 0x2c));
    fc.assert(
      fc.property(fc.array(byte, { maxLength: 200 }), fc.array(fc.nat(9), { maxLength: 100 }), (bytes, sizes) => {
        const all = Uint8Array.from(bytes);
        assert.deepEqual(linesOf(...cut(all, sizes)), linesOf(all));
      }),
      { numRuns: 300, seed: 11 },
    );
  });
});

/** The bytes in chunks of these sizes; the rest is the last one. */
function cut(bytes: Uint8Array, sizes: readonly number[]): Uint8Array[] {
  const pieces: Uint8Array[] = [];
  let at = 0;
  for (const size of sizes) {
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return [...pieces, bytes.subarray(at)];
}
