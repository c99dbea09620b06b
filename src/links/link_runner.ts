import { messageOf } from '../errors.ts';
import type { EachResult } from '../ingest/ingest.ts';
import { parseJson } from '../model/json.ts';
import { isObject } from '../model/json_tree.ts';
import {
  LINK_EVENT_TOPIC,
  LINK_ITEM_TOPICS,
  type Link,
  type LinkItemTopic,
  type LinkProgress,
  type LinkState,
  type LinkTopic,
} from '../model/link.ts';
import { type Failure, failureOf, failureWith, reasonOfFailure } from '../model/target_failure.ts';
import { parseTime } from '../model/time.ts';
import { problemOf } from '../problem.ts';
import type { Request } from '../remote/remote_api.ts';
import type { TaskScheduler } from '../time/task_scheduler.ts';
import type { KnownEvents, LinkedEvent } from './event_passage.ts';
import { Inflow } from './inflow.ts';
import { LinkEvents } from './link_events.ts';
import { type LinkAction, type LinkConnection, type LinkSignal, nextTickMs, STOPPED, step } from './link_machine.ts';
import { stateOf } from './link_state.ts';
import { Mirror, MIRRORED, type MirrorCounts, type MirrorTarget } from './mirror.ts';
import type { NewestItems } from './newest_items.ts';
import { Passage, type PassedItem } from './passage.ts';
import { RemoteHub } from './remote_hub.ts';

/** A WebSocket to another server. */
export interface OutgoingSocket {
  send(text: string): void;
  ping(): void;
  /** Closes it at once. No event follows. */
  close(): void;
}

export interface SocketEvents {
  opened(): void;
  message(text: string): void;
  pong(): void;
  closed(failure: Failure): void;
}

export interface LinkRunnerDeps {
  /** Id of this hub. */
  readonly hubId: string;
  readonly request: Request;
  openSocket(url: string, events: SocketEvents): OutgoingSocket;
  accept(topic: LinkItemTopic, values: readonly object[], nameOf: (index: number) => string): EachResult;
  /** Stores the progress of a link with events, and publishes these. See LinkEvents. */
  acceptEvents(
    linkId: string,
    events: readonly LinkedEvent[],
    progress: LinkProgress | undefined,
  ): Promise<readonly string[]>;
  /** The stored progress of a link. */
  progressOf(linkId: string): LinkProgress | undefined;
  readonly newest: NewestItems;
  readonly knownEvents: KnownEvents;
  readonly entities: MirrorTarget;
  /** Notes the last locations and events of this hub. Called before the first connection. */
  prepare(): Promise<void>;
  readonly turns: TaskScheduler;
  schedule(delayMs: number, callback: () => void): () => void;
  /** Monotonic time. */
  now(): number;
  wallClockTime(monotonicMs: number): number;
  random(): number;
  readonly log: { info(message: string, facts?: object): void; warn(message: string, facts?: object): void };
}

/** Interval of the comparison of mirrored entities, and its delay after a change. */
const MIRROR_MS = 60_000;
const MIRROR_CHANGED_MS = 500;
/** Malformed messages in sequence after which the connection is closed: the server does not speak the protocol. */
const MALFORMED_MAX = 100;

/**
 * Runs one link: carries out the actions of its state machine, and passes the items of the other hub to the ingest.
 *
 *     other hub ──WebSocket, REST──▶ Passage ──▶ Inflow ──▶ ingest
 */
export class LinkRunner {
  readonly #link: Link;
  readonly #deps: LinkRunnerDeps;
  readonly #remote: RemoteHub;
  readonly #inflow: Inflow;
  readonly #events: LinkEvents;
  #passage: Passage | undefined;
  #connection: LinkConnection = STOPPED;
  #socket: OutgoingSocket | undefined;
  #requests = new AbortController();
  #isPrepared = false;
  #receivedMs = 0;
  #last: { readonly receivedMs: number; readonly lagMs: number } | undefined;
  #malformed = 0;
  #malformedInSequence = 0;
  #mirror: Mirror | undefined;
  #mirrored: (MirrorCounts & { readonly atMs: number }) | undefined;
  /** Subscriptions to changes that are not answered yet. The other hub may not have such topics. */
  #changeTopics = 0;
  #hasChangeTopics = false;
  /** Whether the last locations were read on this connection. */
  #hasLocations = false;
  #mirroring: Promise<void> = Promise.resolve();
  #cancelMirroring: () => void = () => undefined;
  #cancelTick: () => void = () => undefined;
  #cancelRelease: () => void = () => undefined;

