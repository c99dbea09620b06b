import { SENT_KINDS, type SentCounts, type SentKind } from '../model/mqtt.ts';
import type { BrokerSettings, Subscribing } from './broker_connection.ts';
import type { Received } from './packet_reader.ts';

/** What crosses between the front thread and the thread of the MQTT client. Bytes are transferred, not copied. */

export interface MqttThreadData {
  readonly settings: BrokerSettings;
  readonly subscriptions: readonly Subscribing[];
  /** Where the hub says that it is there, retained; the first is the last will's. Empty: nowhere. */
  readonly statusTopics: readonly string[];
  /** Whether the broker keeps the session while the client is away. */
  readonly keepsSession: boolean;
  readonly queueBytesMax: number;
  /** Where the threads before this one have ended. Numbers go on: what is said late of one of their batches means no other. */
  readonly after: Numbers;
}

/** What was heard of a thread, or of all before it. */
export interface Numbers {
  /** The last batch. */
  readonly batch: number;
  /** The attempt to connect that has brought it. */
  readonly connection: number;
  /** Connections that were made. */
  readonly connections: number;
}

export type ToMqttThread =
  /** A batch that has arrived was accepted, but for these: their places, and the reason codes that answer them. */
  | { readonly say: 'taken'; readonly batch: number; readonly refused: readonly Refused[] }
  /**
   * What has come up to this connection is forgotten. It ends, and is made again: the broker sends what has no acknowledgement
   * once more.
   */
  | { readonly say: 'again'; readonly connection: number }
  | { readonly say: 'publish'; readonly packed: Uint8Array<ArrayBuffer> }
  /** So many bytes of `rpc` were taken. */
  | { readonly say: 'rpcTaken'; readonly bytes: number }
  /** What waits is published, the birth is taken back, and the connection ends in order. */
  | { readonly say: 'close' };

export type FromMqttThread =
  | {
      readonly say: 'arrived';
      readonly batch: number;
      readonly connection: number;
      readonly packed: Uint8Array<ArrayBuffer>;
    }
  /** Messages of remote procedure calls, which wait for no locations. */
  | { readonly say: 'rpc'; readonly packed: Uint8Array<ArrayBuffer> }
  | { readonly say: 'state'; readonly state: BrokerState }
  /** So many bytes of what was to be published were taken over. */
  | { readonly say: 'room'; readonly bytes: number }
  | { readonly say: 'counts'; readonly counts: ThreadCounts }
  /** Something is wrong. `topic`: where, if that may be one of many. */
  | { readonly say: 'notice'; readonly text: string; readonly topic?: string }
  | { readonly say: 'closed' };

/** The place of a message in its batch, and why it is not accepted, as MQTT 5 has it. */
export type Refused = readonly [place: number, reasonCode: number];

export interface BrokerState {
  readonly isConnected: boolean;
  /** Why it is not; empty while it is, and before the first attempt. */
  readonly why: string;
  /** Connections that were made since the start. */
  readonly connections: number;
}

/** Counted since the start; but for what waits, which is what is there now. */
export interface ThreadCounts {
  readonly received: number;
  /** Received before, as far as the broker says. */
  readonly redelivered: number;
  /** Of QoS 0, while too much waited for the hub. */
  readonly lost: number;
  readonly published: number;
  /** Places that a newer one has replaced before the broker took them. */
  readonly replaced: number;
  readonly dropped: number;
  /** Refused by the broker, or larger than it takes. */
  readonly refused: number;
  readonly waiting: number;
  readonly waitingBytes: number;
  /** What of `published` counts as used. */
  readonly sent: SentCounts;
}

/** PUBACK reason code: the payload is not what the topic is for. */
export const PAYLOAD_INVALID = 0x99;
export const TOPIC_INVALID = 0x90;

/** A message that has come in. */
export interface Arrived {
  readonly topic: string;
  readonly payload: Uint8Array;
  /** Stored by the broker at some time before. */
  readonly isRetained: boolean;
  /** How long it is still of use, as far as its sender has said; 0: for ever. */
  readonly lifeMs: number;
}

/** Something to be published. */
export interface Publishing {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly qos: 0 | 1;
  readonly isRetained: boolean;
  /** Time between two of a topic, of which the newest counts. */
  readonly minIntervalMs: number;
  /** The payload is a motion, of which the unified namespace is told the place. */
  readonly isMotion: boolean;
  /**
   * How long it is of use; 0: for ever. What has such an end belongs to the connection that stands when it is handed over: it
   * is not published by another one.
   */
  readonly lifeMs: number;
  /** As what it counts once the broker has it. */
  readonly sentAs: SentKind | undefined;
}

/**
 * Messages in a row, each as
 *
 *     0  u8 flags: 1 retained, 2 QoS 1, 4 a motion    1  u8 place in SENT_KINDS, from 1; 0 if it does not count
 *     2  u16 bytes of topic    4  u32 bytes of payload    8  u32 minIntervalMs    12  u32 lifeMs
 *    16  topic (UTF-8), payload
 */
const HEAD_BYTES = 16;
const [RETAINED, QOS_1, MOTION] = [1, 2, 4];
const FIRST_BYTES = 64 << 10;
/** Memory that a writer keeps for the next messages. */
const KEPT_BYTES = 1 << 20;
const NO_BYTES = Buffer.alloc(0);
/** The longest topic of MQTT. */
export const TOPIC_BYTES_MAX = 0xffff;

