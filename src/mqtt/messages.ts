import { SENT_KINDS, type SentCounts, type SentKind } from '../model/mqtt.ts';
import type { BrokerSettings, Subscribing } from './broker_connection.ts';
import type { ReceivedPublish } from './packet_reader.ts';

/**
 * Initial data of the MQTT client's thread. Messages between it and the main thread transfer bytes instead of copying
 * them.
 */

export interface MqttThreadData {
  readonly settings: BrokerSettings;
  readonly subscriptions: readonly Subscribing[];
  /** Topics of the hub's retained status; may be empty. The first one is also the topic of the last will. */
  readonly statusTopics: readonly string[];
  /** Whether the broker stores the session while the client is disconnected. */
  readonly keepsSession: boolean;
  readonly queueBytesMax: number;
  /**
   * Last numbers of the previous threads. Numbering continues, so that late replies to their batches match no batch of
   * this thread.
   */
  readonly after: ResumePoint;
}

/** Last numbers of a thread. */
export interface ResumePoint {
  /** The last batch. */
  readonly batch: number;
  /** Connection attempt in which the last batch was received. */
  readonly connection: number;
  /** Number of connections established. */
  readonly connections: number;
}

export type ToMqttThread =
  /** A batch was accepted except for `refused`. */
  | { readonly say: 'taken'; readonly batch: number; readonly refused: readonly RejectedMessage[] }
  /**
   * The hub has dropped batches up to this connection. The thread reconnects, so that the broker redelivers
   * unacknowledged messages.
   */
  | { readonly say: 'again'; readonly connection: number }
  | { readonly say: 'publish'; readonly packed: Uint8Array<ArrayBuffer> }
  /** `bytes` bytes of `rpc` messages were processed. */
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
  /** Messages of remote procedure calls, which bypass the batches of locations. */
  | { readonly say: 'rpc'; readonly packed: Uint8Array<ArrayBuffer> }
  | { readonly say: 'state'; readonly state: BrokerState }
  /** `bytes` bytes to publish were accepted. */
  | { readonly say: 'room'; readonly bytes: number }
  | { readonly say: 'counts'; readonly counts: ThreadCounts }
  /** A problem to log. `topic` is set if it concerns a single topic. */
  | { readonly say: 'notice'; readonly text: string; readonly topic?: string }
  | { readonly say: 'closed' };

/** Index of a message in its batch, and the MQTT 5 reason code of its rejection. */
export type RejectedMessage = readonly [place: number, reasonCode: number];

export interface BrokerState {
  readonly isConnected: boolean;
  /** Why the client is disconnected; empty while connected and before the first attempt. */
  readonly why: string;
  /** Number of connections established since start. */
  readonly connections: number;
}

/** Counters since start, except `waiting` and `waitingBytes`, which are current. */
export interface ThreadCounts {
  readonly received: number;
  /** Messages marked by the broker as delivered before. */
  readonly redelivered: number;
  /** QoS 0 messages dropped because too many messages waited for the hub. */
  readonly lost: number;
  readonly published: number;
  /** Messages that a newer one of their topic replaced before they were published. */
  readonly replaced: number;
  readonly dropped: number;
  /** Messages that the broker rejected, or that exceed its maximum size. */
  readonly refused: number;
  readonly waiting: number;
  readonly waitingBytes: number;
  /** Published messages that count as usage. */
  readonly sent: SentCounts;
}

/** PUBACK reason codes: invalid payload, invalid topic. */
export const PAYLOAD_INVALID = 0x99;
export const TOPIC_INVALID = 0x90;

/** A message received from the broker. */
export interface ReceivedMessage {
  readonly topic: string;
  readonly payload: Uint8Array;
  /** Whether the broker delivered the message as a retained one. */
  readonly isRetained: boolean;
  /** Remaining expiry interval; 0 for none. */
  readonly lifeMs: number;
}

/** Messages to which a motion is converted: a position in the unified namespace, or of a tracker of Home Assistant. */
export const MOTION_FORMS = ['uns', 'tracker'] as const;
export type MotionForm = (typeof MOTION_FORMS)[number];

