import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { lifeMsOf, PacketReader, type ReceivedPublish } from '../../src/mqtt/packet_reader.ts';

interface Sent {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly packetId: number;
  readonly isRetained: boolean;
  readonly isRedelivered: boolean;
  readonly properties: Uint8Array;
}

/** Encodes a length as in MQTT 5, section 1.5.5. */
function lengthOf(length: number): Buffer {
  const bytes: number[] = [];
  for (let left = length; ; left = Math.floor(left / 128)) {
    bytes.push(left < 128 ? left : (left % 128) | 0x80);
    if (left < 128) return Buffer.from(bytes);
  }
}

const u16 = (value: number): Buffer => Buffer.from([value >> 8, value & 0xff]);
const packetOf = (first: number, ...parts: readonly Uint8Array[]): Buffer => {
  const body = Buffer.concat(parts);
  return Buffer.concat([Buffer.from([first]), lengthOf(body.length), body]);
};

/** Encodes a PUBLISH packet, section 3.3. */
function publishOf({ topic, payload, packetId, isRetained, isRedelivered, properties }: Sent): Buffer {
  const first = 0x30 | (isRedelivered ? 8 : 0) | (packetId > 0 ? 2 : 0) | (isRetained ? 1 : 0);
  const name = Buffer.from(topic);
  const id = packetId > 0 ? u16(packetId) : Buffer.alloc(0);
  return packetOf(first, u16(name.length), name, id, lengthOf(properties.length), properties, payload);
}

const PLAIN = { packetId: 1, isRetained: false, isRedelivered: false, properties: Buffer.alloc(0) };

/** Pushes chunks. Returns the messages, and everything else, in the order of arrival. */
function readAll(chunks: readonly Uint8Array[], bytesMax = 1 << 20): { messages: object[]; others: Buffer } {
  const messages: object[] = [];
  const others: Uint8Array[] = [];
  const reader = new PacketReader(
    {
      message({ bytes, topicAt, topicEnd, propertiesAt: _, payloadAt, payloadEnd, ...more }) {
        const topic = Buffer.from(bytes.subarray(topicAt, topicEnd)).toString();
        messages.push({ topic, payload: Uint8Array.from(bytes.subarray(payloadAt, payloadEnd)), ...more });
      },
      others: (packets) => void others.push(packets),
    },
    { bytesMax },
  );
  for (const chunk of chunks) reader.push(chunk);
  return { messages, others: Buffer.concat(others) };
}

