import type { OutgoingMessage } from './messages.ts';

const PUBLISH = 0x30;
const RETAIN = 1;
const FIRST_BYTES = 64 << 10;
/** Upper bound of the size of a PUBLISH without topic and payload: type, length, length of the topic, no properties. */
const HEAD_BYTES = 8;

/**
 * Collects QoS 0 PUBLISH packets for one write: MQTT 5, section 3.3. hot
 *
 *     u8 0x30 | retain    length, 7 bits a byte    u16 bytes of topic, topic    0 (no properties)    payload
 */
export class PacketWriter {
  #bytes = Buffer.allocUnsafe(FIRST_BYTES);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  add({ topic, payload, isRetained }: OutgoingMessage): void {
    const topicBytes = Buffer.byteLength(topic);
    const remaining = 2 + topicBytes + 1 + payload.length;
    const bytes = this.#roomFor(HEAD_BYTES + remaining);
    let at = this.#length;
    bytes[at++] = isRetained ? PUBLISH | RETAIN : PUBLISH;
    let left = remaining;
    do {
      const low = left & 0x7f;
      left >>= 7;
      bytes[at++] = left > 0 ? low | 0x80 : low;
    } while (left > 0);
    at = bytes.writeUInt16BE(topicBytes, at);
    at += bytes.write(topic, at);
    bytes[at++] = 0;
    bytes.set(payload, at);
    this.#length = at + payload.length;
  }

  /** Returns the packets and empties the writer. The memory belongs to the caller. */
  take(): Uint8Array {
    // Copies to the exact size, since V8 counts unused memory outside the heap towards garbage collection as well.
    const packets = Buffer.from(this.#bytes.subarray(0, this.#length));
    this.#length = 0;
    return packets;
  }

  #roomFor(more: number): Buffer {
    const needed = this.#length + more;
    if (needed > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(2 * needed);
      larger.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = larger;
    }
    return this.#bytes;
  }
}
