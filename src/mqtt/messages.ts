import { SENT_KINDS, type SentCounts, type SentKind } from '../model/mqtt.ts';
import type { BrokerSettings, Subscribing } from './broker_connection.ts';
import type { ReceivedPublish } from './packet_reader.ts';

/** Messages between the main thread and the thread of the MQTT client. Bytes are transferred, not copied. */

export interface MqttThreadData {
  readonly settings: BrokerSettings;
  readonly subscriptions: readonly Subscribing[];
  /** Topics of the retained status of the hub; the first is also that of the last will. May be empty. */
  readonly statusTopics: readonly string[];
  /** Whether the broker stores the session while the client is disconnected. */
  readonly keepsSession: boolean;
  readonly queueBytesMax: number;
  /**
   * Last numbers of the threads before this one. Numbers continue, so that late messages on their batches match no
   * other.
   */
  readonly after: ResumePoint;
}

/** Last numbers of a thread. */
export interface ResumePoint {
  /** The last batch. */
  readonly batch: number;
  /** Connection attempt of that batch. */
  readonly connection: number;
  /** Connections established. */
  readonly connections: number;
}

export type ToMqttThread =
  /** A batch was accepted except for `refused`. */
  | { readonly say: 'taken'; readonly batch: number; readonly refused: readonly RejectedMessage[] }
  /**
   * Batches up to this connection are dropped. The thread reconnects, so that the broker redelivers unacknowledged
   * messages.
   */
  | { readonly say: 'again'; readonly connection: number }
  | { readonly say: 'publish'; readonly packed: Uint8Array<ArrayBuffer> }
  /** That many bytes of `rpc` were processed. */
  | { readonly say: 'rpcTaken'; readonly bytes: number }
  /** Publishes waiting messages and the offline status, and disconnects cleanly. */
  | { readonly say: 'close' };

export type FromMqttThread =
  | {
      readonly say: 'arrived';
      readonly batch: number;
      readonly connection: number;
      readonly packed: Uint8Array<ArrayBuffer>;
    }
  /** Messages of remote procedure calls, which do not wait for locations. */
  | { readonly say: 'rpc'; readonly packed: Uint8Array<ArrayBuffer> }
  | { readonly say: 'state'; readonly state: BrokerState }
  /** That many bytes to publish were accepted. */
  | { readonly say: 'room'; readonly bytes: number }
  | { readonly say: 'counts'; readonly counts: ThreadCounts }
  /** A problem. `topic`: where it occurred, if it concerns one of many topics. */
  | { readonly say: 'notice'; readonly text: string; readonly topic?: string }
  | { readonly say: 'closed' };

/** Index of a message in its batch, and the reason code of MQTT 5 for its rejection. */
export type RejectedMessage = readonly [place: number, reasonCode: number];

export interface BrokerState {
  readonly isConnected: boolean;
  /** Why it is not connected; empty while it is, and before the first attempt. */
  readonly why: string;
  /** Connections established since start. */
  readonly connections: number;
}

/** Counters since start, except `waiting` and `waitingBytes`, which are current. */
export interface ThreadCounts {
  readonly received: number;
  /** Delivered before, according to the broker. */
  readonly redelivered: number;
  /** QoS 0 messages dropped because too many waited for the hub. */
  readonly lost: number;
  readonly published: number;
  /** Messages replaced by a newer one of their topic before they were published. */
  readonly replaced: number;
  readonly dropped: number;
  /** Rejected by the broker, or larger than it accepts. */
  readonly refused: number;
  readonly waiting: number;
  readonly waitingBytes: number;
  /** Part of `published` that counts as usage. */
  readonly sent: SentCounts;
}

/** PUBACK reason codes: invalid payload, invalid topic. */
export const PAYLOAD_INVALID = 0x99;
export const TOPIC_INVALID = 0x90;

/** A message received from the broker. */
export interface ReceivedMessage {
  readonly topic: string;
  readonly payload: Uint8Array;
  /** Whether the broker had it stored. */
  readonly isRetained: boolean;
  /** Remaining expiry interval; 0 for none. */
  readonly lifeMs: number;
}