/** Packs messages one after the other into memory of their own. */
export class MessageWriter {
  #bytes = NO_BYTES;
  #length = 0;
  count = 0;

  /** Bytes that are packed. */
  get length(): number {
    return this.#length;
  }

  /** Copies a message of the broker. `lifeMs`: how long it is still of use, where somebody wants to know; 0: for ever. hot */
  addArrived({ bytes: from, topicAt, topicEnd, payloadAt, payloadEnd, isRetained }: Received, lifeMs = 0): void {
    const [topicBytes, payloadBytes] = [topicEnd - topicAt, payloadEnd - payloadAt];
    const bytes = this.#roomFor(HEAD_BYTES + topicBytes + payloadBytes);
    const at = this.#length + HEAD_BYTES;
    bytes.set(from.subarray(topicAt, topicEnd), at);
    bytes.set(from.subarray(payloadAt, payloadEnd), at + topicBytes);
    this.#end({ topicBytes, payloadBytes, flags: isRetained ? RETAINED : 0, kind: 0, minIntervalMs: 0, lifeMs });
  }

  /** hot */
  addPublishing({ topic, payload, qos, isRetained, minIntervalMs, isMotion, lifeMs, sentAs }: Publishing): void {
    const flags = (isRetained ? RETAINED : 0) | (qos === 1 ? QOS_1 : 0) | (isMotion ? MOTION : 0);
    const kind = sentAs === undefined ? 0 : SENT_KINDS.indexOf(sentAs) + 1;
    // A character of UTF-16 takes three bytes at most.
    const bytes = this.#roomFor(HEAD_BYTES + topic.length * 3 + payload.length);
    const at = this.#length + HEAD_BYTES;
    const topicBytes = bytes.write(topic, at);
    bytes.set(payload, at + topicBytes);
    this.#end({ topicBytes, payloadBytes: payload.length, flags, kind, minIntervalMs, lifeMs });
  }

  /** What was packed, to be transferred. The writer begins anew. */
  take(): Uint8Array<ArrayBuffer> {
    // A copy of just that size: memory outside of the heap makes V8 collect garbage, used or not.
    const packed = Uint8Array.from(this.#bytes.subarray(0, this.#length));
    if (this.#bytes.length > KEPT_BYTES) this.#bytes = NO_BYTES;
    this.#length = 0;
    this.count = 0;
    return packed;
  }

  /** Writes what stands in front of a topic and a payload that are there already. */
  #end({ topicBytes, payloadBytes, flags, kind, minIntervalMs, lifeMs }: Head): void {
    const [bytes, start] = [this.#bytes, this.#length];
    bytes[start] = flags;
    bytes[start + 1] = kind;
    bytes.writeUInt16LE(topicBytes, start + 2);
    bytes.writeUInt32LE(payloadBytes, start + 4);
    bytes.writeUInt32LE(minIntervalMs, start + 8);
    bytes.writeUInt32LE(lifeMs, start + 12);
    this.#length = start + HEAD_BYTES + topicBytes + payloadBytes;
    this.count++;
  }

  #roomFor(more: number): Buffer {
    const needed = this.#length + more;
    if (needed <= this.#bytes.length) return this.#bytes;
    const larger = Buffer.allocUnsafe(Math.max(FIRST_BYTES, 2 * needed));
    if (this.#length > 0) larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
    return larger;
  }
}

interface Head {
  readonly topicBytes: number;
  readonly payloadBytes: number;
  readonly flags: number;
  readonly kind: number;
  readonly minIntervalMs: number;
  readonly lifeMs: number;
}

/** Reads what a MessageWriter has packed. Payloads lie in the packed bytes. */
export function readArrived(packed: Uint8Array): Arrived[] {
  return readAll(packed, ({ topic, payload, flags, lifeMs }) => {
    return { topic, payload, isRetained: (flags & RETAINED) !== 0, lifeMs };
  });
}

export function readPublishing(packed: Uint8Array): Publishing[] {
  return readAll(packed, ({ topic, payload, flags, kind, minIntervalMs, lifeMs }) => {
    const [isRetained, qos] = [(flags & RETAINED) !== 0, (flags & QOS_1) === 0 ? 0 : 1] as const;
    const sentAs = SENT_KINDS[kind - 1];
    return { topic, payload, qos, isRetained, minIntervalMs, isMotion: (flags & MOTION) !== 0, lifeMs, sentAs };
  });
}

interface Read {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly flags: number;
  readonly kind: number;
  readonly minIntervalMs: number;
  readonly lifeMs: number;
}

// hot
function readAll<T>(packed: Uint8Array, make: (read: Read) => T): T[] {
  const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.length);
  const all: T[] = [];
  let at = 0;
  while (at < bytes.length) {
    const topicEnd = at + HEAD_BYTES + bytes.readUInt16LE(at + 2);
    const end = topicEnd + bytes.readUInt32LE(at + 4);
    const topic = bytes.toString('utf8', at + HEAD_BYTES, topicEnd);
    const [flags, kind, minIntervalMs, lifeMs] = [
      bytes[at] as number,
      bytes[at + 1] as number,
      bytes.readUInt32LE(at + 8),
      bytes.readUInt32LE(at + 12),
    ];
    all.push(make({ topic, payload: bytes.subarray(topicEnd, end), flags, kind, minIntervalMs, lifeMs }));
    at = end;
  }
  return all;
}
