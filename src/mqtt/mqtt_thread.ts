import { NOTHING_SENT, type SentKind } from '../model/mqtt.ts';
import { Acks } from './acks.ts';
import type { BrokerBounds, MqttConnection, ConnectionOptions, MqttConnectionHandlers } from './broker_connection.ts';
import { trackerText } from './home_assistant_documents.ts';
import {
  type BrokerState,
  type FromMqttThread,
  MessageWriter,
  type MqttThreadData,
  type OutgoingMessage,
  readPublishing,
  type ThreadCounts,
  type ToMqttThread,
} from './messages.ts';
import { lifeMsOf, type ReceivedPublish, topicOf } from './packet_reader.ts';
import { PacketWriter } from './packets.ts';
import { PublishQueue } from './publish_queue.ts';
import { OFFLINE, ONLINE, PAYLOAD_BYTES_MAX, RECEIVE_MAX, SESSION_TAKEN_OVER } from './session.ts';
import { SuspectMessages } from './suspect_messages.ts';
import { isSourceTopic } from './topics.ts';
import { placeText } from './uns.ts';

/** Environment of the thread. */
export interface MqttThreadDeps {
  connect(options: ConnectionOptions, watch: MqttConnectionHandlers): MqttConnection;
  post(message: FromMqttThread): void;
  /** Schedules `callback` after `delayMs`. Returns a function that cancels it. */
  schedule(delayMs: number, callback: () => void): () => void;
  /** Calls `callback` at every interval. Returns a function that cancels it. */
  every(intervalMs: number, callback: () => void): () => void;
  /** Calls `callback` when all received bytes have been read. */
  afterReading(callback: () => void): void;
  nowMs(): number;
  /** Returns a random number in [0, 1). */
  random(): number;
}

/** Minimum and maximum delay before reconnecting. The delay doubles with each attempt, with 20 % jitter. */
const [PAUSE_MIN_MS, PAUSE_MAX_MS] = [500, 30_000] as const;
/** A connection that lasted this long resets the delay. */
const LASTED_MS = PAUSE_MAX_MS;
/**
 * Number of messages waiting for the hub above which QoS 0 messages are dropped. The broker does not hold these back.
 */
const UNTAKEN_MAX = 20_000;
/**
 * Number of waiting messages above which reading pauses. A broker that respects the Receive Maximum never exceeds it,
 * but Mosquitto 2.0 may after a hub has crashed.
 */
const READ_MAX = UNTAKEN_MAX + RECEIVE_MAX;
/** Maximum bytes of messages of remote procedure calls that wait for the hub. */
const RPC_UNTAKEN_BYTES_MAX = 8 << 20;
/** Intervals for publishing due messages and for reporting counts. */
const [DUE_MS, COUNTS_MS] = [50, 1000] as const;
/** Maximum time to publish waiting messages on closing. */
const CLOSE_MS = 3000;

/**
 * Thread side of the MQTT client. Reconnects indefinitely, passes received messages to the hub in batches, acknowledges
 * messages that the hub has accepted, and publishes the hub's messages.
 *
 *     broker ══ connection ── message ──▶ writer ─ batch ─▶ hub ─ taken ─▶ acks ──▶ PUBACK
 *     hub ── publish ──▶ queue ── room ──▶ packets ══▶ broker
 *
 * Messages of remote procedure calls and of Home Assistant are QoS 0 and bypass the batches, so that they do not wait
 * for locations.
 * A message for which the broker closes the connection is identified and dropped (suspect_messages.ts).
 */
export class MqttThread {
  readonly #data: Omit<MqttThreadData, 'settings'>;
  readonly #deps: MqttThreadDeps;
  readonly #queue: PublishQueue;
  readonly #acks = new Acks();
  readonly #arrived = new MessageWriter();
  #arrivedIds: number[] = [];
  readonly #rpcArrived = new MessageWriter();
  #rpcUntakenBytes = 0;
  readonly #packets = new PacketWriter();
  #connection: MqttConnection | undefined;
  #state: BrokerState;
  #inFlightMax = 0;
  #packetBytesMax = 0;
  /** QoS 1 messages in flight, in order of publication. */
  readonly #inFlight = new Set<OutgoingMessage>();
  /** Accepted bytes not yet reported to the main thread. */
  #takenOver = 0;
  #pauseMs: number = PAUSE_MIN_MS;
  /** Time at which the connection was established; undefined while disconnected. */
  #upMs: number | undefined;
  /** Whether the thread itself is closing the connection. */
  #isEnding = false;
  readonly #suspects = new SuspectMessages();
  #attempts: number;
  #batches: number;
  /** Batches that the hub has not accepted yet. */
  readonly #untaken = new Map<number, { readonly connection: number; readonly count: number }>();
  #untakenCount = 0;
  /** Last connection attempt whose batches the hub has dropped. */
  #forgotten: number;
  /** Whether reading is paused because too many messages wait for the hub. */
  #isFull = false;
  readonly #counts = { received: 0, redelivered: 0, lost: 0, published: 0, refused: 0 };
  readonly #sent: Record<SentKind, number> = { ...NOTHING_SENT };
  /** Cancels the periodic work. */
  #stop = (): void => undefined;
  #stopAttempt = (): void => undefined;
  #isClosing = false;
  #emptied: (() => void) | undefined;

