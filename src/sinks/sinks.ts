import { type DefinedWrite, Documents, type DocumentsDeps } from '../entities/documents.ts';
import { SINKS } from '../entities/sinks.ts';
import { compileFilter } from '../fanout/filter.ts';
import { hubError, messageOf } from '../errors.ts';
import { parseTime } from '../model/time.ts';
import { show } from '../model/error_value_text.ts';
import type { EventLogReader } from '../model/logged_event.ts';
import type { Sink, SinkDelivery, SinkReplay, SinkStatus, SinkTest } from '../model/sink.ts';
import type { SinkCommand, SinkProgress, SinkRunner, SinkRunnerDeps } from './sink_runner.ts';

/**
 * The sinks of a hub. Three settings are stored for each:
 *
 *   `sink <id>`           the sink, as its clients define it, with its secrets
 *   `sink_command <id>`   the last command of a user: pause, resume or replay
 *   `sink_progress <id>`  the cursor, written by the hub that delivers; it names the last command that it includes
 *
 * In a cluster all hubs apply these settings, and exactly one delivers: the owner of the partition to which the sink's id
 * belongs. When it fails, the new owner continues after the stored cursor. A command reaches the delivering hub as a
 * setting, so users can send it to any hub.
 *
 * Without a sink, no code for deliveries is loaded.
 */
export interface SinksDeps extends Omit<SinkRunnerDeps, 'save' | 'events' | 'source' | 'hubId'> {
  readonly commit: DocumentsDeps['commit'];
  /** Whether this hub delivers to a sink. */
  isElected(id: string): boolean;
}

const COMMAND = 'sink_command ';
const PROGRESS = 'sink_progress ';

/** Facts that the deliveries need to start. */
interface SinksStart {
  readonly hubId: string;
  /** Undefined if the hub has no event log. */
  readonly events?: EventLogReader | undefined;
  /** Starts a span of a delivery, if the hub exports spans. */
  readonly startSpan?: SinkRunnerDeps['startSpan'] | undefined;
}

/** A running delivery and the version of the sink for which it was started. */
interface Running {
  readonly sink: Sink;
  /** Whether an alert rule names the sink. */
  readonly isNamed: boolean;
  readonly runner: SinkRunner;
}

export class Sinks {
  readonly documents: Documents<Sink>;
  readonly #deps: SinksDeps;
  readonly #commands = new Map<string, SinkCommand>();
  readonly #progress = new Map<string, SinkProgress>();
  readonly #running = new Map<string, Running>();
  /** Why deliveries could not be started. */
  readonly #problems = new Map<string, string>();
  #started: SinksStart | undefined;
  #isClosed = false;
  #changing: Promise<void> | undefined;
  #mustChange = false;

  constructor(deps: SinksDeps) {
    this.#deps = deps;
    const { newId, commit } = deps;
    this.documents = new Documents(SINKS, {
      newId,
      commit: async (documents, logged) => {
        const companions = this.#companionsOf(documents);
        const applied = await commit([...documents, ...companions], logged);
        if (applied === undefined) this.#applyAll(companions);
        return applied;
      },
      changed: () => this.elect(),
      admit: (sink) => this.#admit(sink),
    });
  }

