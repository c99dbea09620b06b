import { Worker } from 'node:worker_threads';
import { NOTHING_SENT, SENT_KINDS, type SentCounts, type SentKind } from '../model/mqtt.ts';
import type { BrokerSettings, Subscribing } from './broker_connection.ts';
import { Inbound, type InboundDeps, type Reason } from './inbound.ts';
import type { BrokerState, FromMqttThread, MqttThreadData, ThreadCounts, ToMqttThread } from './messages.ts';
import { addressOf } from './session.ts';

/** Configuration of one client of the broker. */
export interface BrokerClientOptions {
  readonly broker: BrokerSettings;
  readonly subscriptions: readonly Subscribing[];
  /** Topics on which the client publishes its status; if empty, it publishes none and has no last will. */
  readonly statusTopics: readonly string[];
  /** Whether the broker stores the session, with its QoS 1 messages, while the client is disconnected. */
  readonly keepsSession: boolean;
  readonly queueBytesMax: number;
  /** Maximum number of levels of nested JSON. */
  readonly depthMax: number;
}

export interface BrokerClientDeps extends Pick<InboundDeps, 'ingest' | 'hasCapacity' | 'schedule' | 'later'> {
  elapsedMs(): number;
  /** Called when the connection was established or closed. */
  changed(isConnected: boolean): void;
  /** Called with received messages of remote procedure calls. */
  rpc(packed: Uint8Array): void;
  /** Called when the thread has accepted `bytes` bytes to publish. */
  room(bytes: number): void;
  /** Called when the thread has failed. Messages in it, in both directions, are lost. A new thread starts soon. */
  failed(): void;
  /** Reports a rejected message. */
  problem(reason: Reason, problem: string, topic: string): void;
  /** Reports any other problem. */
  notice(text: string, topic: string | undefined): void;
  readonly log: { info(message: string, facts?: object): void; warn(message: string, facts?: object): void };
}

const MQTT_WORKER = new URL('../../workers/mqtt.ts', import.meta.url);
const HEAP_MB = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 };
/** Delay before a thread that has failed is replaced. */
const RESTART_MS = 1000;
/** Maximum time to close, after which the thread is terminated. */
const CLOSE_MS = 5000;
/** While disconnected, each distinct reason is logged once, up to this number of reasons. */
const LOGGED_MAX = 20;

/** Counters of a new thread. */
const NOTHING: ThreadCounts = {
  ...{ received: 0, redelivered: 0, lost: 0, published: 0, replaced: 0, dropped: 0, refused: 0 },
  ...{ waiting: 0, waitingBytes: 0, sent: NOTHING_SENT },
};

/**
 * A client of the broker, with one session. It runs in its own thread (mqtt_thread.ts), which is replaced when it
 * fails. inbound.ts ingests the received locations and proximities.
 */
export class BrokerClient {
  readonly #options: BrokerClientOptions;
  readonly #deps: BrokerClientDeps;
  readonly #inbound: Inbound;
  #worker: Worker | undefined;
  #state: BrokerState = { isConnected: false, why: '', connections: 0 };
  #counts = NOTHING;
  /** Counters of earlier threads. */
  #before = NOTHING;
  /** Batches of connections up to this one are ignored: the broker redelivers their messages. */
  #forgotten = 0;
  /** The last batch received, and its connection. */
  #last = { batch: 0, connection: 0 };
  #isTaking = false;
  /** Reasons logged since the last connection. */
  readonly #logged = new Set<string>();
  #closed: (() => void) | undefined;
  #cancelRestart = (): void => undefined;

