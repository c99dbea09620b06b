import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FrameReader, FrameWriter, newRing } from '../../src/cluster/nats/frame_ring.ts';
import { look } from '../../src/model/borrowed.ts';
import { diceOf } from '../support/dice.ts';

const RING_BYTES = 4096;

function open(): { writer: FrameWriter; reader: FrameReader } {
  const ring = newRing(RING_BYTES);
  return { writer: new FrameWriter(ring), reader: new FrameReader(ring) };
}

test('FrameReader finds all fields of a frame, and returns zeros and empty strings for missing ones', () => {
  const { writer, reader } = open();
  const numbers = {
    kind: 1,
    flags: 65_535,
    id: 4_294_967_295,
    area: 7,
    length: 8,
    first: -1.5,
    second: 2 ** 53,
    third: 3,
  };
  const body = Uint8Array.from([1, 2, 3]);
  assert.ok(writer.write({ ...numbers, subject: 'a.b', reply: 'c', body }));
  assert.ok(writer.write({ kind: 2 }));
  assert.ok(reader.next());
  const { kind, flags, id, area, length, first, second, third, subject, reply } = reader;
  assert.deepEqual({ kind, flags, id, area, length, first, second, third }, numbers);
  assert.deepEqual([subject, reply, [...look(reader.body)]], ['a.b', 'c', [1, 2, 3]]);
  assert.ok(reader.next());
  assert.deepEqual([reader.kind, reader.id, reader.subject, look(reader.body).length], [2, 0, '', 0]);
  assert.equal(reader.next(), false);
});

test('FrameWriter writes frames that fit, and the reader reads all of them in order, around the ring', () => {
  const { writer, reader } = open();
  const dice = diceOf(5);
  const wanted: number[] = [];
  let [written, refused] = [0, 0];
  while (written < 5000) {
    const body = new Uint8Array(dice(RING_BYTES / 2 - 100)).fill(written);
    if (dice(2) === 0) {
      const isWritten = writer.write({ kind: 1, id: written, body });
      if (isWritten) wanted.push(body.length);
      if (isWritten) written++;
      else refused++;
    } else if (reader.next()) {
      const found = look(reader.body);
      assert.equal(found.length, wanted.shift());
      assert.ok(found.every((byte) => byte === reader.id % 256));
      reader.release();
    }
  }
  assert.ok(refused > 0);
});

test('FrameWriter has room again only after the reader has released the frames that it has read', () => {
  const { writer, reader } = open();
  const body = new Uint8Array(RING_BYTES / 2 - 100);
  while (writer.write({ kind: 1, body }));
  while (reader.next());
  assert.equal(writer.write({ kind: 1, body }), false);
  reader.release();
  assert.ok(writer.write({ kind: 1, body }));
});

test('FrameWriter must wake the reader once per sleep, and never too late', () => {
  const { writer, reader } = open();
  assert.deepEqual([writer.wakes(), writer.wakes()], [true, false]);
  writer.write({ kind: 1 });
  assert.equal(reader.sleeps(), false);
  assert.equal(writer.wakes(), false);
  assert.ok(reader.next());
  assert.ok(reader.sleeps());
  assert.deepEqual([writer.wakes(), writer.wakes()], [true, false]);
});