  constructor(data: Omit<MqttThreadData, 'settings'>, deps: MqttThreadDeps) {
    this.#data = data;
    this.#deps = deps;
    this.#queue = new PublishQueue(data.queueBytesMax);
    const { batch, connection, connections } = data.after;
    this.#batches = batch;
    this.#attempts = connection;
    this.#forgotten = connection;
    this.#state = { isConnected: false, why: '', connections };
  }

  start(): void {
    const { every, nowMs } = this.#deps;
    const publishDue = (): void => {
      this.#queue.due(nowMs());
      this.#pump();
    };
    const stops = [every(DUE_MS, publishDue), every(COUNTS_MS, () => this.#postCounts())];
    this.#stop = () => {
      for (const stop of stops) stop();
    };
    this.#connect();
  }

  readonly take = (message: ToMqttThread): void => {
    switch (message.say) {
      case 'again':
        this.#forgotten = message.connection;
        for (const [batch, { connection }] of this.#untaken) if (connection <= message.connection) this.#end(batch);
        this.#isEnding = this.#connection !== undefined;
        void this.#connection?.end();
        return;
      case 'taken':
        this.#end(message.batch);
        if (this.#isFull && this.#untakenCount < UNTAKEN_MAX) this.#readsMore(true);
        this.#connection?.write(this.#acks.taken(message.batch, message.refused));
        return;
      case 'rpcTaken':
        // The report may include bytes of an earlier thread.
        this.#rpcUntakenBytes = Math.max(0, this.#rpcUntakenBytes - message.bytes);
        return;
      case 'publish':
        this.#offer(message.packed);
        return;
      case 'close':
        void this.#close();
        return;
    }
  };

  /** Removes a batch that the hub has accepted or dropped. */
  #end(batch: number): void {
    this.#untakenCount -= this.#untaken.get(batch)?.count ?? 0;
    this.#untaken.delete(batch);
  }

  #connect(): void {
    if (this.#isClosing) return;
    this.#attempts++;
    const { subscriptions, keepsSession, statusTopics } = this.#data;
    const [topic] = statusTopics;
    const will = topic === undefined ? undefined : { topic, payload: OFFLINE };
    this.#connection = this.#deps.connect(
      { subscriptions, keepsSession, will },
      {
        up: (broker) => this.#up(broker),
        message: (received) => this.#message(received),
        room: () => this.#pump(),
        notice: (text) => this.#notice(text),
        down: (why, reasonCode) => this.#down(why, reasonCode),
      },
    );
  }

  #up({ inFlightMax, packetBytesMax }: BrokerBounds): void {
    this.#inFlightMax = inFlightMax;
    this.#packetBytesMax = packetBytesMax;
    this.#upMs = this.#deps.nowMs();
    this.#postState({ isConnected: true, why: '', connections: this.#state.connections + 1 });
    this.#sayStatus(ONLINE);
    this.#pump();
  }

  #down(why: string, reasonCode: number | undefined): void {
    // Passes on the received messages before the connection changes.
    if (this.#arrivedIds.length > 0) this.#bring();
    this.#connection = undefined;
    this.#isFull = false;
    this.#acks.reset();
    const poison = this.#isEnding ? undefined : this.#suspects.closed(this.#inFlight, reasonCode);
    if (poison !== undefined) this.#drop(poison);
    this.#queue.disconnected([...this.#inFlight]);
    this.#inFlight.clear();
    this.#postState({ ...this.#state, isConnected: false, why });
    this.#emptied?.();
    if (this.#isClosing) return;
    const pauseMs = this.#nextPauseMs(reasonCode) * (0.8 + 0.4 * this.#deps.random());
    this.#upMs = undefined;
    this.#isEnding = false;
    this.#stopAttempt = this.#deps.schedule(pauseMs, () => this.#connect());
  }

  /** Returns the delay before reconnecting. It increases as long as connections close early. */
  #nextPauseMs(reasonCode: number | undefined): number {
    // Another hub has taken over the session. Reconnecting early, before this hub is informed of the new election,
    // would take it back.
    if (reasonCode === SESSION_TAKEN_OVER) return PAUSE_MAX_MS;
    const hasLasted = this.#upMs !== undefined && this.#deps.nowMs() - this.#upMs >= LASTED_MS;
    const pauseMs = hasLasted || this.#isEnding ? PAUSE_MIN_MS : this.#pauseMs;
    this.#pauseMs = Math.min(2 * pauseMs, PAUSE_MAX_MS);
    return pauseMs;
  }

