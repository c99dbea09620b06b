import { NOTHING_SENT, type SentKind } from '../model/mqtt.ts';
import { Acks } from './acks.ts';
import type { BrokerBounds, Connection, ConnectionOptions, ConnectionWatch } from './broker_connection.ts';
import {
  type BrokerState,
  type FromMqttThread,
  MessageWriter,
  type MqttThreadData,
  type Publishing,
  readPublishing,
  type ThreadCounts,
  type ToMqttThread,
} from './messages.ts';
import { lifeMsOf, type Received, topicOf } from './packet_reader.ts';
import { PacketWriter } from './packets.ts';
import { PublishQueue } from './publish_queue.ts';
import { isRpcTopic } from './rpc_topics.ts';
import { OFFLINE, ONLINE, PAYLOAD_BYTES_MAX, RECEIVE_MAX, SESSION_TAKEN_OVER } from './session.ts';
import { placeText } from './uns.ts';

/** What the thread is handed, besides its settings. */
export interface MqttThreadDeps {
  connect(options: ConnectionOptions, watch: ConnectionWatch): Connection;
  tell(message: FromMqttThread): void;
  /** Calls back after a delay; returns how to call it off. */
  schedule(delayMs: number, callback: () => void): () => void;
  /** Calls back at every interval; returns how to call it off. */
  every(intervalMs: number, callback: () => void): () => void;
  /** Calls back when everything that has arrived by now was read. */
  afterReading(callback: () => void): void;
  nowMs(): number;
  /** In [0, 1). */
  random(): number;
}

/** Pauses before another attempt: each twice as long as the one before, give or take a fifth. */
const [PAUSE_MIN_MS, PAUSE_MAX_MS] = [500, 30_000] as const;
/** A connection that has lasted as long is followed by the shortest pause. */
const LASTED_MS = PAUSE_MAX_MS;
/** A message is dropped once the connection has ended that often while nothing else of QoS 1 was under way. */
const ENDINGS_MAX = 2;
/**
 * Reason codes of MQTT 5 that blame no message: server busy, server shutting down, keep alive timeout, session taken over,
 * administrative action, use another server, server moved, connection rate exceeded.
 */
const FOR_NO_MESSAGE: ReadonlySet<number | undefined> = new Set([
  ...[0x89, 0x8b, 0x8d, SESSION_TAKEN_OVER, 0x98, 0x9c, 0x9d, 0x9f],
]);
/** Topics that are remembered as the reason why the broker has closed the connection. */
const BARRED_MAX = 1000;
/** What may wait for the hub of QoS 0, which the broker does not hold back. */
const UNTAKEN_MAX = 20_000;
/** A broker that heeds the Receive Maximum never has more wait than that. Mosquitto 2.0 may not, after a hub has died. */
const READ_MAX = UNTAKEN_MAX + RECEIVE_MAX;
/** The same of remote procedure calls, in bytes. */
const RPC_UNTAKEN_BYTES_MAX = 8 << 20;
/** How often what is held is looked at, and counts are told. */
const [DUE_MS, COUNTS_MS] = [50, 1000] as const;
/** How long the end waits for what is to be published. */
const CLOSE_MS = 3000;

