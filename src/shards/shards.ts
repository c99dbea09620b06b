import type { QueryResult, LastKnownRow, ObjectIds, Query } from '../core/item.ts';
import type { AcceptedLocation } from '../core/location/accepted.ts';
import { PROVIDER_NAME, recordSize } from '../core/location/record.ts';
import type { ScannedBody } from '../core/location/scanned_body.ts';
import type { PackedRows } from '../core/row_bytes.ts';
import type { ObjectKind } from '../model/id.ts';
import type { LocatingRule } from '../model/rule.ts';
import type { Variant } from '../model/topics.ts';
import { type Adoption, type LaneItem, type LocationTimes, newRecordBuffer } from '../wire/location_record.ts';
import type { ShardReply } from '../wire/messages.ts';
import { type CountedRun, type Receiving, scannedOf } from '../wire/received_run.ts';
import type { RoundWatch } from './flush_scheduler.ts';
import { OutcomeGate } from './outcome_gate.ts';
import type { RecordedChanges } from './recent_changes.ts';
import { rowUntil } from '../core/row_times.ts';
import {
  type CommandGroup,
  type ConfigCommand,
  type EntityCommand,
  groupsOf,
  type LaneCommand,
} from './shard_commands.ts';
import { ShardDirectory } from './shard_directory.ts';
import { ShardLane, type ShardLaneOptions } from './shard_lane.ts';
import { type RequestWithId, type ShardAnswer, ShardRequests } from './shard_requests.ts';
import { noChanges, type SharedLog, SharedObjects } from './shared_objects.ts';
import { TransferQueue } from './transfer_queue.ts';

export interface ShardsOptions
  extends Omit<ShardLaneOptions, 'shard' | 'outcome' | 'heldSinceMs' | 'share' | 'rounds' | 'pace'> {
  readonly count: number;
  /** Called after each step. */
  stepped(shard: number, reply: ShardReply): void;
  /**
   * Commits the changes of a step before its outcome is released (see OutcomeGate). If absent, outcomes do not wait.
   */
  readonly keep?: ((shard: number, reply: ShardReply) => Promise<void> | undefined) | undefined;
  /** Returns an observer of the rounds in which a shard emits its rows. */
  readonly rounds?: ((shard: number) => RoundWatch) | undefined;
  /** The shared log of several hubs. */
  readonly configured?: SharedLog | undefined;
  /** Processes outcomes of steps, in order. `settled` also waits for the promise. */
  outcome(shard: number, reply: ShardReply): Promise<void> | undefined;
}

/** State adopted from another hub. */
export interface AdoptedState extends Pick<Adoption, 'rows' | 'steps'> {
  /** Sequence number of the last record of the shared log evaluated in the state. */
  readonly config: number;
  /** Objects to adopt. */
  readonly objects: ObjectIds;
}

/** A request to a shard, before it has an id. */
type ShardRequest = readonly [shard: number, ask: RequestWithId];

const NO_OBJECTS: ObjectIds = { providers: [], trackables: [] };

/**
 * All shards of the hub. Assigns objects to shards, numbers items, and sends requests. When an assignment moves an
 * object to another shard, its state is transferred first. Until then, all other calls are queued, so that the order is
 * preserved.
 */