  /** Drops a message for which the broker has closed the connection. */
  #drop(event: OutgoingMessage): void {
    this.#inFlight.delete(event);
    this.#queue.ended(event);
    this.#counts.refused++;
    this.#notice('A message is dropped that has ended the connection to the broker twice', event.topic);
  }

  /** hot */
  #message(received: ReceivedPublish): void {
    const { packetId, isRedelivered } = received;
    this.#counts.received++;
    if (isRedelivered) this.#counts.redelivered++;
    if (packetId === 0 && !isSourceTopic(topicOf(received))) {
      this.#rpcMessage(received);
      return;
    }
    if (packetId === 0 && this.#untakenCount + this.#arrivedIds.length >= UNTAKEN_MAX) {
      this.#counts.lost++;
      return;
    }
    this.#arrived.addArrived(cut(received));
    this.#arrivedIds.push(packetId);
    if (!this.#isFull && this.#untakenCount + this.#arrivedIds.length >= READ_MAX) this.#readsMore(false);
    if (this.#arrivedIds.length === 1) this.#deps.afterReading(this.#bring);
  }

  #readsMore(isWanted: boolean): void {
    this.#isFull = !isWanted;
    this.#connection?.read(isWanted);
  }

  readonly #bring = (): void => {
    if (this.#arrivedIds.length === 0) return;
    const [ids, packed, connection] = [this.#arrivedIds, this.#arrived.take(), this.#attempts];
    this.#arrivedIds = [];
    // The hub has dropped the batches of this connection.
    if (connection <= this.#forgotten) return;
    const batch = ++this.#batches;
    this.#acks.begin(batch, ids);
    this.#untaken.set(batch, { connection, count: ids.length });
    this.#untakenCount += ids.length;
    this.#deps.post({ say: 'arrived', batch, connection, packed });
  };

  #rpcMessage(received: ReceivedPublish): void {
    if (this.#rpcUntakenBytes + this.#rpcArrived.length >= RPC_UNTAKEN_BYTES_MAX) {
      this.#counts.lost++;
      return;
    }
    this.#rpcArrived.addArrived(received, lifeMsOf(received));
    if (this.#rpcArrived.count === 1) this.#deps.afterReading(this.#bringRpc);
  }

  readonly #bringRpc = (): void => {
    const packed = this.#rpcArrived.take();
    this.#rpcUntakenBytes += packed.length;
    this.#deps.post({ say: 'rpc', packed });
  };

  /** hot */
  #offer(packed: Uint8Array): void {
    const nowMs = this.#deps.nowMs();
    for (const publishing of readPublishing(packed)) {
      if (publishing.lifeMs > 0 && !this.#state.isConnected) {
        this.#queue.dropped++;
        continue;
      }
      if (this.#suspects.isBarred(publishing.topic)) {
        this.#counts.refused++;
        continue;
      }
      // Publishes a waiting message of the topic if possible, before the new one replaces it.
      if (publishing.qos === 0 && this.#queue.has(publishing.topic)) this.#pump();
      this.#queue.offer(publishing, nowMs);
    }
    this.#pump();
    this.#takenOver += packed.length;
    if (this.#takenOver < ROOM_BYTES) return;
    this.#deps.post({ say: 'room', bytes: this.#takenOver });
    this.#takenOver = 0;
  }

  /** Publishes as many messages as the broker accepts. hot */
  #pump(): void {
    const connection = this.#connection;
    if (connection?.hasRoom !== true) return;
    while (connection.hasRoom) {
      while (this.#packets.length < WRITE_BYTES) {
        const publishing = this.#queue.takeNewest();
        if (publishing === undefined) break;
        if (!this.#fits(publishing)) continue;
        this.#packets.add(publishing);
        this.#published(publishing);
      }
      if (this.#packets.length === 0) break;
      connection.write(this.#packets.take());
    }
    while (this.#inFlight.size < this.#suspects.inFlightMax(this.#inFlightMax)) {
      const event = this.#queue.takeEvent(this.#deps.nowMs());
      if (event === undefined) break;
      const payload = payloadOf(event);
      if (!this.#fits({ topic: event.topic, payload })) {
        this.#queue.ended(event);
        this.#suspects.settled();
        continue;
      }
      this.#inFlight.add(event);
      connection.publish({ ...event, payload }, (refused) => this.#ended(event, refused));
    }
    if (this.#inFlight.size === 0 && this.#queue.waiting === 0) this.#emptied?.();
  }

  #ended(event: OutgoingMessage, refused: string | undefined): void {
    if (!this.#inFlight.delete(event)) return;
    this.#queue.ended(event);
    this.#suspects.settled();
    if (refused === undefined) this.#published(event);
    else {
      this.#counts.refused++;
      this.#notice(`The broker refuses to publish: ${refused}`, event.topic);
    }
    this.#pump();
  }

  /** Whether the broker accepts a message of this size. It would close the connection on a larger one. hot */
  #fits({ topic, payload }: Pick<OutgoingMessage, 'topic' | 'payload'>): boolean {
    if (PUBLISH_HEAD_BYTES_MAX + 3 * topic.length + payload.length <= this.#packetBytesMax) return true;
    const size = PUBLISH_HEAD_BYTES_MAX + Buffer.byteLength(topic) + payload.length;
    if (size <= this.#packetBytesMax) return true;
    this.#counts.refused++;
    this.#notice(`The broker takes no packets of more than ${this.#packetBytesMax} bytes`, topic);
    return false;
  }

  #notice(text: string, topic?: string): void {
    this.#deps.post({ say: 'notice', text, ...(topic !== undefined && { topic }) });
  }

  /** hot */
  #published({ sentAs }: OutgoingMessage): void {
    this.#counts.published++;
    if (sentAs !== undefined) this.#sent[sentAs]++;
  }

  #sayStatus(status: string): void {
    for (const topic of this.#data.statusTopics) {
      const payload = Buffer.from(status);
      const always = { minIntervalMs: 0, motionAs: undefined, lifeMs: 0, sentAs: undefined } as const;
      this.#queue.offer({ topic, payload, qos: 1, isRetained: true, ...always }, this.#deps.nowMs());
    }
  }

  async #close(): Promise<void> {
    this.#isClosing = true;
    this.#stopAttempt();
    this.#queue.due(Number.POSITIVE_INFINITY);
    this.#sayStatus(OFFLINE);
    await new Promise<void>((resolve) => {
      this.#emptied = resolve;
      this.#deps.schedule(CLOSE_MS, resolve);
      if (this.#state.isConnected) this.#pump();
      else resolve();
    });
    this.#stop();
    this.#postCounts();
    await this.#connection?.end();
    this.#deps.post({ say: 'closed' });
  }

  #postState(state: BrokerState): void {
    this.#state = state;
    this.#deps.post({ say: 'state', state });
  }

  #postCounts(): void {
    const { replaced, dropped, waiting, bytes } = this.#queue;
    const counts: ThreadCounts = { ...this.#counts, replaced, dropped, waiting, waitingBytes: bytes, sent: this.#sent };
    this.#deps.post({ say: 'counts', counts });
  }
}

/** Returns the payload of a message. A motion is converted to its form. */
function payloadOf({ motionAs, payload }: OutgoingMessage): Uint8Array {
  if (motionAs === undefined) return payload;
  const motion = Buffer.from(payload).toString();
  return Buffer.from(motionAs === 'uns' ? placeText(motion) : trackerText(motion));
}

/** Truncates an oversized payload to a length that is still recognized as too long. hot */
function cut(received: ReceivedPublish): ReceivedPublish {
  const { payloadAt, payloadEnd } = received;
  if (payloadEnd - payloadAt <= PAYLOAD_BYTES_MAX) return received;
  return { ...received, payloadEnd: payloadAt + PAYLOAD_BYTES_MAX + 1 };
}

/** Accepted bytes after which the main thread is notified; far less than the minimum of mqtt_max_queue. */
const ROOM_BYTES = 128 << 10;
/** Approximate bytes of a PUBLISH besides topic and payload: type, lengths, packet id, expiry. */
const PUBLISH_HEAD_BYTES_MAX = 16;
/** Maximum bytes of packets written at once. */
const WRITE_BYTES = 256 << 10;