/**
 * The client of the broker, in a thread of its own: connects again for ever, brings what has arrived to the hub in batches,
 * acknowledges what the hub has taken, and publishes what it is handed.
 *
 *     broker ══ connection ── message ──▶ writer ─ batch ─▶ hub ─ taken ─▶ acks ──▶ PUBACK
 *     hub ── publish ──▶ queue ── room ──▶ packets ══▶ broker
 *
 * Messages of remote procedure calls are of QoS 0, and go to the hub beside the batches: they wait for no location.
 *
 * A broker that does not accept a message, such as one with too many levels in its topic, closes the connection. The message
 * would do so again after each reconnect, so it is found and dropped:
 *
 *     connection ends ──▶ the messages that were under way are suspects, and are published one at a time
 *     ends with a suspect under way ──▶ the second time it is dropped; its topic is barred if the broker gave a reason
 *     acknowledged ──▶ it was not the one
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
  #connection: Connection | undefined;
  #state: BrokerState;
  #inFlightMax = 0;
  #packetBytesMax = 0;
  /** In the order in which they were published. */
  readonly #underWay = new Set<Publishing>();
  /** Bytes of what is to be published that the front thread has not been told of. */
  #takenOver = 0;
  #pauseMs: number = PAUSE_MIN_MS;
  /** When the connection was made; undefined while there is none. */
  #upMs: number | undefined;
  /** Whether this thread ends the connection itself. */
  #isEnding = false;
  /** Messages at the head of the queue that are published one at a time. */
  #suspects = 0;
  /** How often the connection has ended while a message was the only one under way. */
  readonly #endings = new WeakMap<Publishing, number>();
  /** Topics for which the broker has closed the connection, the oldest first. */
  readonly #barred = new Set<string>();
  #attempts: number;
  #batches: number;
  /** Batches that the hub has not taken. */
  readonly #untaken = new Map<number, { readonly connection: number; readonly count: number }>();
  #untakenCount = 0;
  /** The hub has forgotten what came up to this attempt to connect. */
  #forgotten: number;
  /** Whether so much waits for the hub that nothing more is read. */
  #isFull = false;
  readonly #counts = { received: 0, redelivered: 0, lost: 0, published: 0, refused: 0 };
  readonly #sent: Record<SentKind, number> = { ...NOTHING_SENT };
  /** Ends what is done from time to time, and the next attempt. */
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
    const stops = [every(DUE_MS, publishDue), every(COUNTS_MS, () => this.#tellCounts())];
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
        // What a thread before this one has brought may be told as well.
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

  /** A batch waits for the hub no more. */
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
    this.#tellState({ isConnected: true, why: '', connections: this.#state.connections + 1 });
    this.#sayStatus(ONLINE);
    this.#pump();
  }

  #down(why: string, reasonCode: number | undefined): void {
    // What has come belongs to this connection.
    if (this.#arrivedIds.length > 0) this.#bring();
    this.#connection = undefined;
    this.#isFull = false;
    this.#acks.reset();
    if (!this.#isEnding && !FOR_NO_MESSAGE.has(reasonCode)) this.#suspect(reasonCode);
    this.#queue.disconnected([...this.#underWay]);
    this.#underWay.clear();
    this.#tellState({ ...this.#state, isConnected: false, why });
    this.#emptied?.();
    if (this.#isClosing) return;
    const pauseMs = this.#nextPauseMs(reasonCode) * (0.8 + 0.4 * this.#deps.random());
    this.#upMs = undefined;
    this.#isEnding = false;
    this.#stopAttempt = this.#deps.schedule(pauseMs, () => this.#connect());
  }

  /** The pause before the next attempt. A connection that ends soon is followed by a longer pause than the one before. */
  #nextPauseMs(reasonCode: number | undefined): number {
    // Another hub has the session. It is not to lose it again while this hub learns of that.
    if (reasonCode === SESSION_TAKEN_OVER) return PAUSE_MAX_MS;
    const hasLasted = this.#upMs !== undefined && this.#deps.nowMs() - this.#upMs >= LASTED_MS;
    const pauseMs = hasLasted || this.#isEnding ? PAUSE_MIN_MS : this.#pauseMs;
    this.#pauseMs = Math.min(2 * pauseMs, PAUSE_MAX_MS);
    return pauseMs;
  }

  /** The connection has ended. Finds out what message is the reason, and drops it the second time. */
  #suspect(reasonCode: number | undefined): void {
    // What belongs to the connection is not published again.
    const suspects = [...this.#underWay].filter(({ lifeMs }) => lifeMs === 0);
    // Those that were not published again yet are behind them.
    this.#suspects = Math.max(this.#suspects, suspects.length);
    const [only] = suspects;
    if (only === undefined || suspects.length > 1) return;
    const endings = (this.#endings.get(only) ?? 0) + 1;
    this.#endings.set(only, endings);
    if (endings >= ENDINGS_MAX) this.#giveUp(only, reasonCode);
  }

  #giveUp(event: Publishing, reasonCode: number | undefined): void {
    const { topic } = event;
    this.#underWay.delete(event);
    this.#queue.ended(event);
    this.#suspects--;
    this.#counts.refused++;
    this.#notice('A message is dropped that has ended the connection to the broker twice', topic);
    if (reasonCode === undefined) return;
    this.#barred.add(topic);
    if (this.#barred.size <= BARRED_MAX) return;
    const [oldest = ''] = this.#barred;
    this.#barred.delete(oldest);
  }

  /** hot */
  #message(received: Received): void {
    const { packetId, isRedelivered } = received;
    this.#counts.received++;
    if (isRedelivered) this.#counts.redelivered++;
    if (packetId === 0 && isRpcTopic(topicOf(received))) {
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
    // Of a connection that is ending for it: the hub would not look at it.
    if (connection <= this.#forgotten) return;
    const batch = ++this.#batches;
    this.#acks.begin(batch, ids);
    this.#untaken.set(batch, { connection, count: ids.length });
    this.#untakenCount += ids.length;
    this.#deps.tell({ say: 'arrived', batch, connection, packed });
  };

  #rpcMessage(received: Received): void {
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
    this.#deps.tell({ say: 'rpc', packed });
  };

  /** hot */
  #offer(packed: Uint8Array): void {
    const nowMs = this.#deps.nowMs();
    for (const publishing of readPublishing(packed)) {
      if (publishing.lifeMs > 0 && !this.#state.isConnected) {
        this.#queue.dropped++;
        continue;
      }
      if (this.#barred.has(publishing.topic)) {
        this.#counts.refused++;
        continue;
      }
      // One that need not wait is not replaced.
      if (publishing.qos === 0 && this.#queue.has(publishing.topic)) this.#pump();
      this.#queue.offer(publishing, nowMs);
    }
    this.#pump();
    this.#takenOver += packed.length;
    if (this.#takenOver < ROOM_BYTES) return;
    this.#deps.tell({ say: 'room', bytes: this.#takenOver });
    this.#takenOver = 0;
  }

  /** Gives the broker what it takes. hot */
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
    while (this.#underWay.size < (this.#suspects > 0 ? 1 : this.#inFlightMax)) {
      const event = this.#queue.takeEvent(this.#deps.nowMs());
      if (event === undefined) break;
      const payload = event.isMotion ? Buffer.from(placeText(Buffer.from(event.payload).toString())) : event.payload;
      if (!this.#fits({ topic: event.topic, payload })) {
        this.#queue.ended(event);
        this.#suspects = Math.max(0, this.#suspects - 1);
        continue;
      }
      this.#underWay.add(event);
      connection.publish({ ...event, payload }, (refused) => this.#ended(event, refused));
    }
    if (this.#underWay.size === 0 && this.#queue.waiting === 0) this.#emptied?.();
  }

  #ended(event: Publishing, refused: string | undefined): void {
    if (!this.#underWay.delete(event)) return;
    this.#queue.ended(event);
    this.#suspects = Math.max(0, this.#suspects - 1);
    if (refused === undefined) this.#published(event);
    else {
      this.#counts.refused++;
      this.#notice(`The broker refuses to publish: ${refused}`, event.topic);
    }
    this.#pump();
  }

  /** Whether the broker takes a message as large as this: it closes the connection of whoever sends a larger one. hot */
  #fits({ topic, payload }: Pick<Publishing, 'topic' | 'payload'>): boolean {
    if (PUBLISH_HEAD_BYTES_MAX + 3 * topic.length + payload.length <= this.#packetBytesMax) return true;
    const size = PUBLISH_HEAD_BYTES_MAX + Buffer.byteLength(topic) + payload.length;
    if (size <= this.#packetBytesMax) return true;
    this.#counts.refused++;
    this.#notice(`The broker takes no packets of more than ${this.#packetBytesMax} bytes`, topic);
    return false;
  }

  #notice(text: string, topic?: string): void {
    this.#deps.tell({ say: 'notice', text, ...(topic !== undefined && { topic }) });
  }

  /** hot */
  #published({ sentAs }: Publishing): void {
    this.#counts.published++;
    if (sentAs !== undefined) this.#sent[sentAs]++;
  }

  #sayStatus(status: string): void {
    for (const topic of this.#data.statusTopics) {
      const payload = Buffer.from(status);
      const always = { minIntervalMs: 0, isMotion: false, lifeMs: 0, sentAs: undefined } as const;
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
    this.#tellCounts();
    await this.#connection?.end();
    this.#deps.tell({ say: 'closed' });
  }

  #tellState(state: BrokerState): void {
    this.#state = state;
    this.#deps.tell({ say: 'state', state });
  }

  #tellCounts(): void {
    const { replaced, dropped, waiting, bytes } = this.#queue;
    const counts: ThreadCounts = { ...this.#counts, replaced, dropped, waiting, waitingBytes: bytes, sent: this.#sent };
    this.#deps.tell({ say: 'counts', counts });
  }
}

/** A message whose payload is too long, as far as it takes to tell that: the rest of it need not wait for the hub. hot */
function cut(received: Received): Received {
  const { payloadAt, payloadEnd } = received;
  if (payloadEnd - payloadAt <= PAYLOAD_BYTES_MAX) return received;
  return { ...received, payloadEnd: payloadAt + PAYLOAD_BYTES_MAX + 1 };
}

/** So much is taken over before the front thread hears of it: far less than the smallest mqtt_max_queue. */
const ROOM_BYTES = 128 << 10;
/** What a PUBLISH takes beside topic and payload, about: type and length, length of the topic, packet id, an expiry. */
const PUBLISH_HEAD_BYTES_MAX = 16;
/** Packets that are written at once. */
const WRITE_BYTES = 256 << 10;
