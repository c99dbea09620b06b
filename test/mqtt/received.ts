import type { ReceivedPublish } from '../../src/mqtt/packet_reader.ts';

/** Creates a message as returned by PacketReader, with QoS 0 unless `more` has a packet id. */
export function received(
  topic: string,
  payload: string | Uint8Array,
  more: Partial<ReceivedPublish> = {},
): ReceivedPublish {
  const bytes = Buffer.concat([Buffer.from(topic), Buffer.from('…'), Buffer.from(payload)]);
  const topicEnd = Buffer.byteLength(topic);
  const payloadAt = topicEnd + Buffer.byteLength('…');
  const ends = { topicEnd, propertiesAt: payloadAt - 1, payloadAt, payloadEnd: bytes.length };
  return { bytes, topicAt: 0, ...ends, packetId: 0, isRetained: false, isRedelivered: false, ...more };
}