  constructor(link: Link, deps: LinkRunnerDeps) {
    this.#link = link;
    this.#deps = deps;
    const { request, turns, now, schedule, accept } = deps;
    this.#remote = new RemoteHub(link, { request, turns, now });
    const problem = (why: string): void => this.#note(failureWith('link_rejected', why));
    this.#inflow = new Inflow({ accept, schedule, problem });
    this.#events = new LinkEvents({
      ...{ hubId: deps.hubId, idPrefix: link.id_prefix ?? '', known: deps.knownEvents, schedule, now, problem },
      stored: () => deps.progressOf(link.id),
      accept: (events, progress) => deps.acceptEvents(link.id, events, progress),
    });
  }

  start(): void {
    this.#signal({ what: 'start' });
  }

  /** Closes the connection. Resolves when the batch in flight is committed. */
  stop(): Promise<void> {
    this.#signal({ what: 'stop' });
    this.#cancelRelease();
    return Promise.all([this.#inflow.close(), this.#events.close(), this.#mirroring]).then(() => undefined);
  }

  state(): LinkState {
    return stateOf(
      {
        ...{ connection: this.#connection, passage: this.#passage, inflow: this.#inflow, events: this.#events },
        ...{ mirrored: this.#mirrored, last: this.#last, malformed: this.#malformed },
      },
      this.#deps,
    );
  }

  get #topics(): readonly LinkTopic[] {
    return [...new Set(this.#link.topics ?? [LINK_ITEM_TOPICS[0]])];
  }

  #signal(signal: LinkSignal): void {
    const { now, random, schedule } = this.#deps;
    const before = this.#connection;
    const input = { nowMs: now(), random: random(), topics: this.#topics.length, receivedMs: this.#receivedMs };
    const { connection, actions } = step(before, signal, input);
    this.#connection = connection;
    this.#report(before, connection);
    for (const action of actions) this.#act(action);
    this.#cancelTick();
    const nextMs = nextTickMs(this.#connection, this.#receivedMs);
    if (nextMs === Number.POSITIVE_INFINITY) return;
    this.#cancelTick = schedule(Math.max(0, nextMs - now()), () => this.#signal({ what: 'tick' }));
  }

  /** Logs one line when an outage begins, and one when it ends. */
  #report(before: LinkConnection, { phase, outage, error, peer }: LinkConnection): void {
    const { log, wallClockTime } = this.#deps;
    const facts = { link: this.#link.name, url: this.#link.url };
    const at = (ms: number) => new Date(wallClockTime(ms)).toISOString();
    if (phase.at === 'waiting' && outage?.fromMs !== before.outage?.fromMs) {
      log.warn('A link to another hub is down', { ...facts, error: error?.why });
    }
    if (phase.at === 'self' && before.phase.at !== 'self') log.warn('A link leads to this hub itself', facts);
    if (phase.at !== 'live' || before.phase.at === 'live') return;
    const down = outage?.toMs === undefined ? {} : { downFrom: at(outage.fromMs), downTo: at(outage.toMs) };
    log.info('A link to another hub is up', { ...facts, hub: peer?.hubName ?? peer?.hubId, ...down });
  }

  #act(action: LinkAction): void {
    switch (action) {
      case 'identify':
        this.#requests = new AbortController();
        this.#request((signal) => this.#identify(signal), 'failed');
        return;
      case 'open':
        this.#open();
        return;
      case 'subscribe':
        this.#request((signal) => this.#subscribe(signal), 'failed');
        return;
      case 'read':
        this.#request((signal) => this.#read(signal), 'readFailed');
        return;
      case 'ping':
        this.#socket?.ping();
        return;
      case 'close':
        this.#requests.abort();
        this.#socket?.close();
        this.#socket = undefined;
        this.#cancelMirroring();
    }
  }

  /** Runs requests, unless the connection is closed in the meantime. */
  #request(work: (signal: AbortSignal) => Promise<void>, failure: 'failed' | 'readFailed'): void {
    const { signal } = this.#requests;
    work(signal).catch((error: unknown) => {
      if (!signal.aborted) this.#signal({ what: failure, why: messageOf(error), problem: reasonOfFailure(error) });
    });
  }

  async #identify(signal: AbortSignal): Promise<void> {
    const peer = await this.#remote.api.identify(signal);
    const { hubId, newest, prepare } = this.#deps;
    if (!this.#isPrepared) await prepare();
    if (signal.aborted) return;
    this.#isPrepared = true;
    const { id_prefix: idPrefix, sources, min_interval: minIntervalMs } = this.#link;
    if (this.#connection.peer?.hubId !== peer.hubId || this.#passage === undefined) {
      this.#passage = new Passage(
        {
          hubId,
          peerId: peer.hubId,
          idPrefix: idPrefix ?? '',
          sources: sources ?? {},
          minIntervalMs: minIntervalMs ?? 0,
        },
        newest,
      );
    }
    this.#events.identified(peer);
    if (this.#link.entities === 'mirror') {
      const settings = { linkId: this.#link.id, hubId, peerId: peer.hubId, idPrefix: idPrefix ?? '' };
      this.#mirror = new Mirror(settings, this.#deps.entities);
    }
    this.#signal({ what: 'identified', peer, isSelf: peer.hubId === hubId });
  }

  #open(): void {
    this.#changeTopics = 0;
    this.#hasChangeTopics = false;
    this.#hasLocations = false;
    const current = (): boolean => this.#socket === socket;
    const socket: OutgoingSocket = this.#deps.openSocket(this.#remote.socketUrl, {
      opened: () => {
        if (current()) this.#signal({ what: 'opened' });
      },
      message: (text) => {
        if (current()) this.#receive(text);
      },
      pong: () => {
        if (current()) this.#receivedMs = this.#deps.now();
      },
      closed: (failure) => {
        if (!current()) return;
        this.#remote.api.forgetToken();
        this.#signal({ what: 'failed', ...failure });
      },
    });
    this.#socket = socket;
  }

  /** Subscribes to the topics, or to one again. */
  async #subscribe(signal: AbortSignal, topics = this.#topics): Promise<void> {
    const token = await this.#remote.api.token(signal);
    if (signal.aborted) return;
    for (const topic of topics) {
      const after = topic === LINK_EVENT_TOPIC ? this.#events.params() : {};
      const params = { ...this.#link.params, ...(token !== undefined && { token }), ...after };
      this.#socket?.send(JSON.stringify({ event: 'subscribe', topic, params }));
    }
  }

  /** Reads the entities and the last locations. A failure of one does not prevent the other. */
  async #read(signal: AbortSignal): Promise<void> {
    const [mirror, locations] = await Promise.allSettled([this.#readMirror(signal), this.#readLocations(signal)]);
    for (const result of [locations, mirror]) if (result.status === 'rejected') throw result.reason;
    if (!signal.aborted) this.#signal({ what: 'read' });
  }

  /** Reads the last locations, once on each connection. */
  async #readLocations(signal: AbortSignal): Promise<void> {
    if (this.#hasLocations || !this.#topics.includes('location_updates')) return;
    await this.#remote.readLocations(async (locations) => {
      await this.#inflow.room();
      if (!signal.aborted) this.#take('location_updates', locations);
    }, signal);
    if (!signal.aborted) this.#hasLocations = true;
  }

  /** Subscribes to the changes of mirrored entities. A hub without these topics is read periodically only. */
  #subscribeToChanges(token: string | undefined): void {
    if (this.#hasChangeTopics) return;
    this.#hasChangeTopics = true;
    for (const [kind] of MIRRORED) {
      this.#changeTopics++;
      const params = token === undefined ? {} : { token };
      this.#socket?.send(JSON.stringify({ event: 'subscribe', topic: `${kind}_changes`, params }));
    }
  }

  /** Reads all entities and applies them, and does so again after a while. */
  async #readMirror(signal: AbortSignal): Promise<void> {
    if (this.#mirror === undefined) return;
    this.#subscribeToChanges(await this.#remote.api.token(signal));
    const snapshot = await this.#remote.readEntities(signal);
    if (signal.aborted) return;
    const applying = this.#mirror.apply(snapshot);
    this.#mirroring = applying.then(() => undefined);
    const counts = await applying;
    this.#mirrored = { ...counts, atMs: this.#deps.now() };
    if (counts.problem !== undefined)
      this.#note({ ...failureWith('link_entities_invalid', counts.problem), why: `Not mirrored: ${counts.problem}` });
    if (!signal.aborted) this.#mirrorLater(MIRROR_MS);
  }

  #mirrorLater(delayMs: number): void {
    this.#cancelMirroring();
    this.#cancelMirroring = this.#deps.schedule(delayMs, () => {
      const { phase } = this.#connection;
      // The reading may lack entities that change meanwhile.
      if (phase.at === 'live' && phase.read.at !== 'finished') this.#mirrorLater(MIRROR_CHANGED_MS);
      else this.#signal({ what: 'outdated' });
    });
  }

  #receive(text: string): void {
    this.#receivedMs = this.#deps.now();
    const frame = frameOf(text);
    const topic = LINK_ITEM_TOPICS.find((each) => each === frame?.['topic']);
    switch (frame?.['event']) {
      case 'subscribed':
        if (this.#changeTopics > 0) this.#changeTopics--;
        else this.#signal({ what: 'acknowledged' });
        return;
      case 'error':
        if (this.#events.failed(frame['reason'])) {
          this.#note({
            ...failureWith('link_reported', describe(frame)),
            why: `Cannot read events after the last one: ${describe(frame)}`,
          });
          this.#request((signal) => this.#subscribe(signal, [LINK_EVENT_TOPIC]), 'failed');
          return;
        }
        if (this.#changeTopics > 0) {
          this.#changeTopics--;
          return;
        }
        this.#remote.api.forgetToken();
        this.#signal({
          what: 'failed',
          ...failureWith('link_reported', describe(frame)),
          why: `The other hub reports: ${describe(frame)}`,
        });
        return;
      case 'message':
        if (MIRRORED.some(([kind]) => frame['topic'] === `${kind}_changes`)) {
          this.#mirrorLater(MIRROR_CHANGED_MS);
          return;
        }
        if (frame['topic'] === LINK_EVENT_TOPIC && Array.isArray(frame['payload'])) {
          this.#malformedInSequence = 0;
          this.#takeEvents(frame['payload'], frame['cursor']);
          return;
        }
        if (topic !== undefined && Array.isArray(frame['payload'])) {
          this.#malformedInSequence = 0;
          this.#noteLag(frame['payload'].at(-1));
          this.#take(topic, frame['payload']);
          return;
        }
        break;
      default:
    }
    this.#malformed++;
    if (++this.#malformedInSequence < MALFORMED_MAX) return;
    this.#malformedInSequence = 0;
    this.#signal({ what: 'failed', ...failureOf(problemOf('link_malformed', { count: MALFORMED_MAX })) });
  }

  #takeEvents(payload: readonly unknown[], cursor: unknown): void {
    // Fence events have no time of sending.
    if (payload.length > 0) this.#last = { receivedMs: this.#deps.now(), lagMs: this.#last?.lagMs ?? 0 };
    if (this.#events.take(payload, cursor)) return;
    this.#signal({ what: 'failed', ...failureOf(problemOf('link_events_waiting')) });
  }

  #take(topic: LinkItemTopic, items: readonly unknown[]): void {
    this.#pass(this.#passage?.take(topic, items, this.#deps.now()) ?? []);
  }

  #pass(items: readonly PassedItem[]): void {
    const { now, schedule } = this.#deps;
    this.#inflow.add(items);
    this.#cancelRelease();
    const dueMs = this.#passage?.dueMs ?? Number.POSITIVE_INFINITY;
    if (dueMs === Number.POSITIVE_INFINITY) return;
    this.#cancelRelease = schedule(Math.max(0, dueMs - now()), () => this.#pass(this.#passage?.release(now()) ?? []));
  }

  #noteLag(item: unknown): void {
    const { now, wallClockTime } = this.#deps;
    const receivedMs = now();
    const sent = isObject(item) ? (item['timestamp_sent'] ?? item['timestamp_generated']) : undefined;
    const lagMs = typeof sent === 'string' ? Math.round(wallClockTime(receivedMs) - parseTime(sent)) : 0;
    this.#last = { receivedMs, lagMs: Number.isNaN(lagMs) ? 0 : Math.max(0, lagMs) };
  }

  /** Notes a problem that does not concern the connection. */
  #note(failure: Failure): void {
    this.#connection = { ...this.#connection, error: { ...failure, atMs: this.#deps.now() } };
  }
}

function frameOf(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const frame = parseJson(text);
    return isObject(frame) ? frame : undefined;
  } catch {
    return undefined;
  }
}

/** Maximum length of a message of another server in a state or log. */
const DESCRIPTION_MAX = 500;

function describe({ code, description }: Readonly<Record<string, unknown>>): string {
  return `${String(description ?? 'an error').slice(0, DESCRIPTION_MAX)} (${String(code).slice(0, 10)})`;
}
