import { Worker } from 'node:worker_threads';
import type { Fanout } from '../fanout/fanout.ts';
import type { Ingest } from '../ingest/ingest.ts';
import type { Components } from '../model/components.ts';
import type { MqttHealth } from '../model/health.ts';
import {
  NOTHING_SENT,
  type Publication,
  SENT_KINDS,
  type SentCounts,
  type SentKind,
  type TopicStyle,
} from '../model/mqtt.ts';
import type { Trackable } from '../model/trackable.ts';
import type { CarriedRpc } from '../rpc/carrier.ts';
import type { BrokerSettings, Subscribing } from './broker_connection.ts';
import { describeMqtt } from './docs/async_api.ts';
import { Inbound, REASONS, type Reason } from './inbound.ts';
import type { BrokerState, FromMqttThread, MqttThreadData, ThreadCounts, ToMqttThread } from './messages.ts';
import { Outbound } from './outbound.ts';
import { RpcCarrier } from './rpc_carrier.ts';
import { rpcFilters } from './rpc_topics.ts';
import { addressOf } from './session.ts';
import { inboundFilters, statusTopics } from './topics.ts';
import { Uns } from './uns.ts';

/** The settings of the client, from hub_config.yaml. */
export interface MqttSettings {
  readonly broker: BrokerSettings;
  readonly style: TopicStyle;
  readonly wanted: readonly { readonly publication: Publication; readonly minIntervalMs: number }[];
  readonly queueBytesMax: number;
  readonly share: string | undefined;
  readonly unsRoot: string | undefined;
  /** How the hub calls itself in its status. */
  readonly hubId: string;
  readonly depthMax: number;
}

export interface MqttDeps {
  readonly ingest: Pick<Ingest, 'body' | 'locationsEach' | 'proximitiesEach'>;
  readonly fanout: Pick<Fanout, 'listen'>;
  readonly rpc: CarriedRpc;
  hasCapacity(count: number): boolean;
  trackable(id: string): Trackable | undefined;
  trackables(): readonly Trackable[];
  /** Whether this hub, of several, publishes what all of them announce of an entity. */
  announces(id: string): boolean;
  schedule(delayMs: number, callback: () => void): () => void;
  /** Calls back in another turn, when others have had theirs. */
  later(callback: () => void): void;
  elapsedMs(): number;
  readonly log: { info(message: string, facts?: object): void; warn(message: string, facts?: object): void };
}

const MQTT_WORKER = new URL('../../workers/mqtt.ts', import.meta.url);
const HEAP_MB = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32 };
/** Before a thread that has died is started anew. */
const RESTART_MS = 1000;
/** How long the end may take; then the thread is ended. */
const CLOSE_MS = 5000;
/** Of what keeps it from its broker so many different things are told once. */
const TOLD_MAX = 20;
/** Of the same kind of problem one a minute is told. */
const QUIET_MS = 60_000;

/** What the client has counted over the lives of its thread. */
const NOTHING: ThreadCounts = {
  ...{ received: 0, redelivered: 0, lost: 0, published: 0, replaced: 0, dropped: 0, refused: 0 },
  ...{ waiting: 0, waitingBytes: 0, sent: NOTHING_SENT },
};

/**
 * The hub as a client of an MQTT broker. The client runs in a thread of its own (mqtt_thread.ts); what it brings goes the one
 * way in (inbound.ts), and what the hub publishes goes to it (outbound.ts). Remote procedure calls come and go beside that
 * (rpc_carrier.ts). Nothing waits for the broker.
 */
export class Mqtt {
  readonly #settings: MqttSettings;
  readonly #deps: MqttDeps;
  readonly #inbound: Inbound;
  readonly #outbound: Outbound;
  readonly #rpc: RpcCarrier;
  #worker: Worker | undefined;
  #state: BrokerState = { isConnected: false, why: '', connections: 0 };
  #counts = NOTHING;
  /** Of threads that have ended. */
  #before = NOTHING;
  /** Batches of connections up to this one are not taken any more: the broker sends them again. */
  #forgotten = 0;
  /** The last batch that has come, and the connection that has brought it. */
  #last = { batch: 0, connection: 0 };
  /** Why it cannot be reached, told since it last was. */
  readonly #told = new Set<string>();
  readonly #quietUntilMs = new Map<string, number>();
  #closed: (() => void) | undefined;
  #callOffRestart = (): void => undefined;