  constructor(options: BrokerClientOptions, deps: BrokerClientDeps) {
    this.#options = options;
    this.#deps = deps;
    const { ingest, hasCapacity, schedule, later, elapsedMs, problem } = deps;
    this.#inbound = new Inbound({
      ...{ ingest, hasCapacity, schedule, later, elapsedMs, problem, depthMax: options.depthMax },
      taken: (batch, refused) => this.send({ say: 'taken', batch, refused }),
      again: (why) => this.#again(why),
    });
  }

  get state(): BrokerState {
    return this.#state;
  }

  /** Number of messages of sources rejected since start, by reason. */
  get refused(): Readonly<Record<Reason, number>> {
    return this.#inbound.refused;
  }

  /** Connects, and reconnects whenever the connection closes, until `stop`. */
  start(): void {
    const { broker, depthMax: _, ...data } = this.#options;
    this.#isTaking = true;
    const worker = new Worker(MQTT_WORKER, {
      name: 'mqtt',
      workerData: {
        ...{ ...data, settings: broker },
        after: { ...this.#last, connections: this.#state.connections },
      } satisfies MqttThreadData,
      resourceLimits: HEAP_MB,
    });
    this.#worker = worker;
    worker.on('message', (message: FromMqttThread) => this.#receive(message));
    worker.on('error', (error) =>
      this.#deps.log.warn('The thread of the MQTT client has failed', { error: String(error) }),
    );
    worker.on('exit', () => this.#ended());
  }

  /** Sends a message to the thread. */
  send(message: ToMqttThread): void {
    this.#worker?.postMessage(message, 'packed' in message ? [message.packed.buffer] : []);
  }

  /** Returns the counters since the start of the hub. */
  counts(): ThreadCounts {
    return sumOfCounts(this.#before, this.#counts);
  }

  /**
   * Stops accepting messages of sources. The broker redelivers unacknowledged messages to the next connection of the
   * session.
   */
  stopTaking(): void {
    this.#isTaking = false;
    this.#inbound.forget();
  }

  /** Publishes waiting messages, disconnects, and terminates the thread. Never rejects. */
  async stop(): Promise<void> {
    this.stopTaking();
    this.#cancelRestart();
    const worker = this.#worker;
    if (worker === undefined) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#closed = resolve;
    this.send({ say: 'close' });
    const cancel = this.#deps.schedule(CLOSE_MS, resolve);
    await promise;
    cancel();
    await worker.terminate();
    this.#closed = undefined;
    this.#settleCounts();
  }

  #receive(message: FromMqttThread): void {
    switch (message.say) {
      case 'arrived':
        this.#last = { batch: message.batch, connection: message.connection };
        if (this.#isTaking && message.connection > this.#forgotten) this.#inbound.take(message.batch, message.packed);
        return;
      case 'rpc':
        this.#deps.rpc(message.packed);
        return;
      case 'room':
        this.#deps.room(message.bytes);
        return;
      case 'counts':
        this.#counts = message.counts;
        return;
      case 'state':
        this.#changed(message.state);
        return;
      case 'notice':
        this.#deps.notice(message.text, message.topic);
        return;
      case 'closed':
        this.#closed?.();
        return;
    }
  }

  #changed(state: BrokerState): void {
    const before = this.#state;
    this.#state = state;
    if (state.isConnected !== before.isConnected) this.#deps.changed(state.isConnected);
    const { broker } = this.#options;
    const facts = { broker: addressOf(broker), client_id: broker.clientId };
    if (state.isConnected) {
      this.#logged.clear();
      this.#deps.log.info('Connected to the MQTT broker', facts);
    } else if (this.#closed === undefined && !this.#logged.has(state.why)) {
      if (this.#logged.size >= LOGGED_MAX) this.#logged.clear();
      this.#logged.add(state.why);
      this.#deps.log.warn('The MQTT broker cannot be reached', { ...facts, error: state.why });
    }
  }

  /** Makes the broker redeliver unacknowledged messages, because accepted locations could not be stored. */
  #again(why: string): void {
    const { connection } = this.#last;
    if (this.#forgotten >= connection) return;
    this.#forgotten = connection;
    this.#inbound.forget();
    this.#deps.log.warn('Locations from the MQTT broker could not be stored: requesting redelivery', { error: why });
    this.send({ say: 'again', connection });
  }

  /**
   * Handles the exit of the thread. Unless it was stopped, its unpublished messages are lost, and the broker redelivers
   * unacknowledged ones.
   */
  #ended(): void {
    this.#worker = undefined;
    this.#closed?.();
    if (this.#closed !== undefined) return;
    this.#settleCounts();
    this.#inbound.forget();
    this.#deps.failed();
    this.#state = { ...this.#state, isConnected: false, why: 'its thread has failed' };
    this.#cancelRestart = this.#deps.schedule(RESTART_MS, () => this.start());
  }

  /** Adds the counters of an exited thread. Messages that waited in it count as dropped. */
  #settleCounts(): void {
    const sum = this.counts();
    this.#before = { ...sum, dropped: sum.dropped + sum.waiting, waiting: 0, waitingBytes: 0 };
    this.#counts = NOTHING;
  }
}

/** Returns the sum of two sets of counters. */
export function sumOfCounts(a: ThreadCounts, b: ThreadCounts): ThreadCounts {
  return {
    received: a.received + b.received,
    redelivered: a.redelivered + b.redelivered,
    lost: a.lost + b.lost,
    published: a.published + b.published,
    replaced: a.replaced + b.replaced,
    dropped: a.dropped + b.dropped,
    refused: a.refused + b.refused,
    waiting: a.waiting + b.waiting,
    waitingBytes: a.waitingBytes + b.waitingBytes,
    sent: sumOfSent(a.sent, b.sent),
  };
}

function sumOfSent(a: SentCounts, b: SentCounts): SentCounts {
  return Object.fromEntries(SENT_KINDS.map((kind) => [kind, a[kind] + b[kind]])) as Record<SentKind, number>;
}