/** A message to publish. */
export interface OutgoingMessage {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly qos: 0 | 1;
  readonly isRetained: boolean;
  /** Minimum interval between two messages of a topic. Of the messages in between, only the newest is published. */
  readonly minIntervalMs: number;
  /** Message to which the payload, a motion, is converted; undefined if it is published as it is. */
  readonly motionAs: MotionForm | undefined;
  /** Expiry interval; 0 for none. A message that expires is published on the current connection or not at all. */
  readonly lifeMs: number;
  /** Usage counter that the message increments; undefined for none. */
  readonly sentAs: SentKind | undefined;
}

/**
 * Packed format of messages. Each is
 *
 *     0  u8 flags: 1 retained, 2 QoS 1, 4 and 8 forms of a motion    1  u8 index in SENT_KINDS plus 1; 0 if it does not count
 *     2  u16 bytes of topic    4  u32 bytes of payload    8  u32 minIntervalMs    12  u32 lifeMs
 *    16  topic (UTF-8), payload
 */
const HEAD_BYTES = 16;
const [RETAINED, QOS_1] = [1, 2];
/** Flags of MOTION_FORMS. */
const MOTIONS = [4, 8];
const FIRST_BYTES = 64 << 10;
/** Maximum memory that a writer retains for further messages, in bytes. */
const KEPT_BYTES = 1 << 20;
const NO_BYTES = Buffer.alloc(0);
/** Maximum length of an MQTT topic. */
export const TOPIC_BYTES_MAX = 0xffff;

/** Packs messages into a contiguous buffer. */
export class MessageWriter {
  #bytes = NO_BYTES;
  #length = 0;
  count = 0;

  /** Number of packed bytes. */
  get length(): number {
    return this.#length;
  }

  /** Copies a received message. `lifeMs` is its remaining expiry interval if the reader needs it; 0 for none. hot */
  addArrived({ bytes: from, topicAt, topicEnd, payloadAt, payloadEnd, isRetained }: ReceivedPublish, lifeMs = 0): void {
    const [topicBytes, payloadBytes] = [topicEnd - topicAt, payloadEnd - payloadAt];
    const bytes = this.#roomFor(HEAD_BYTES + topicBytes + payloadBytes);
    const at = this.#length + HEAD_BYTES;
    bytes.set(from.subarray(topicAt, topicEnd), at);
    bytes.set(from.subarray(payloadAt, payloadEnd), at + topicBytes);
    this.#end({ topicBytes, payloadBytes, flags: isRetained ? RETAINED : 0, kind: 0, minIntervalMs: 0, lifeMs });
  }

  /** hot */
  addPublishing({ topic, payload, qos, isRetained, minIntervalMs, motionAs, lifeMs, sentAs }: OutgoingMessage): void {
    const motion = motionAs === undefined ? 0 : (MOTIONS[MOTION_FORMS.indexOf(motionAs)] as number);
    const flags = (isRetained ? RETAINED : 0) | (qos === 1 ? QOS_1 : 0) | motion;
    const kind = sentAs === undefined ? 0 : SENT_KINDS.indexOf(sentAs) + 1;
    // A UTF-16 code unit takes at most three bytes.
    const bytes = this.#roomFor(HEAD_BYTES + topic.length * 3 + payload.length);
    const at = this.#length + HEAD_BYTES;
    const topicBytes = bytes.write(topic, at);
    bytes.set(payload, at + topicBytes);
    this.#end({ topicBytes, payloadBytes: payload.length, flags, kind, minIntervalMs, lifeMs });
  }

  /** Returns the packed messages for a transfer, and empties the writer. */
  take(): Uint8Array<ArrayBuffer> {
    // Copies to the exact size, since V8 counts unused memory outside the heap towards garbage collection as well.
    const packed = Uint8Array.from(this.#bytes.subarray(0, this.#length));
    if (this.#bytes.length > KEPT_BYTES) this.#bytes = NO_BYTES;
    this.#length = 0;
    this.count = 0;
    return packed;
  }

  /** Writes the header of a message whose topic and payload are already written. */
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
    const motionAs = MOTION_FORMS.find((_, i) => (flags & (MOTIONS[i] as number)) !== 0);
    return { topic, payload, qos, isRetained, minIntervalMs, motionAs, lifeMs, sentAs };
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