  /** Applies a stored setting; null if it was deleted. Returns false if the setting is not about sinks. */
  apply(name: string, json: string | null): boolean {
    if (this.documents.apply(name, json)) return true;
    if (name.startsWith(PROGRESS)) {
      applyTo(this.#progress, name.slice(PROGRESS.length), json);
      return true;
    }
    if (!name.startsWith(COMMAND)) return false;
    const id = name.slice(COMMAND.length);
    applyTo(this.#commands, id, json);
    const command = this.#commands.get(id);
    if (command !== undefined) this.#running.get(id)?.runner.command(command);
    return true;
  }

  /** Starts the deliveries. All stored settings must have been applied. */
  start(started: SinksStart): void {
    this.#started = started;
    this.elect();
  }

  /** Starts and stops deliveries until they match the stored sinks and the election of hubs. */
  elect(): void {
    if (this.#started === undefined) return;
    this.#mustChange = true;
    this.#changing ??= this.#change();
  }

  /** Returns the status of all sinks, in the order of `documents`. */
  statuses(): readonly SinkStatus[] {
    return this.documents.list.map(({ id }) => this.status(id));
  }

  /** Throws HUB_NOT_FOUND. */
  status(id: string): SinkStatus {
    const sink = this.documents.get(id);
    const running = this.#running.get(sink.id);
    if (running !== undefined) return running.runner.status();
    const { cursor, disabled, disabledBy } = this.#progress.get(sink.id) ?? {};
    const problem = this.#problems.get(sink.id);
    const error = disabled ?? problem;
    const isPaused = this.#commands.get(sink.id)?.state === 'paused';
    return {
      id: sink.id,
      state: disabled !== undefined ? 'disabled' : isPaused ? 'paused' : problem === undefined ? 'active' : 'failing',
      delivering: false,
      ...(cursor !== undefined && { cursor }),
      ...(error !== undefined && { error }),
      ...(disabled !== undefined && disabledBy),
    };
  }

  /** Throws HUB_NOT_FOUND, and HUB_UNAVAILABLE if another hub delivers to the sink. */
  deliveries(id: string): readonly SinkDelivery[] {
    const sink = this.documents.get(id);
    const running = this.#running.get(sink.id);
    if (running !== undefined) return running.runner.deliveries();
    throw hubError('sink_not_here', { id: sink.id });
  }

  /** Sends a test event, without the queue and the retries of the sink. Rejects with HUB_NOT_FOUND. */
  async test(id: string): Promise<SinkTest> {
    const sink = this.documents.get(id);
    const { now, newId, open } = this.#deps;
    const { openSender } = await import('./open_sender.ts');
    const { sender } = await (open ?? openSender)(sink, { ...this.#deps, ...this.#identity });
    const startMs = now();
    const event = { id: `test_${newId()}`, topic: 'test', key: sink.id, timeMs: startMs, json: '{"test":true}' };
    const outcome = await sender.send([event]);
    await sender.close();
    const duration = Math.max(0, Math.round(now() - startMs));
    if (outcome.what === 'delivered') return { delivered: true, duration };
    const { why: error, problem } = outcome;
    return { delivered: false, duration, error, ...(problem && { reason: problem.reason, params: problem.params }) };
  }

  /** Pauses or resumes a sink. Rejects with HUB_NOT_FOUND and HUB_UNAVAILABLE. */
  async act(id: string, act: 'pause' | 'resume'): Promise<void> {
    await this.#command(id, { state: act === 'pause' ? 'paused' : 'active' });
  }

  /** Continues after another position of the log. Rejects with HUB_NOT_FOUND, HUB_BAD_REQUEST and HUB_UNAVAILABLE. */
  async replay(id: string, { after, from }: SinkReplay): Promise<void> {
    this.documents.get(id);
    if ((after == null) === (from == null)) {
      throw hubError('not_exactly_one', { path: 'body', member: 'after', other_member: 'from' });
    }
    const log = this.#started?.events;
    if (log === undefined) throw hubError('no_event_log');
    if (after != null) {
      // Throws for a cursor that is damaged, too old, or of another hub.
      await log.read(after, { topics: [], filters: {}, limit: 1 });
      return this.#command(id, { state: 'active', after });
    }
    const fromMs = parseTime(String(from));
    if (Number.isNaN(fromMs)) throw hubError('not_a_time', { path: 'from', found: show(from) });
    return this.#command(id, { state: 'active', after: await log.cursorAt(fromMs) });
  }

  /** Stops all deliveries and stores their progress. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.elect();
    await this.#changing;
  }

  async #command(id: string, command: Omit<SinkCommand, 'epoch'>): Promise<void> {
    const sink = this.documents.get(id);
    const epoch = 1 + Math.max(this.#commands.get(sink.id)?.epoch ?? 0, this.#progress.get(sink.id)?.epoch ?? 0);
    await this.#store([[COMMAND + sink.id, { ...command, epoch }]]);
  }

  async #store(documents: readonly DefinedWrite[]): Promise<void> {
    if ((await this.#deps.commit(documents)) === undefined) this.#applyAll(documents);
  }

  #applyAll(documents: readonly DefinedWrite[]): void {
    for (const [name, document] of documents) {
      this.apply(name, document === undefined ? null : JSON.stringify(document));
    }
  }

  /**
   * Returns the other settings of new and deleted sinks. The position of a new sink is stored with it, so that a crash right
   * after its creation skips no event.
   */
  #companionsOf(documents: readonly DefinedWrite[]): readonly DefinedWrite[] {
    return documents.flatMap(([name, document]): readonly DefinedWrite[] => {
      const id = name.slice(SINKS.prefix.length);
      if (document !== undefined) {
        const cursor = this.#started?.events?.newest;
        const isKnown = cursor === undefined || this.documents.list.some((sink) => sink.id === id);
        return isKnown ? [] : [[PROGRESS + id, { epoch: 0, cursor } satisfies SinkProgress]];
      }
      const names = [COMMAND + id, PROGRESS + id].filter((each) => this.#isStored(each));
      return names.map((each) => [each, undefined]);
    });
  }

  #isStored(name: string): boolean {
    return name.startsWith(COMMAND)
      ? this.#commands.has(name.slice(COMMAND.length))
      : this.#progress.has(name.slice(PROGRESS.length));
  }

  /** Throws HUB_BAD_REQUEST for a target that is not allowed, and for params that do not fit a topic. */
  #admit({ url, oidc, topics, params }: Sink): void {
    for (const topic of topics) compileFilter(topic, params ?? {});
    this.#deps.viewOf(params ?? {});
    for (const [path, each] of [['url', url] as const, ['oidc.token_url', oidc?.token_url] as const]) {
      const why = each === undefined ? undefined : this.#deps.whyNotHost(new URL(each).hostname);
      if (why !== undefined) throw hubError('sink_host_not_allowed', { path, found: show(each) }, { detail: why });
    }
  }

  async #change(): Promise<void> {
    // The caller stores this promise first.
    await undefined;
    while (this.#mustChange) {
      this.#mustChange = false;
      const wanted = new Map<string, Sink>();
      if (!this.#isClosed) {
        for (const sink of this.documents.list) if (this.#deps.isElected(sink.id)) wanted.set(sink.id, sink);
      }
      const ids = new Set([...this.#running.keys(), ...wanted.keys()]);
      await Promise.all([...ids].map((id) => this.#bring(id, wanted.get(id))));
    }
    // In the same turn as the last check, so that no later call of `elect` is lost.
    this.#changing = undefined;
  }

  /** Starts, replaces or stops the delivery to one sink. Never rejects. */
  async #bring(id: string, sink: Sink | undefined): Promise<void> {
    const running = this.#running.get(id);
    const isNamed = this.#deps.rulesNaming(id).size > 0;
    if (running !== undefined && running.sink === sink && running.isNamed === isNamed) return;
    if (running !== undefined) {
      await running.runner.close();
      this.#running.delete(id);
    }
    if (!this.documents.list.some((each) => each.id === id)) this.#forget(id);
    if (sink === undefined) return;
    try {
      const { SinkRunner: Runner } = await import('./sink_runner.ts');
      const runner = await Runner.open(
        sink,
        { progress: this.#progress.get(id), command: this.#commands.get(id) },
        {
          ...this.#deps,
          ...this.#identity,
          events: this.#started?.events,
          save: (progress) => this.#saveProgress(id, progress),
        },
      );
      this.#problems.delete(id);
      this.#running.set(id, { sink, isNamed, runner });
    } catch (error) {
      this.#problems.set(id, messageOf(error));
      this.#deps.warn('The delivery to a sink cannot be started', { sink: sink.name, id, error: messageOf(error) });
    }
  }

  async #saveProgress(id: string, progress: SinkProgress): Promise<void> {
    const isDeleted = !this.documents.list.some((each) => each.id === id);
    if (!isDeleted) await this.#store([[PROGRESS + id, progress]]);
  }

  get #identity(): Pick<SinkRunnerDeps, 'hubId' | 'source' | 'startSpan'> {
    const { hubId = '', startSpan } = this.#started ?? {};
    return { hubId, source: `urn:omlox-hub:${hubId}`, ...(startSpan && { startSpan }) };
  }

  #forget(id: string): void {
    this.#commands.delete(id);
    this.#progress.delete(id);
    this.#problems.delete(id);
  }
}

function applyTo<V>(map: Map<string, V>, id: string, json: string | null): void {
  if (json === null) map.delete(id);
  else map.set(id, JSON.parse(json) as V);
}
