/** A message of the broker, where it lies in the bytes that have come. They are good during the call only. */
export interface Received {
  readonly bytes: Uint8Array;
  /** Of its topic, in UTF-8. */
  readonly topicAt: number;
  readonly topicEnd: number;
  /** Of its properties, which end where the payload begins. */
  readonly propertiesAt: number;
  readonly payloadAt: number;
  readonly payloadEnd: number;
  /** 0 for QoS 0. */
  readonly packetId: number;
  readonly isRetained: boolean;
  /** The broker has sent it before. */
  readonly isRedelivered: boolean;
}

/** Takes what a PacketReader finds. */
export interface PacketTaker {
  message(received: Received): void;
  /** Whole packets of other kinds, in a row. Their bytes do not change any more. */
  others(packets: Uint8Array): void;
}

const PUBLISH = 3;
const [DUPLICATE, QOS, RETAIN] = [0x08, 0x06, 0x01];
const QOS_1 = 0x02;
/** Type, and a length of up to four bytes. */
const HEAD_BYTES_MAX = 5;
const FIRST_BYTES = 4 << 10;

/**
 * Cuts what a broker sends into packets, and reads its messages: MQTT 5, sections 2.1 and 3.3. hot
 *
 *     u8 0x30 | duplicate, QoS, retain    length, 7 bits a byte
 *     u16 bytes of topic, topic    u16 packet id, with QoS 1    length of properties, 7 bits a byte, properties    payload
 *
 * What lies whole in what has come is read where it lies; only a packet that is cut in two is put together first.
 */
export class PacketReader {
  readonly #on: PacketTaker;
  readonly #bytesMax: number;
  /** The beginning of a packet whose end has not come. */
  #held = Buffer.allocUnsafe(FIRST_BYTES);
  #heldBytes = 0;

  constructor(on: PacketTaker, { bytesMax }: { readonly bytesMax: number }) {
    this.#on = on;
    this.#bytesMax = bytesMax;
  }

  /** Takes the next bytes. Throws an Error that says what is wrong with them; then there is nothing more to read. */
  push(chunk: Uint8Array): void {
    const rest = this.#heldBytes === 0 ? 0 : this.#finishHeld(chunk);
    const read = this.#read(chunk, rest, chunk.length);
    if (read < chunk.length) this.#hold(chunk, read, chunk.length);
  }

  /** Adds to the held packet what it lacks, and reads it if that is all. Returns how many bytes that took. */
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
    // Its memory is used again, and what is no message may be kept.
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

  /** Reads whole packets; returns where the first one begins that is not. */
  #read(bytes: Uint8Array, from: number, end: number): number {
    const { others } = this.#on;
    let at = from;
    /** Where packets of other kinds begin that are not handed on yet. */
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

  /** Bytes of the packet that begins there; 0 where its head is not complete. */
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

/** The topic of a message, as text. */
export function topicOf({ bytes, topicAt, topicEnd }: Received): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8', topicAt, topicEnd);
}

/** A longer life is as good as for ever, and takes more than 32 bits. */
const LIFE_MAX_MS = 2 ** 31;
const EXPIRY = 0x02;
/** Bytes of a property by its id, where all of its values have as many: MQTT 5, section 2.2.2.2. */
const PROPERTY_BYTES: Readonly<Record<number, number>> = { 1: 1, [EXPIRY]: 4, 35: 2 };
/** How many texts or byte strings, each behind its length, the others have. */
const PROPERTY_STRINGS: Readonly<Record<number, number>> = { 3: 1, 8: 1, 9: 1, 38: 2 };
const SUBSCRIPTION_ID = 11;

/** How long a message is still of use, as far as its sender has said, in milliseconds; 0: for ever. */
export function lifeMsOf({ bytes, propertiesAt, payloadAt }: Received): number {
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

/** Reads a length of seven bits a byte; returns its own bytes and those that it counts, 0 where it is not complete. */
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
