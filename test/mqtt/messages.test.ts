import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { SENT_KINDS } from '../../src/model/mqtt.ts';
import { MessageWriter, MOTION_FORMS, readArrived, readPublishing } from '../../src/mqtt/messages.ts';
import { PacketWriter } from '../../src/mqtt/packets.ts';
import { received } from './received.ts';

const TOPIC = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 300 });
const PLAIN = { noNullPrototype: true };
const PAYLOAD = fc.uint8Array({ maxLength: 40_000 });

test('readPublishing() and readArrived() read the messages of MessageWriter', () => {
  const publishing = fc.record(
    {
      topic: TOPIC,
      payload: PAYLOAD,
      qos: fc.constantFrom<0 | 1>(0, 1),
      isRetained: fc.boolean(),
      minIntervalMs: fc.integer({ min: 0, max: 86_400_000 }),
      motionAs: fc.constantFrom(undefined, ...MOTION_FORMS),
      lifeMs: fc.integer({ min: 0, max: 2 ** 31 }),
      sentAs: fc.constantFrom(undefined, ...SENT_KINDS),
    },
    PLAIN,
  );
  const writer = new MessageWriter();
  fc.assert(
    fc.property(fc.array(publishing, { maxLength: 6 }), (all) => {
      for (const each of all) writer.addPublishing(each);
      assert.equal(writer.count, all.length);
      const read = readPublishing(writer.take()).map((each) => ({ ...each, payload: Uint8Array.from(each.payload) }));
      assert.deepEqual(read, all);
      for (const { topic, payload, isRetained, lifeMs } of all)
        writer.addArrived(received(topic, payload, { isRetained }), lifeMs);
      const arrived = readArrived(writer.take()).map((each) => ({ ...each, payload: Uint8Array.from(each.payload) }));
      assert.deepEqual(
        arrived,
        all.map(({ topic, payload, isRetained, lifeMs }) => ({ topic, payload, isRetained, lifeMs })),
      );
    }),
  );
});

/** PUBLISH packets as MQTT 5 defines them, section 3.3. */
function read(packets: Uint8Array): { topic: string; payload: Uint8Array; isRetained: boolean }[] {
  const bytes = Buffer.from(packets);
  const all = [];
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at++] as number;
    let [length, shift, low] = [0, 0, 0x80];
    for (; low >= 0x80; shift += 7) {
      low = bytes[at++] as number;
      length += (low & 0x7f) * 2 ** shift;
    }
    const end = at + length;
    const topicEnd = at + 2 + bytes.readUInt16BE(at);
    assert.equal(first & 0xfe, 0x30);
    assert.equal(bytes[topicEnd], 0);
    const payload = Uint8Array.from(bytes.subarray(topicEnd + 1, end));
    all.push({ topic: bytes.toString('utf8', at + 2, topicEnd), payload, isRetained: (first & 1) === 1 });
    at = end;
  }
  return all;
}

test('PacketWriter writes consecutive PUBLISH packets of any size', () => {
  const message = fc.record({ topic: TOPIC, payload: PAYLOAD, isRetained: fc.boolean() }, PLAIN);
  fc.assert(
    fc.property(fc.array(message, { maxLength: 8 }), (all) => {
      const writer = new PacketWriter();
      const plain = { qos: 0, minIntervalMs: 0, motionAs: undefined, lifeMs: 0, sentAs: undefined } as const;
      for (const each of all) writer.add({ ...each, ...plain });
      assert.deepEqual(read(writer.take()), all);
      assert.equal(writer.length, 0);
    }),
  );
});
