/** MQTT 3.1.1 packets of the load generator and the subscribers, prepared once. */

/** Topic for locations of one provider, and for lists that name their providers. */
export const LOCATIONS_IN = 'omlox/json/location_updates/pub';

/**
 * Packet id of the last PUBLISH of a message. A broker acknowledges in order, so earlier ones are acknowledged as well.
 */
export const LAST_ID = 0xffff;

const [CONNECT, PUBLISH_QOS_1, SUBSCRIBE] = [0x10, 0x32, 0x82];
const CLEAN_SESSION = 0x02;

/** Opens a session that ends with the connection, without keep-alive and pings. */
export function connectPacket(clientId: string): Buffer {
  return packet(CONNECT, text('MQTT'), Buffer.from([4, CLEAN_SESSION, 0, 0]), text(clientId));
}

/** A message of QoS 1. */
export function publishPacket(topic: string, payload: string, packetId: number): Buffer {
  return packet(PUBLISH_QOS_1, text(topic), Buffer.from([packetId >> 8, packetId & 0xff]), Buffer.from(payload));
}

/** Subscribes to a filter with QoS 1. */
export function subscribePacket(filter: string): Buffer {
  return packet(SUBSCRIBE, Buffer.from([0, 1]), text(filter), Buffer.from([1]));
}

function packet(type: number, ...parts: readonly Buffer[]): Buffer {
  let left = parts.reduce((sum, { length }) => sum + length, 0);
  const head = [type];
  do {
    const low = left & 0x7f;
    left >>= 7;
    head.push(left > 0 ? low | 0x80 : low);
  } while (left > 0);
  return Buffer.concat([Buffer.from(head), ...parts]);
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([Buffer.from([bytes.length >> 8, bytes.length & 0xff]), bytes]);
}