  constructor(settings: MqttSettings, deps: MqttDeps) {
    this.#settings = settings;
    this.#deps = deps;
    const { schedule, elapsedMs, ingest, hasCapacity, fanout, announces } = deps;
    this.#inbound = new Inbound({
      ...{ ingest, hasCapacity, schedule, elapsedMs, depthMax: settings.depthMax, later: deps.later },
      taken: (batch, refused) => this.#tell({ say: 'taken', batch, refused }),
      again: (why) => this.#again(why),
      problem: (reason, problem, topic) => this.#problem(reason, problem, topic),
    });
    const { style, wanted, queueBytesMax: bytesMax, unsRoot } = settings;
    const send = (packed: Uint8Array<ArrayBuffer>): void => this.#tell({ say: 'publish', packed });
    this.#outbound = new Outbound({ fanout, style, wanted, bytesMax, announces, send });
    this.#rpc = new RpcCarrier({
      ...{ rpc: deps.rpc, style, schedule, elapsedMs, later: deps.later, publish: this.#outbound.publish },
      taken: (bytes) => this.#tell({ say: 'rpcTaken', bytes }),
      problem: (reason, problem, topic) => this.#problem(reason, problem, topic),
    });
    if (unsRoot !== undefined) {
      const { trackable, trackables } = deps;
      new Uns(unsRoot, { fanout, trackable, trackables, publish: this.#outbound.publish });
    }
  }

  start(): void {
    const { broker, share, hubId, style, queueBytesMax } = this.#settings;
    const worker = new Worker(MQTT_WORKER, {
      name: 'mqtt',
      workerData: {
        settings: broker,
        subscriptions: [...inboundFilters(share).map(ofSources), ...rpcFilters(this.#deps.rpc.hubId).map(ofCalls)],
        statusTopics: statusTopics(hubId, style),
        queueBytesMax,
        after: { ...this.#last, connections: this.#state.connections },
      } satisfies MqttThreadData,
      resourceLimits: HEAP_MB,
    });
    this.#worker = worker;
    worker.on('message', (message: FromMqttThread) => this.#hear(message));
    worker.on('error', (error) =>
      this.#deps.log.warn('The thread of the MQTT client has failed', { error: String(error) }),
    );
    worker.on('exit', () => this.#ended());
  }

  get isConnected(): boolean {
    return this.#state.isConnected;
  }

  health(): MqttHealth {
    const { broker } = this.#settings;
    const { isConnected, why, connections } = this.#state;
    const { received, redelivered, lost, published, replaced, dropped, refused, waiting, waitingBytes } = this.counts();
    return {
      enabled: true,
      connected: isConnected,
      broker: `${broker.protocol}://${addressOf(broker)}`,
      client_id: broker.clientId,
      ...(why !== '' && { problem: why }),
      connections,
      ...{ received, redelivered, lost, published, replaced, dropped, refused, waiting },
      rejected: Object.values(this.rejections()).reduce((sum, count) => sum + count, 0),
      waiting_bytes: waitingBytes,
    };
  }

  /** What the AsyncAPI document says of it. */
  readonly describe = (components: Components, reader: { readonly isKnown: boolean }) =>
    describeMqtt({ ...this.#settings, ...reader }, components);

  /** Counted since the start of the hub. */
  counts(): ThreadCounts {
    const [before, now] = [this.#before, this.#counts];
    return {
      received: before.received + now.received,
      redelivered: before.redelivered + now.redelivered,
      lost: before.lost + now.lost,
      published: before.published + now.published,
      replaced: before.replaced + now.replaced,
      dropped: before.dropped + now.dropped + this.#outbound.dropped,
      refused: before.refused + now.refused,
      waiting: now.waiting,
      waitingBytes: now.waitingBytes,
      sent: sumOf(before.sent, now.sent),
    };
  }

  /** Messages that were refused, by reason. */
  rejections(): Readonly<Record<Reason, number>> {
    const counts = REASONS.map((reason) => [reason, this.#inbound.refused[reason] + this.#rpc.refused[reason]]);
    return Object.fromEntries(counts) as Record<Reason, number>;
  }

  /** Takes nothing any more. What the hub has to say still goes out. */
  stopTaking(): void {
    this.#forgotten = Number.POSITIVE_INFINITY;
    this.#inbound.forget();
    this.#rpc.stopTaking();
  }

  /** Publishes what waits, takes back what the hub has announced, says that the hub is gone, and ends the thread. Never rejects. */
  async close(): Promise<void> {
    this.stopTaking();
    this.#rpc.close();
    this.#outbound.close();
    this.#callOffRestart();
    const worker = this.#worker;
    if (worker === undefined) return;
    const closed = new Promise<void>((resolve) => {
      this.#closed = resolve;
    });
    this.#tell({ say: 'close' });
    const call = this.#deps.schedule(CLOSE_MS, () => this.#closed?.());
    await closed;
    call();
    await worker.terminate();
  }

  #tell(message: ToMqttThread): void {
    this.#worker?.postMessage(message, 'packed' in message ? [message.packed.buffer] : []);
  }

  #hear(message: FromMqttThread): void {
    switch (message.say) {
      case 'arrived':
        this.#last = { batch: message.batch, connection: message.connection };
        if (message.connection > this.#forgotten) this.#inbound.take(message.batch, message.packed);
        return;
      case 'rpc':
        this.#rpc.take(message.packed);
        return;
      case 'room':
        this.#outbound.room(message.bytes);
        return;
      case 'counts':
        this.#counts = message.counts;
        return;
      case 'state':
        this.#changed(message.state);
        return;
      case 'notice':
        this.#seldom(message.text, message.text, message.topic === undefined ? {} : { topic: message.topic });
        return;
      case 'closed':
        this.#closed?.();
        return;
    }
  }

  #changed(state: BrokerState): void {
    const before = this.#state;
    this.#state = state;
    if (state.isConnected !== before.isConnected) this.#rpc.connected(state.isConnected);
    const { broker } = this.#settings;
    const facts = { broker: addressOf(broker) };
    if (state.isConnected) {
      this.#told.clear();
      this.#deps.log.info('Connected to the MQTT broker', facts);
    } else if (!this.#told.has(state.why)) {
      if (this.#told.size >= TOLD_MAX) this.#told.clear();
      this.#told.add(state.why);
      this.#deps.log.warn('The MQTT broker cannot be reached', { ...facts, error: state.why });
    }
  }

  /** What was accepted could not be kept, so nothing that came with it or behind it is acknowledged. */
  #again(why: string): void {
    const { connection } = this.#last;
    if (this.#forgotten >= connection) return;
    this.#forgotten = connection;
    this.#inbound.forget();
    this.#deps.log.warn('Locations of the MQTT broker cannot be kept: it is to send them again', { error: why });
    this.#tell({ say: 'again', connection });
  }

  #problem(reason: Reason, problem: string, topic: string): void {
    this.#seldom(reason, 'A message of the MQTT broker is refused', { problem, topic });
  }

  #seldom(kind: string, message: string, facts: object = {}): void {
    const nowMs = this.#deps.elapsedMs();
    if (nowMs < (this.#quietUntilMs.get(kind) ?? 0)) return;
    if (this.#quietUntilMs.size > 100) this.#quietUntilMs.clear();
    this.#quietUntilMs.set(kind, nowMs + QUIET_MS);
    this.#deps.log.warn(message, facts);
  }

  /** The thread is gone. What it had not published is lost, and counted; what it had not acknowledged comes again. */
  #ended(): void {
    this.#worker = undefined;
    this.#closed?.();
    if (this.#closed !== undefined) return;
    const lost = this.counts();
    this.#before = {
      ...lost,
      dropped: lost.dropped + lost.waiting - this.#outbound.dropped,
      waiting: 0,
      waitingBytes: 0,
    };
    this.#counts = NOTHING;
    this.#inbound.forget();
    this.#outbound.begin();
    this.#rpc.forget();
    this.#state = { ...this.#state, isConnected: false, why: 'its thread has failed' };
    this.#callOffRestart = this.#deps.schedule(RESTART_MS, () => this.start());
  }
}

/** A subscription to what sources publish, which the broker keeps while the hub is away. */
function ofSources(filter: string): Subscribing {
  return { filter, qos: 1, getsRetained: false, getsOwn: true };
}

/** A subscription to remote procedure calls: what is asked while the hub is away is not for it. */
function ofCalls(filter: string): Subscribing {
  return { filter, qos: 0, getsRetained: true, getsOwn: false };
}

function sumOf(a: SentCounts, b: SentCounts): SentCounts {
  return Object.fromEntries(SENT_KINDS.map((kind) => [kind, a[kind] + b[kind]])) as Record<SentKind, number>;
}
