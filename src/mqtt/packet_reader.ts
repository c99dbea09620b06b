/** A received message as offsets in the received bytes. Valid only during the call. */
export interface ReceivedPublish {
  readonly bytes: Uint8Array;
  /** Offsets of the topic, in UTF-8. */
  readonly topicAt: number;
  readonly topicEnd: number;
  /** Offset of the properties, which end at `payloadAt`. */
  readonly propertiesAt: number;
  readonly payloadAt: number;
  readonly payloadEnd: number;
  /** 0 for QoS 0. */
  readonly packetId: number;
  readonly isRetained: boolean;
  /** Whether the broker has sent the message before. */
  readonly isRedelivered: boolean;
}

/** Receives the packets found by a PacketReader. */
export interface PacketTaker {
  message(received: ReceivedPublish): void;
  /** Receives consecutive complete packets of other types. Their memory is not reused. */
  others(packets: Uint8Array): void;
}

const PUBLISH = 3;
const [DUPLICATE, QOS, RETAIN] = [0x08, 0x06, 0x01];
const QOS_1 = 0x02;
/** Maximum size of a header: the type, and a length of up to four bytes. */
const HEAD_BYTES_MAX = 5;
const FIRST_BYTES = 4 << 10;

/**
 * Splits the broker's bytes into packets and reads PUBLISH packets: MQTT 5, sections 2.1 and 3.3. hot
 *
 *     u8 0x30 | duplicate, QoS, retain    length, 7 bits a byte
 *     u16 bytes of topic, topic    u16 packet id, with QoS 1    length of properties, 7 bits a byte, properties    payload
 *
 * Packets that are complete in a chunk are read in place. Only a packet split between chunks is copied.
 */
export class PacketReader {
  readonly #on: PacketTaker;
  readonly #bytesMax: number;
  /** Start of an incomplete packet. */
  #held = Buffer.allocUnsafe(FIRST_BYTES);
  #heldBytes = 0;

  constructor(on: PacketTaker, { bytesMax }: { readonly bytesMax: number }) {
    this.#on = on;
    this.#bytesMax = bytesMax;
  }

  /** Reads the next bytes. Throws an Error for malformed bytes, after which the reader is unusable. */
  push(chunk: Uint8Array): void {
    const rest = this.#heldBytes === 0 ? 0 : this.#finishHeld(chunk);
    const read = this.#read(chunk, rest, chunk.length);
    if (read < chunk.length) this.#hold(chunk, read, chunk.length);
  }

  /** Appends to the incomplete packet and reads it once it is complete. Returns the number of bytes used. */
  #finishHeld(chunk: Uint8Array): number {
    let used = 0;
    let size = this.#sizeAt(this.#held, 0, this.#heldBytes);
    while (size === 0 && used < chunk.length) {
      this.#hold(chunk, used, ++used);
      size = this.#sizeAt(this.#held, 0, this.#heldBytes);
    }
    if (size === 0) return used;
    const lacking = Math.min(size - this.#heldBytes, chunk.length - used);
    this.#hold(chunk, used, used + lacking);
    if (this.#heldBytes < size) return chunk.length;
    // The memory is reused, but receivers may retain packets of other types, so these are copied.
    const isMessage = (this.#held[0] as number) >> 4 === PUBLISH;
    this.#heldBytes = 0;
    this.#read(isMessage ? this.#held : Buffer.from(this.#held.subarray(0, size)), 0, size);
    return used + lacking;
  }

  #hold(chunk: Uint8Array, from: number, to: number): void {
    const needed = this.#heldBytes + to - from;
    if (needed > this.#held.length) {
      const larger = Buffer.allocUnsafe(2 * needed);
      this.#held.copy(larger, 0, 0, this.#heldBytes);
      this.#held = larger;
    }
    this.#held.set(chunk.subarray(from, to), this.#heldBytes);
    this.#heldBytes = needed;
  }

  /** Reads complete packets. Returns the offset of the first incomplete one. */
  #read(bytes: Uint8Array, from: number, end: number): number {
    const { others } = this.#on;
    let at = from;
    /** Start of the packets of other types that are not passed on yet. */
    let othersAt = from;
    while (at < end) {
      const size = this.#sizeAt(bytes, at, end);
      if (size === 0 || at + size > end) break;
      if ((bytes[at] as number) >> 4 === PUBLISH) {
        if (othersAt < at) others(bytes.subarray(othersAt, at));
        this.#message(bytes, at, at + size);
        othersAt = at + size;
      }
      at += size;
    }
    if (othersAt < at) others(bytes.subarray(othersAt, at));
    return at;
  }

