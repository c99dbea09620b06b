import type { DeliveryBatch } from '../fanout/batch.ts';
import type { Fanout } from '../fanout/fanout.ts';
import { compileFilter } from '../fanout/filter.ts';
import { HubError, messageOf } from '../errors.ts';
import type { EventLogReader, EventTopic, LoggedEvent } from '../model/logged_event.ts';
import { LIVE_TOPICS, type LiveTopic, type Sink, type SinkDelivery, type SinkStatus } from '../model/sink.ts';
import { type Failure, reasonOfFailure } from '../model/target_failure.ts';
import { problemOf } from '../problem.ts';
import type { ErrorReason } from '../reasons.ts';
import { formatTime } from '../model/time.ts';
import type { View } from '../model/topics.ts';
import { type Batch, DeliveryQueue, type Outcome, type QueuedEvent } from './delivery_queue.ts';
import { openSender } from './open_sender.ts';
import type { OpenedSender, SenderDeps } from './sender.ts';

export interface SinkRunnerDeps extends SenderDeps {
  /** Undefined if the hub has no event log. */
  readonly events: EventLogReader | undefined;
  readonly fanout: Pick<Fanout, 'subscribe' | 'unsubscribe'>;
  /** Returns the view that params request. Throws HUB_BAD_REQUEST. */
  viewOf(params: NonNullable<Sink['params']>): View;
  /** Returns the ids of the alert rules that name the sink. */
  rulesNaming(id: string): ReadonlySet<string>;
  newId(): string;
  /** Returns a number from 0 to 1. */
  random(): number;
  warn(message: string, facts: object): void;
  /** Stores the progress of the sink. May reject; the next change is stored again. */
  save(progress: SinkProgress): Promise<void>;
  /** Opens the connection of a sink. */
  readonly open?: (sink: Sink, deps: SenderDeps) => Promise<OpenedSender>;
}

/** Stored progress of a sink. */
export interface SinkProgress {
  /** Number of the last command of a user that it includes. */
  readonly epoch: number;
  readonly cursor?: string | undefined;
  /** Why the sink is disabled. */
  readonly disabled?: string | undefined;
  readonly disabledBy?: ErrorReason | undefined;
}

/** The last command of a user. */
export interface SinkCommand {
  readonly epoch: number;
  readonly state: 'active' | 'paused';
  /** Position from which to continue; `null` for the oldest event. */
  readonly after?: string | null | undefined;
}

const ALERTS = 'alert_changes';
/** Minimum interval between two writes of the progress. */
const SAVE_MS = 2000;
const READ_MAX = 100;
/** Delay before a failed read of the log is repeated. */
const READ_RETRY_MS = 2000;
/** Number of completed deliveries that are listed. */
const LISTED_MAX = 200;
/** Maximum delay of a timer. */
const TIMER_MOST_MS = 3_600_000;
/** Time that requests in flight have to finish when the sink is closed. */
const CLOSE_MS = 2000;

/** An attempt that has ended. */
interface Attempt {
  readonly endedMs: number;
  readonly durationMs: number;
  readonly failure?: Failure;
}

/**
 * Delivers events to one sink: reads the log, subscribes to live topics, sends what the queue decides, and stores the
 * progress.
 */
export class SinkRunner {
  readonly #sink: Sink;
  readonly #deps: SinkRunnerDeps;
  readonly #queue: DeliveryQueue;
  readonly #opened: OpenedSender;
  readonly #logged: readonly EventTopic[];
  readonly #live: readonly LiveTopic[];
  readonly #done: SinkDelivery[] = [];
  readonly #attempts = new Map<string, Attempt>();
  #subscriptions: readonly number[] = [];
  #epoch: number;
  #unsubscribe: () => void = () => undefined;
  #cancelTimer: () => void = () => undefined;
  #cancelSave: (() => void) | undefined;
  #saving: Promise<void> | undefined;
  #saved: SinkProgress | undefined;
  /** Why the log cannot be read; the sink continues only after a command. */
  #logProblem: Failure | undefined;
  #isReading = false;
  #mayHaveMore = true;
  #isClosed = false;
  #lastLive = 0;
  #livePrefix: string;
  #lastError: Failure | undefined;
  #deliveredMs: number | undefined;
  /** Called when nothing is in flight. */
  #idle: () => void = () => undefined;