export class Shards {
  readonly #lanes: readonly ShardLane[];
  readonly #gates: OutcomeGate[] = [];
  readonly #options: ShardsOptions;
  readonly #directory: ShardDirectory;
  /** Set if several hubs share the objects. */
  readonly #shared: SharedObjects | undefined;
  readonly #requests = new ShardRequests();
  readonly #queue = new TransferQueue({
    push: (shard, receivedMs, command) => this.#push(shard, receivedMs, command),
    request: (shard, receivedMs, ask) => this.#request(shard, receivedMs, ask),
    settled: (shard) => this.#lanes[shard]?.lane.settled(),
  });
  /** Number of the first step of each shard whose outcome is not released. */
  readonly #unreleased: number[] = [];
  #lastSeq = 0;
  #nextStep: PromiseWithResolvers<void> | undefined;
  #isClosed = false;

  constructor(options: ShardsOptions) {
    this.#options = options;
    this.#directory = new ShardDirectory(options.count);
    this.#shared = options.configured && new SharedObjects(options.configured);
    const { keep } = options;
    this.#lanes = Array.from({ length: options.count }, (_, shard) => {
      const release = (reply: ShardReply) => this.#take(shard, reply);
      const failed = (reply: ShardReply, error: unknown): void => this.#requests.withhold(reply, error);
      const gate = keep && new OutcomeGate({ commit: (reply) => keep(shard, reply), release, failed });
      if (gate !== undefined) this.#gates.push(gate);
      const outcome = (reply: ShardReply): Promise<void> | undefined => {
        options.stepped(shard, reply);
        this.#nextStep?.resolve();
        this.#nextStep = undefined;
        return gate === undefined ? release(reply) : gate.take(reply);
      };
      return new ShardLane({
        ...options,
        shard,
        share: 1 / options.count,
        rounds: this.#completed(options.rounds?.(shard)),
        pace: gate,
        outcome,
        heldSinceMs: () => this.#queue.sinceMs,
        lost: (item, error) => {
          this.#requests.drop(item);
          options.lost(item, error);
        },
      });
    });
  }

  get lanes(): readonly ShardLane[] {
    return this.#lanes;
  }

  /** Whether every shard has capacity for `count` more locations. */
  hasCapacity(count: number): boolean {
    return this.#lanes.every(({ lane }) => lane.hasCapacity(count + this.#queue.length));
  }

  /** Resolves when no shard has a long queue; undefined if that is the case now. */
  eased(): Promise<void> | undefined {
    let easing: Promise<void> | undefined;
    for (const { lane } of this.#lanes) {
      const own = lane.eased();
      if (own !== undefined) easing = easing === undefined ? own : easing.then(() => own);
    }
    return easing;
  }

  /** Returns number and time of receipt of the earliest unfinished item; undefined if all are done. */
  get firstUndone(): { readonly seq: number; readonly receivedMs: number } | undefined {
    let first: { readonly seq: number; readonly receivedMs: number } | undefined;
    for (const { lane } of this.#lanes) {
      if (lane.first !== undefined && (first === undefined || lane.first.seq < first.seq)) first = lane.first;
    }
    const { sinceMs } = this.#queue;
    if (first !== undefined || sinceMs === undefined) return first;
    return { seq: this.#lastSeq + 1, receivedMs: sinceMs };
  }

  /** Returns the progress of all shards. No motions of earlier items, or received earlier, will follow. */
  get passed(): { readonly seq: number; readonly receivedMs: number } {
    return this.firstUndone ?? { seq: this.#lastSeq + 1, receivedMs: this.#options.now() };
  }

  /**
   * Resolves when the outcomes of all steps so far are released; undefined if they already are. Rejects if they never
   * will be.
   */
  released(): Promise<void> | undefined {
    const waiting = this.#gates.flatMap(({ released }) => released ?? []);
    return waiting.length === 0 ? undefined : Promise.all(waiting).then(() => undefined);
  }

  /**
   * Resolves when the outcomes of all items so far are released, with the number of the first step of each shard whose outcome
   * is not. Rejects if they never will be.
   */
  async published(): Promise<readonly number[]> {
    // Closed shards have released everything, and make no more steps.
    if (!this.#isClosed) await this.#requestAll((id) => ({ kind: 'keep', id, ...NO_OBJECTS }));
    return [...this.#unreleased];
  }

  /** Passes a checked location to its shard. hot */
  location(location: AcceptedLocation, times: LocationTimes): void {
    if (this.isMoving) {
      this.#queue.call(times.receivedMs, () => this.location(location, times));
      return;
    }
    this.#lastSeq++;
    this.#shared?.located(location.provider_id);
    this.#lanes[this.#directory.ofProvider(location.provider_id)]?.location(location, this.#lastSeq, times);
  }

  /**
   * Passes the locations of a scanned body to their shards, contiguous records of one shard at once. Must not be called
   * during a transfer, in which no body is scanned. hot
   */
  scanned(body: ScannedBody): void {
    const { records, start, end, newProviders, isPartial } = body;
    const isAlike = this.#lanes.length === 1 && isPartial !== true;
    let from = start;
    while (from < end) {
      const home = homeAt(body, from);
      let [to, count] = [from, 0];
      do {
        to += recordSize(records, to);
        count++;
      } while (to < end && (isAlike || homeAt(body, to) === home));
      this.#lanes[home]?.scanned(body, from, to, this.#lastSeq + 1);
      this.#lastSeq += count;
      from = to;
    }
    for (const id of newProviders) this.#shared?.located(id);
    for (const [shard, lane] of this.#lanes.entries()) {
      lane.pass(newProviders.filter((id) => this.#directory.ofProvider(id) === shard));
    }
  }

  /**
   * Passes locations from another hub to their shards (received_run.ts). The bytes are modified and must stay valid
   * until the locations are processed.
   */
  received(run: CountedRun, receiving: Pick<Receiving, 'receivedMs' | 'eventTime'>): void {
    const homeOf = (provider: string) => this.homeOf(provider);
    // A provider may be new to the shards although the record that creates it is already in flight.
    const isNewProvider = (provider: string) => this.#shared?.isConfigured(provider) !== true;
    this.#queue.call(receiving.receivedMs, () => this.scanned(scannedOf(run, { ...receiving, homeOf, isNewProvider })));
  }

  /** Returns the shard of a provider, valid while `homesChanged` is unchanged. */
  homeOf(provider: string): number {
    return this.#directory.ofProvider(provider);
  }

  /** Counter of changes to the shards of objects. */
  get homesChanged(): number {
    return this.#directory.changes;
  }

  /** Whether objects are being transferred between shards, so that all other calls are queued. */
  get isMoving(): boolean {
    return this.#queue.sinceMs !== undefined;
  }

  /** Handles the deletion of a provider's location. */
  forget(id: string): void {
    const receivedMs = this.#options.now();
    this.#queue.call(receivedMs, () => this.#push(this.#directory.ofProvider(id), receivedMs, { kind: 'forget', id }));
  }

  /** Sends the subscribed renderings to all shards. */
  variants(variants: readonly Variant[]): void {
    const receivedMs = this.#options.now();
    this.#queue.call(receivedMs, () => this.#pushToAll(receivedMs, { kind: 'variants', variants }));
  }

  /** Sends the hub's locating rules to all shards. */
  rules(rules: readonly LocatingRule[]): void {
    this.#configure([{ kind: 'rules', rules }]);
  }

  /**
   * Sends last-known rows to the shards of their objects. Overdue exits wait for `delayMs` or the next location of
   * their object.
   */
  restore(rows: PackedRows, delayMs: number): void {
    const receivedMs = this.#options.now();
    const suppressUntilMs = receivedMs + delayMs;
    this.#queue.call(receivedMs, () => {
      for (const [to, own] of this.#packedByShard(rows).entries()) {
        this.#push(to, receivedMs, { kind: 'restore', rows: own, suppressUntilMs });
      }
    });
  }

  /**
   * Adopts objects from another hub, given their rows and the later steps in order. Deadlines are suppressed for
   * `delayMs` or until the next location of their object. The other hub has not evaluated the records after `config`,
   * so these are evaluated on arrival, and the objects' own changes are applied again. Resolves when the result is
   * released; rejects if it fails.
   */
  async adopt({ rows, steps, config, objects }: AdoptedState, delayMs: number): Promise<void> {
    const receivedMs = this.#options.now();
    const suppressUntilMs = receivedMs + delayMs;
    const { undo, reapply, surroundings: since } = this.#shared?.adopt(config, objects) ?? noChanges(config);
    this.#applyQueued(receivedMs, undo);
    const concerned = { provider: new Set(objects.providers), trackable: new Set(objects.trackables) };
    const adopted = this.#requestQueued(receivedMs, () => {
      const own = rows.filter(({ kind, id }) => concerned[kind].has(id));
      const byShard = this.#byShard(own, receivedMs);
      // The request goes to all shards, since from now on the stored rows of the objects belong to this hub.
      return this.#directory.split(objects).map((those, shard): ShardRequest => {
        const state = { rows: byShard[shard] ?? [], steps: isAny(those) ? steps : [] };
        const adoption = { kind: 'adopt' as const, ...state, suppressUntilMs };
        return [shard, (id) => ({ ...adoption, takenOver: { id, objects: those, since } })];
      });
    });
    for (const recorded of reapply) this.#applyQueued(receivedMs, recorded);
    // An empty request is answered when all items before it are finished and their outcomes are released.
    const applied = reapply.length > 0 && this.#requestAll((id) => ({ kind: 'keep', id, ...NO_OBJECTS }));
    await Promise.all([adopted, applied]);
  }

  /** Applies the deferred changes of trackables that have arrived. */
  applyDeferred(): void {
    const arrived = this.#shared?.arrived();
    if (arrived !== undefined && arrived.commands.length > 0) this.#applyQueued(this.#options.now(), arrived);
  }

  /**
   * Releases objects to another hub, with all objects linked to them, after all pending items. Their state is removed
   * here, without events; their entities stay. `sequence` is the sequence number of the release record in the shared
   * log. Resolves when the release is committed, with a record for each shard that had state of the objects; a hub that
   * adopts the steps of these records continues exactly. Rejects if the release cannot be committed.
   */
  async release(objects: ObjectIds, sequence: number): Promise<void> {
    const config = this.#shared?.sequence ?? sequence;
    await this.#requestQueued(this.#options.now(), () => {
      return this.#owners(objects).map(
        ([shard, own]): ShardRequest => [shard, (id) => ({ kind: 'release', id, sequence, config, ...own })],
      );
    });
  }

  /** Restarts the numbering of names in a shard's recorded positions. */
  forgetNames(shard: number): void {
    this.#lanes[shard]?.forgetNames();
  }

  /** Requests the rows of objects again, with the next rounds. Resolves when the shards have received the request. */
  async touchAll(objects: ObjectIds): Promise<void> {
    await this.#requestQueued(this.#options.now(), () => {
      return this.#owners(objects).map(([shard, own]): ShardRequest => [shard, (id) => ({ kind: 'keep', id, ...own })]);
    });
  }

  /** Returns the objects that existed and were changed by records after `config`. */
  changedSince(config: number): ObjectIds {
    return this.#shared?.changedSince(config) ?? NO_OBJECTS;
  }

  /** Returns all configured or located objects; empty unless several hubs share the objects. */
  objects(): ObjectIds {
    return this.#shared?.all() ?? NO_OBJECTS;
  }

  /** Applies changed entities: zones and fences in all shards, providers and trackables in their own. */
  entities(commands: readonly EntityCommand[]): void {
    this.#configure(commands);
  }

  /** Queries the shard of the queried object, or all shards. */
  ask(query: Query): Promise<readonly QueryResult[]> {
    return this.#requestQueued(this.#options.now(), () => {
      return this.#directory
        .shardsFor(query)
        .map((shard): ShardRequest => [shard, (id) => ({ kind: 'read', id, query })]);
    }) as Promise<readonly QueryResult[]>;
  }

  /** Requests all shards to report the positions of their trackables as motions. Resolves when they have. */
  async standing(): Promise<void> {
    await this.#requestAll((id) => ({ kind: 'stand', id }));
  }

  /**
   * Resolves when all shards have finished all items and the work of their outcomes. Rejects at that time if items were
   * lost or rows could not be stored.
   */
  async settled(): Promise<void> {
    if (this.isMoving) await this.#queue.drained(this.#options.now());
    const settled = await Promise.allSettled(this.#lanes.map(({ lane }) => lane.settled()));
    const failed = settled.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }

  /**
   * Like settled, but also waits until the last-known rows of all changes so far are stored. Rejects if they cannot be.
   */
  async committed(): Promise<void> {
    if (this.isMoving) await this.#queue.drained(this.#options.now());
    for (const lane of this.#lanes) lane.flush();
    await this.settled();
  }

  /**
   * Lets the shards emit rows of changed objects, gradually. Call it periodically. If it returns false, further calls
   * have no work until the next step.
   */
  flushInBackground(): boolean {
    return this.#lanes.filter((lane) => lane.flushInBackground()).length > 0;
  }

  /** Resolves with the next step of a shard. */
  nextStep(): Promise<void> {
    this.#nextStep ??= Promise.withResolvers();
    return this.#nextStep.promise;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#lanes.map((lane) => lane.close()));
  }

  /** Observer of rounds without those that end while objects are between shards: no shard has emitted their rows. */
  #completed(watch: RoundWatch | undefined): RoundWatch | undefined {
    if (watch === undefined) return undefined;
    return { begun: () => watch.begun(), over: () => this.#queue.areInTransit || watch.over() };
  }

  #configure(commands: readonly ConfigCommand[]): void {
    this.#applyQueued(this.#options.now(), this.#shared?.change(commands) ?? { config: 0, commands });
  }

  /** Returns the shards that have some of the objects, with these objects. */
  #owners(objects: ObjectIds): readonly (readonly [shard: number, ObjectIds])[] {
    return [...this.#directory.split(objects).entries()].filter(([, own]) => isAny(own));
  }

  #applyQueued(receivedMs: number, { config, commands }: RecordedChanges): void {
    for (const group of groupsOf(commands)) {
      this.#queue.call(receivedMs, () => this.#applyGroup(receivedMs, { ...group, config }));
    }
  }

  /** Sends requests to shards, after queued calls. Resolves with the answers. */
  #requestQueued(receivedMs: number, requests: () => readonly ShardRequest[]): Promise<readonly ShardAnswer[]> {
    return new Promise((resolve) => {
      this.#queue.call(receivedMs, () => {
        resolve(Promise.all(requests().map(([shard, ask]) => this.#request(shard, receivedMs, ask))));
      });
    });
  }

  /** Requests the same of all shards; resolves with their answers. */
  #requestAll(ask: RequestWithId): Promise<readonly ShardAnswer[]> {
    return this.#requestQueued(this.#options.now(), () => {
      return this.#lanes.map((_, shard): ShardRequest => [shard, ask]);
    });
  }

  #byShard(rows: readonly LastKnownRow[], untilMs: number): LastKnownRow[][] {
    const byShard = this.#lanes.map((): LastKnownRow[] => []);
    for (const row of rows) byShard[this.#directory.of(row.kind, row.id)]?.push(rowUntil(row, untilMs));
    return byShard;
  }

  #packedByShard(rows: PackedRows): readonly PackedRows[] {
    const { length } = this.#lanes;
    if (length === 1) return [rows];
    return rows.divided(length, ({ kind, id }) => this.#directory.of(kind as ObjectKind, id), newRecordBuffer);
  }

  #push(shard: number, receivedMs: number, command: LaneCommand & { readonly config?: number }): void {
    this.#lastSeq++;
    this.#lanes[shard]?.lane.push({ ...command, seq: this.#lastSeq, receivedMs } as LaneItem);
  }

  #pushToAll(receivedMs: number, command: LaneCommand & { readonly config?: number }): void {
    for (const shard of this.#lanes.keys()) this.#push(shard, receivedMs, command);
  }

  #sendCommand(receivedMs: number, command: ConfigCommand & { readonly config: number }): void {
    if (command.kind !== 'provider' && command.kind !== 'trackable') {
      this.#pushToAll(receivedMs, command);
      return;
    }
    this.#push(this.#directory.of(command.kind, command.id), receivedMs, command);
    if (command.entity === undefined) this.#directory.forget(command.kind, command.id);
  }

  #applyGroup(receivedMs: number, { areDeletions, config, commands }: CommandGroup & RecordedChanges): void {
    const directory = this.#directory;
    const send = (): void => {
      for (const command of commands) this.#sendCommand(receivedMs, { ...command, config });
    };
    const leaving = areDeletions
      ? directory.ofDeleted(commands as readonly Extract<ConfigCommand, { kind: ObjectKind }>[])
      : [];
    if (areDeletions) send();
    const moves = directory.assign(commands.filter((command) => command.kind === 'trackable'));
    const arrived = areDeletions ? undefined : send;
    if (moves.length === 0 && leaving.length === 0) arrived?.();
    else void this.#queue.transfer({ moves, leaving, receivedMs, arrived });
  }

  #request(shard: number, receivedMs: number, ask: RequestWithId): Promise<ShardAnswer> {
    const { command, answer } = this.#requests.create(ask);
    this.#push(shard, receivedMs, command);
    return answer;
  }

  #take(shard: number, reply: ShardReply): Promise<void> | undefined {
    this.#requests.end(reply);
    const work = this.#options.outcome(shard, reply);
    this.#unreleased[shard] = (reply.step ?? 0) + 1;
    return work;
  }
}

function homeAt({ records, homeOf }: ScannedBody, at: number): number {
  return homeOf(records.view.getUint32(at + PROVIDER_NAME, true));
}

function isAny({ providers, trackables }: ObjectIds): boolean {
  return providers.length + trackables.length > 0;
}