  #message(bytes: Uint8Array, at: number, end: number): void {
    const first = bytes[at] as number;
    const qos = first & QOS;
    let next = at + 1;
    while ((bytes[next++] as number) & 0x80);
    const topicAt = next + 2;
    const topicEnd = topicAt + (((bytes[next] as number) << 8) | (bytes[next + 1] as number));
    const isOfQos1 = qos === QOS_1;
    const propertiesAt = topicEnd + (isOfQos1 ? 2 : 0);
    if (propertiesAt >= end || topicEnd === topicAt || (qos !== 0 && !isOfQos1)) throw new Error(MALFORMED);
    const packetId = isOfQos1 ? ((bytes[topicEnd] as number) << 8) | (bytes[topicEnd + 1] as number) : 0;
    const payloadAt = propertiesAt + lengthAt(bytes, propertiesAt, end);
    if (payloadAt > end || payloadAt === propertiesAt || (isOfQos1 && packetId === 0)) throw new Error(MALFORMED);
    this.#on.message({
      ...{ bytes, topicAt, topicEnd, propertiesAt, payloadAt, payloadEnd: end, packetId },
      isRetained: (first & RETAIN) !== 0,
      isRedelivered: (first & DUPLICATE) !== 0,
    });
  }

  /** Returns the size of the packet at `at`; 0 if its header is incomplete. */
  #sizeAt(bytes: Uint8Array, at: number, end: number): number {
    const size = lengthAt(bytes, at + 1, Math.min(end, at + HEAD_BYTES_MAX));
    if (size === 0) {
      if (end - at >= HEAD_BYTES_MAX) throw new Error(MALFORMED);
      return 0;
    }
    if (size + 1 <= this.#bytesMax) return size + 1;
    throw new Error(`the broker sends a packet of ${size + 1} bytes, more than ${this.#bytesMax}`);
  }
}

/** Returns the topic of a message. */
export function topicOf({ bytes, topicAt, topicEnd }: ReceivedPublish): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8', topicAt, topicEnd);
}

/** Longest expiry interval: a longer one is as good as none, and exceeds 32 bits. */
const LIFE_MAX_MS = 2 ** 31;
const EXPIRY = 0x02;
/** Sizes of fixed-size properties by id: MQTT 5, section 2.2.2.2. */
const PROPERTY_BYTES: Readonly<Record<number, number>> = { 1: 1, [EXPIRY]: 4, 35: 2 };
/** Number of length-prefixed strings in other properties, by id. */
const PROPERTY_STRINGS: Readonly<Record<number, number>> = { 3: 1, 8: 1, 9: 1, 38: 2 };
const SUBSCRIPTION_ID = 11;

/** Returns the expiry interval of a message in milliseconds; 0 for none. */
export function lifeMsOf({ bytes, propertiesAt, payloadAt }: ReceivedPublish): number {
  let at = propertiesAt;
  while ((bytes[at++] as number) & 0x80);
  while (at < payloadAt) {
    const id = bytes[at++] as number;
    if (id === EXPIRY && at + 4 <= payloadAt) {
      const seconds = new DataView(bytes.buffer, bytes.byteOffset + at, 4).getUint32(0);
      return Math.min(seconds * 1000, LIFE_MAX_MS);
    }
    const size = PROPERTY_BYTES[id];
    if (size !== undefined) at += size;
    else if (id === SUBSCRIPTION_ID) while ((bytes[at++] as number) & 0x80);
    else {
      const strings = PROPERTY_STRINGS[id];
      if (strings === undefined) return 0;
      for (let n = 0; n < strings; n++) at += 2 + (((bytes[at] as number) << 8) | (bytes[at + 1] as number));
    }
  }
  return 0;
}

const MALFORMED = 'the broker sends what is no packet of MQTT 5';

/** Reads a variable byte integer. Returns the sum of its own size and its value; 0 if it is incomplete. */
function lengthAt(bytes: Uint8Array, at: number, end: number): number {
  let length = 0;
  let unit = 1;
  for (let next = at; next < end; next++) {
    const low = bytes[next] as number;
    length += (low & 0x7f) * unit;
    if (low < 0x80) return next + 1 - at + length;
    unit *= 0x80;
  }
  return 0;
}