  private constructor(
    sink: Sink,
    deps: SinkRunnerDeps,
    { opened, progress, command }: { opened: OpenedSender; progress: SinkProgress; command: SinkCommand | undefined },
  ) {
    this.#sink = sink;
    this.#deps = deps;
    this.#opened = opened;
    this.#epoch = progress.epoch;
    this.#queue = new DeliveryQueue(opened.limits, progress.cursor);
    this.#live = LIVE_TOPICS.filter((topic) => sink.topics.includes(topic));
    const logged = sink.topics.filter((topic): topic is EventTopic => !LIVE_TOPICS.some((live) => live === topic));
    const isNamed = !logged.includes(ALERTS) && deps.rulesNaming(sink.id).size > 0;
    this.#logged = isNamed ? [...logged, ALERTS] : logged;
    this.#livePrefix = `live_${deps.newId()}`;
    if (progress.disabled !== undefined) this.#queue.disable({ why: progress.disabled, problem: progress.disabledBy });
    if (command?.state === 'paused') this.#queue.pause();
    if (this.#logged.length > 0 && deps.events === undefined)
      this.#logProblem = { why: 'the hub has no event log', problem: problemOf('no_event_log') };
  }

  /** Starts the delivery. A sink without progress starts with the next event. */
  static async open(
    sink: Sink,
    { progress, command }: { readonly progress: SinkProgress | undefined; readonly command: SinkCommand | undefined },
    deps: SinkRunnerDeps,
  ): Promise<SinkRunner> {
    const opened = await (deps.open ?? openSender)(sink, deps);
    const begun = progress ?? { epoch: 0, cursor: deps.events?.newest };
    const runner = new SinkRunner(sink, deps, { opened, progress: begun, command });
    runner.#saved = progress;
    if (command !== undefined && command.epoch > begun.epoch) runner.command(command);
    runner.#start();
    return runner;
  }

  /** Carries out a command of a user. Earlier commands, and the one already carried out, have no effect. */
  command({ epoch, state, after }: SinkCommand): void {
    if (epoch <= this.#epoch) return;
    this.#epoch = epoch;
    const isTooOld = this.#logProblem !== undefined && this.#deps.events !== undefined;
    if (after !== undefined) this.#queue.replay(after ?? undefined);
    else if (isTooOld && state === 'active') this.#queue.replay(undefined);
    if (state === 'paused') this.#queue.pause();
    else this.#queue.resume();
    if (isTooOld) this.#logProblem = undefined;
    this.#mayHaveMore = true;
    this.#saveSoon();
    this.#pump();
  }

  status(): SinkStatus {
    const { added, delivered, rejected, dropped, replayed, failures } = this.#queue.counts;
    const { cursor, waiting, oldestMs, retryAtMs } = this.#queue;
    const phase = this.#queue.phase;
    const failure = this.#logProblem ?? this.#queue.failure ?? this.#lastError;
    return {
      id: this.#sink.id,
      state: this.#logProblem !== undefined && phase === 'active' ? 'failing' : phase,
      delivering: true,
      ...(cursor !== undefined && { cursor }),
      lag: oldestMs === undefined ? 0 : Math.max(0, Math.round(this.#deps.now() - oldestMs)),
      waiting,
      ...{ added, delivered, rejected, dropped, replayed, failures },
      ...(retryAtMs !== undefined && { retry_at: formatTime(retryAtMs) }),
      ...(this.#deliveredMs !== undefined && { last_delivered_at: formatTime(this.#deliveredMs) }),
      ...shown(failure),
    };
  }

  /** Returns the events in the queue and the last completed deliveries, newest first. */
  deliveries(): readonly SinkDelivery[] {
    const pending = [...this.#queue.pending()].map(({ event, attempts, isInFlight }) => {
      const last = this.#attempts.get(event.id);
      const state = isInFlight ? 'sending' : attempts > 0 ? 'failed' : 'waiting';
      return deliveryOf(event, { state, attempts, last });
    });
    return [...pending.reverse(), ...this.#done.toReversed()];
  }

  /** Current progress, to store. */
  get progress(): SinkProgress {
    const { cursor, phase, failure } = this.#queue;
    const by = failure?.problem && { reason: failure.problem.reason, params: failure.problem.params };
    const disabled =
      phase === 'disabled' ? { disabled: failure?.why ?? 'disabled', ...(by && { disabledBy: by }) } : {};
    return { epoch: this.#epoch, ...(cursor !== undefined && { cursor }), ...disabled };
  }

  /** Stops the delivery and stores the progress. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#unsubscribe();
    for (const id of this.#subscriptions) this.#deps.fanout.unsubscribe(id);
    this.#cancelTimer();
    if (this.#queue.inFlight > 0) {
      const idle = Promise.withResolvers<void>();
      this.#idle = idle.resolve;
      const cancel = this.#deps.schedule(CLOSE_MS, idle.resolve);
      await idle.promise;
      cancel();
    }
    await this.#opened.sender.close();
    // Alerts of rules that name the sink later arrive from then on.
    if (this.#logged.length === 0 && this.#deps.events !== undefined) this.#queue.replay(this.#deps.events.newest);
    this.#cancelSave?.();
    await this.#saving;
    await this.#save();
  }

  #start(): void {
    const { events, fanout, viewOf } = this.#deps;
    if (this.#logged.length > 0 && events !== undefined) {
      this.#unsubscribe = events.onAppended(() => {
        this.#mayHaveMore = true;
        this.#pump();
      });
    }
    const params = this.#sink.params ?? {};
    this.#subscriptions = this.#live.map((topic) => {
      const deliver = (_id: number, batch: DeliveryBatch): void => this.#receive(topic, batch);
      return fanout.subscribe({ deliver }, { topic, view: viewOf(params), filter: compileFilter(topic, params) });
    });
    this.#saving = this.#save();
    this.#pump();
  }

  /** Takes live events. */
  #receive(topic: LiveTopic, batch: DeliveryBatch): void {
    const nowMs = this.#deps.now();
    for (const json of batch.strings) {
      this.#lastLive++;
      const id = `${this.#livePrefix}_${this.#lastLive}`;
      this.#queue.addLive({ id, topic, key: keyOf(topic, json), timeMs: nowMs, json }, nowMs);
    }
    this.#pump();
  }

  /** Sends what is due, reads what fits into the queue, and sets the timer. */
  #pump(): void {
    if (this.#isClosed) return;
    this.#cancelTimer();
    const nowMs = this.#deps.now();
    const { send, wakeAtMs } = this.#queue.step(nowMs, this.#opened.notBeforeMs?.(nowMs));
    for (const batch of send) void this.#send(batch);
    void this.#read();
    if (wakeAtMs === Infinity) return;
    const delayMs = Math.min(Math.max(0, wakeAtMs - nowMs), TIMER_MOST_MS);
    this.#cancelTimer = this.#deps.schedule(delayMs, () => this.#pump());
  }

  async #send(batch: Batch): Promise<void> {
    const { now, random } = this.#deps;
    const startMs = now();
    const outcome = await this.#opened.sender.send(batch.events);
    const nowMs = now();
    const before = this.#queue.phase;
    this.#queue.settle(batch.number, outcome, { nowMs, jitter: random() });
    this.#record(batch, outcome, { endedMs: nowMs, durationMs: Math.max(0, Math.round(nowMs - startMs)) });
    this.#report(before);
    if (this.#queue.inFlight === 0) this.#idle();
    this.#saveSoon();
    this.#pump();
  }

  #record({ events, attempt }: Batch, outcome: Outcome, ended: Attempt): void {
    if (outcome.what === 'delivered') {
      this.#deliveredMs = ended.endedMs;
      this.#lastError = undefined;
    } else this.#lastError = outcome;
    const last: Attempt = outcome.what === 'delivered' ? ended : { ...ended, failure: outcome };
    const isDone = outcome.what === 'delivered' || (outcome.what === 'rejected' && events.length === 1);
    for (const event of events) {
      if (!isDone) {
        this.#attempts.set(event.id, last);
        continue;
      }
      this.#attempts.delete(event.id);
      const state = outcome.what === 'delivered' ? 'delivered' : 'rejected';
      this.#done.push(deliveryOf(event, { state, attempts: attempt, last }));
    }
    if (this.#done.length > 2 * LISTED_MAX) this.#done.splice(0, this.#done.length - LISTED_MAX);
    if (this.#attempts.size > 2 * this.#opened.limits.eventsMax) this.#forgetAttempts();
  }

  /** Removes attempts of events that are no longer in the queue. */
  #forgetAttempts(): void {
    const pending = new Set([...this.#queue.pending()].map(({ event }) => event.id));
    for (const id of this.#attempts.keys()) if (!pending.has(id)) this.#attempts.delete(id);
  }

  #report(before: string): void {
    const { phase, failure } = this.#queue;
    if (phase === before) return;
    const facts = { sink: this.#sink.name, id: this.#sink.id, ...(failure !== undefined && { error: failure.why }) };
    if (phase === 'failing') this.#deps.warn('A sink fails; the hub retries', facts);
    if (phase === 'disabled') this.#deps.warn('A sink is disabled until a user resumes it', facts);
  }

  /** Reads the log until the queue is full or nothing is left. */
  async #read(): Promise<void> {
    const { events, now, schedule, warn } = this.#deps;
    if (this.#isReading || events === undefined || this.#logged.length === 0) return;
    this.#isReading = true;
    // The params of the sink do not apply to alerts that it receives because a rule names it.
    const topics = this.#logged.filter((topic) => this.#sink.topics.includes(topic));
    const unfiltered = this.#logged.filter((topic) => !topics.includes(topic));
    try {
      while (this.#canRead) {
        this.#mayHaveMore = false;
        const after = this.#queue.readCursor;
        const epoch = this.#epoch;
        const filters = filtersOf(this.#sink);
        const page = await events.read(after, { topics, filters, unfiltered, limit: READ_MAX });
        // A command has changed the position in the meantime.
        if (epoch !== this.#epoch || this.#isClosed) continue;
        if (page.hasMore) this.#mayHaveMore = true;
        const wanted = page.events.filter((event) => this.#wants(event));
        this.#queue.addLogged(wanted, { next: page.next, nowMs: now() });
        this.#saveSoon();
        if (wanted.length > 0) this.#pump();
      }
    } catch (error) {
      if (error instanceof HubError && error.reason.startsWith('cursor_')) {
        this.#logProblem = { why: error.message, problem: error };
        warn('A sink cannot continue: its position is not in the event log', {
          sink: this.#sink.name,
          id: this.#sink.id,
        });
      } else {
        this.#lastError = { why: messageOf(error), problem: reasonOfFailure(error) };
        this.#mayHaveMore = true;
        schedule(READ_RETRY_MS, () => this.#pump());
      }
    } finally {
      this.#isReading = false;
    }
  }

  /** Whether the sink receives an event. Alerts of rules that name it arrive, whatever its topics. */
  #wants({ topic, json }: LoggedEvent): boolean {
    if (topic !== ALERTS || this.#sink.topics.includes(ALERTS)) return true;
    const { object } = JSON.parse(json) as { readonly object: { readonly rule_id: string } };
    return this.#deps.rulesNaming(this.#sink.id).has(object.rule_id);
  }

  get #canRead(): boolean {
    const { phase, hasRoom } = this.#queue;
    const isOpen = phase === 'active' || phase === 'failing';
    return !this.#isClosed && this.#mayHaveMore && isOpen && hasRoom && this.#logProblem === undefined;
  }

  #saveSoon(): void {
    if (this.#isClosed || this.#cancelSave !== undefined || !this.#isUnsaved) return;
    this.#cancelSave = this.#deps.schedule(SAVE_MS, () => {
      this.#cancelSave = undefined;
      this.#saving = this.#save();
    });
  }

  get #isUnsaved(): boolean {
    const { epoch, cursor, disabled } = this.progress;
    const saved = this.#saved;
    return saved === undefined || saved.epoch !== epoch || saved.cursor !== cursor || saved.disabled !== disabled;
  }

  async #save(): Promise<void> {
    if (!this.#isUnsaved) return;
    const { progress } = this;
    try {
      await this.#deps.save(progress);
      this.#saved = progress;
    } catch (error) {
      this.#deps.warn('The progress of a sink cannot be stored', { sink: this.#sink.name, error: messageOf(error) });
    }
    this.#saveSoon();
  }
}

/** Filters for the log: params that are not about the view. */
function filtersOf({ params }: Sink): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(params ?? {}).map(([name, value]) => [name, String(value)]));
}

/** Id of the object of a live event. */
function keyOf(topic: LiveTopic, json: string): string {
  const { id, provider_id: providerId } = JSON.parse(json) as { readonly id?: string; readonly provider_id?: string };
  return (topic === 'trackable_motions' ? id : providerId) ?? '';
}

function deliveryOf(
  { id, topic, key, timeMs, cursor }: QueuedEvent,
  of: { readonly state: SinkDelivery['state']; readonly attempts: number; readonly last: Attempt | undefined },
): SinkDelivery {
  const { state, attempts, last } = of;
  return {
    event_id: id,
    ...{ topic, key, state, attempts },
    timestamp: formatTime(timeMs),
    ...(cursor !== undefined && { cursor }),
    ...(last !== undefined && { attempted_at: formatTime(last.endedMs), duration: last.durationMs }),
    ...shown(last?.failure),
  };
}

/** A failure as members of a reply. */
function shown(failure: Failure | undefined): { readonly error?: string } & Partial<ErrorReason> {
  if (failure === undefined) return {};
  const { why, problem } = failure;
  return { error: why, ...(problem && { reason: problem.reason, params: problem.params }) };
}