/** A message to publish. */
export interface OutgoingMessage {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly qos: 0 | 1;
  readonly isRetained: boolean;
  /** Shortest interval between two messages of a topic. Of those in between, the newest counts. */
  readonly minIntervalMs: number;
  /** Whether the payload is a motion, from which the position for the unified namespace is made. */
  readonly isMotion: boolean;
  /**
   * Expiry interval; 0 for none. A message with an expiry belongs to the connection that is open when it is submitted,
   * and is not published on another one.
   */
  readonly lifeMs: number;
  /** Usage counter for the published message. */
  readonly sentAs: SentKind | undefined;
}

/**
 * Consecutive messages, each as
 *
 *     0  u8 flags: 1 retained, 2 QoS 1, 4 a motion    1  u8 index in SENT_KINDS plus 1; 0 if it does not count
 *     2  u16 bytes of topic    4  u32 bytes of payload    8  u32 minIntervalMs    12  u32 lifeMs
 *    16  topic (UTF-8), payload
 */
const HEAD_BYTES = 16;
const [RETAINED, QOS_1, MOTION] = [1, 2, 4];
const FIRST_BYTES = 64 << 10;
/** Memory that a writer retains for the next messages. */
const KEPT_BYTES = 1 << 20;
const NO_BYTES = Buffer.alloc(0);
/** The longest topic of MQTT. */
export const TOPIC_BYTES_MAX = 0xffff;

/** Packs consecutive messages into its own memory. */
export class MessageWriter {
  #bytes = NO_BYTES;
  #length = 0;
  count = 0;

  /** Number of packed bytes. */
  get length(): number {
    return this.#length;
  }

  /** Copies a message of the broker. `lifeMs`: its remaining expiry interval if needed; 0 for none. hot */
  addArrived({ bytes: from, topicAt, topicEnd, payloadAt, payloadEnd, isRetained }: ReceivedPublish, lifeMs = 0): void {
    const [topicBytes, payloadBytes] = [topicEnd - topicAt, payloadEnd - payloadAt];
    const bytes = this.#roomFor(HEAD_BYTES + topicBytes + payloadBytes);
    const at = this.#length + HEAD_BYTES;
    bytes.set(from.subarray(topicAt, topicEnd), at);
    bytes.set(from.subarray(payloadAt, payloadEnd), at + topicBytes);
    this.#end({ topicBytes, payloadBytes, flags: isRetained ? RETAINED : 0, kind: 0, minIntervalMs: 0, lifeMs });
  }

  /** hot */
  addPublishing({ topic, payload, qos, isRetained, minIntervalMs, isMotion, lifeMs, sentAs }: OutgoingMessage): void {
    const flags = (isRetained ? RETAINED : 0) | (qos === 1 ? QOS_1 : 0) | (isMotion ? MOTION : 0);
    const kind = sentAs === undefined ? 0 : SENT_KINDS.indexOf(sentAs) + 1;
    // A UTF-16 code unit takes at most three bytes.
    const bytes = this.#roomFor(HEAD_BYTES + topic.length * 3 + payload.length);
    const at = this.#length + HEAD_BYTES;
    const topicBytes = bytes.write(topic, at);
    bytes.set(payload, at + topicBytes);
    this.#end({ topicBytes, payloadBytes: payload.length, flags, kind, minIntervalMs, lifeMs });
  }

  /** Returns the packed messages, to be transferred, and empties the writer. */
  take(): Uint8Array<ArrayBuffer> {
    // A copy of the exact size: memory outside of the heap triggers garbage collection in V8, used or not.
    const packed = Uint8Array.from(this.#bytes.subarray(0, this.#length));
    if (this.#bytes.length > KEPT_BYTES) this.#bytes = NO_BYTES;
    this.#length = 0;
    this.count = 0;
    return packed;
  }

  /** Writes the header of a topic and payload that are already in place. */
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

/** Reads messages packed by a MessageWriter. Payloads are views of the packed bytes. */
export function readArrived(packed: Uint8Array): ReceivedMessage[] {
  return readAll(packed, ({ topic, payload, flags, lifeMs }) => {
    return { topic, payload, isRetained: (flags & RETAINED) !== 0, lifeMs };
  });
}

export function readPublishing(packed: Uint8Array): OutgoingMessage[] {
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
