import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FrameParser } from '../../bench/listen/frame_parser.ts';
import { clientFrame } from '../../bench/load/message.ts';

/** A frame as sent by a server: with the shortest header, and unmasked. */
function serverFrame(opcode: number, payload: Buffer): Buffer {
  const { length } = payload;
  if (length < 126) return Buffer.concat([Buffer.from([0x80 | opcode, length]), payload]);
  if (length < 65_536) {
    const head = Buffer.from([0x80 | opcode, 126, length >> 8, length & 0xff]);
    return Buffer.concat([head, payload]);
  }
  const head = Buffer.alloc(10);
  head[0] = 0x80 | opcode;
  head[1] = 127;
  head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
}

function parse(chunks: readonly Buffer[]): string[] {
  const frames: string[] = [];
  const parser = new FrameParser((opcode, payload) => frames.push(`${opcode} ${payload.toString('latin1')}`));
  for (const chunk of chunks) parser.push(chunk);
  return frames;
}

/** Cuts bytes into chunks with these lengths, repeatedly. */
function cut(bytes: Buffer, lengths: readonly number[]): Buffer[] {
  const chunks: Buffer[] = [];
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const length = lengths[i % lengths.length] as number;
    chunks.push(bytes.subarray(at, at + length));
    at += length;
  }
  return chunks;
}

const payloadLength = fc.oneof(
  fc.nat(300),
  fc.constantFrom(0, 125, 126, 127, 65_535, 65_536, 65_537),
  fc.integer({ min: 60_000, max: 200_000 }),
);

test('FrameParser finds the same frames regardless of chunk boundaries', () => {
  const frame = fc.tuple(fc.constantFrom(0x1, 0x8, 0x9, 0xa), payloadLength);
  const lengths = fc.array(fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 150_000 })), {
    minLength: 1,
    maxLength: 5,
  });
  fc.assert(
    fc.property(fc.array(frame, { maxLength: 6 }), lengths, (frames, chunks) => {
      const texts = frames.map(([opcode, length], i) => ({ opcode, payload: Buffer.alloc(length, `${i}abc`) }));
      const bytes = Buffer.concat(texts.map(({ opcode, payload }) => serverFrame(opcode, payload)));
      const small = bytes.length > 20_000 ? chunks.map((length) => length + 1000) : chunks;
      const expected = texts.map(({ opcode, payload }) => `${opcode} ${payload.toString('latin1')}`);
      assert.deepEqual(parse(cut(bytes, small)), expected);
    }),
    { numRuns: 100, seed: 4 },
  );
});

test('FrameParser accepts frames in chunks of a few bytes', () => {
  const payloads = [0, 1, 125, 126, 300].map((length) => Buffer.alloc(length, 'x'));
  const bytes = Buffer.concat(payloads.map((payload) => serverFrame(1, payload)));
  for (let length = 1; length < 200; length++) {
    assert.deepEqual(
      parse(cut(bytes, [length])),
      payloads.map((payload) => `1 ${payload}`),
    );
  }
});

test('FrameParser rejects a masked frame and a fragment', () => {
  assert.throws(() => parse([clientFrame(1, 'x')]), /masked/);
  assert.throws(() => parse([Buffer.from([0x01, 1, 0x78])]), /fragments/);
  assert.throws(() => parse([Buffer.from([0x80, 1, 0x78])]), /fragments/);
});