describe('PacketReader', () => {
  test('finds every message, and passes on all other packets, regardless of how the bytes are split', () => {
    const message = fc.record({
      topic: fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' }),
      payload: fc.uint8Array({ maxLength: 400 }),
      packetId: fc.integer({ min: 0, max: 0xffff }),
      isRetained: fc.boolean(),
      isRedelivered: fc.boolean(),
      properties: fc.uint8Array({ maxLength: 200 }),
    });
    const other = fc.record({
      first: fc.constantFrom(0x20, 0x40, 0x90, 0xd0, 0xe0),
      body: fc.uint8Array({ maxLength: 300 }),
    });
    const packets = fc.array(fc.oneof(message, other), { maxLength: 12 });
    fc.assert(
      fc.property(packets, fc.array(fc.integer({ min: 1, max: 300 })), (all, cuts) => {
        const bytes = all.map((each) => ('first' in each ? packetOf(each.first, each.body) : publishOf(each)));
        const whole = Buffer.concat(bytes);
        const chunks: Buffer[] = [];
        let at = 0;
        for (const cut of [...cuts, whole.length]) {
          chunks.push(whole.subarray(at, at + cut));
          at += cut;
        }
        const { messages, others } = readAll(chunks);
        const sent = all.flatMap((each) => ('first' in each ? [] : [each]));
        assert.deepEqual(
          messages,
          sent.map(({ properties: _, ...each }) => each),
        );
        assert.deepEqual(others, Buffer.concat(bytes.filter((_, i) => 'first' in (all[i] as object))));
      }),
    );
  });

  test('assembles a long packet that arrives byte by byte', () => {
    const payload = Buffer.alloc(100_000, 'x');
    const bytes = publishOf({ ...PLAIN, topic: 't', payload });
    const { messages } = readAll(Array.from(bytes, (byte) => Uint8Array.of(byte)));
    const { properties: _, ...more } = PLAIN;
    assert.deepEqual(messages, [{ topic: 't', payload: Uint8Array.from(payload), ...more }]);
  });

  const text = (value: string): Buffer => Buffer.concat([u16(value.length), Buffer.from(value)]);
  const expiry = (seconds: number): Buffer => Buffer.from([2, 0, 0, seconds >> 8, seconds & 0xff]);
  const lives: readonly (readonly [what: string, properties: readonly Buffer[], lifeMs: number])[] = [
    ['no properties', [], 0],
    ['an expiry', [expiry(120)], 120_000],
    ['an expiry of more than 24 days', [Buffer.from([2, 0xff, 0xff, 0xff, 0xff])], 2 ** 31],
    [
      'an expiry after all other properties',
      [
        ...[Buffer.from([1, 1]), Buffer.from([3]), text('application/json'), Buffer.from([8]), text('to')],
        ...[Buffer.from([9]), text('id'), Buffer.from([38]), text('name'), text('value'), Buffer.from([11, 0x80, 1])],
        ...[Buffer.from([35, 0, 1]), expiry(300)],
      ],
      300_000,
    ],
    ['a property unknown to MQTT 5', [Buffer.from([99]), expiry(1)], 0],
    ['an expiry that is cut off', [expiry(1).subarray(0, 3)], 0],
  ];
  for (const [what, properties, lifeMs] of lives) {
    test(`reads the lifetime of a message with ${what}`, () => {
      const found: number[] = [];
      const message = (received: ReceivedPublish): void => void found.push(lifeMsOf(received));
      const reader = new PacketReader({ message, others: () => undefined }, { bytesMax: 1 << 20 });
      reader.push(
        publishOf({ ...PLAIN, topic: 't', payload: Buffer.alloc(9, 2), properties: Buffer.concat(properties) }),
      );
      assert.deepEqual(found, [lifeMs]);
    });
  }

  const refused: readonly (readonly [what: string, bytes: Buffer, problem: RegExp])[] = [
    [
      'a packet that is too long',
      packetOf(0x30, Buffer.alloc(2000)),
      /^Error: the broker sends a packet of 2003 bytes, more than 1000$/,
    ],
    ['a length of five bytes', Buffer.from([0x40, 0xff, 0xff, 0xff, 0xff, 1]), /is no packet of MQTT 5$/],
    ['a message without a topic', packetOf(0x30, u16(0), lengthOf(0)), /is no packet of MQTT 5$/],
    ['a topic that is longer than its packet', packetOf(0x30, u16(9), Buffer.from('t')), /is no packet of MQTT 5$/],
    [
      'properties that are longer than their packet',
      packetOf(0x30, u16(1), Buffer.from('t'), lengthOf(9)),
      /is no packet of MQTT 5$/,
    ],
    [
      'a message without the length of its properties',
      packetOf(0x30, u16(1), Buffer.from('t')),
      /is no packet of MQTT 5$/,
    ],
    ['a packet id of 0', packetOf(0x32, u16(1), Buffer.from('t'), u16(0), lengthOf(0)), /is no packet of MQTT 5$/],
    [
      'QoS 2, which was not requested',
      packetOf(0x34, u16(1), Buffer.from('t'), u16(1), lengthOf(0)),
      /is no packet of MQTT 5$/,
    ],
  ];
  for (const [what, bytes, problem] of refused) {
    test(`rejects ${what}`, () => {
      assert.throws(() => readAll([bytes], 1000), problem);
      assert.throws(
        () =>
          readAll(
            Array.from(bytes, (byte) => Uint8Array.of(byte)),
            1000,
          ),
        problem,
      );
    });
  }
});
