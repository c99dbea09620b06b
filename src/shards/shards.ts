import { zstdDecompressSync } from 'node:zlib';
import type { QueryResult, ExportedState, LastKnownRow, ObjectIds, Query, ChangesSince } from '../core/item.ts';
import type { AcceptedLocation } from '../core/location/accepted.ts';
import { PROVIDER_NAME, recordSize } from '../core/location/record.ts';
import type { ScannedBody } from '../core/location/scanned_body.ts';
import { HubError } from '../errors.ts';
import { type Borrowed, look } from '../model/borrowed.ts';
import type { LocatingRule } from '../model/rule.ts';
import type { Variant } from '../model/topics.ts';
import { type ReleasedStep, unpackJournalRecord } from '../wire/journal_record.ts';
import type { Adoption, LaneItem, Times } from '../wire/location_record.ts';
import type { ShardReply } from '../wire/messages.ts';
import { type CountedRun, type Receiving, scannedOf } from '../wire/received_run.ts';
import type { RoundWatch } from './flush_scheduler.ts';
import { OutcomeGate } from './outcome_gate.ts';
import type { Changed, RecentChanges, Recorded } from './recent_changes.ts';
import { rowUntil } from './row_times.ts';
import { type Configured, type EntityCommand, type LaneCommand, withoutReturns } from './shard_commands.ts';
import { KnownObjects, type Rebalance, ShardDirectory } from './shard_directory.ts';
import { ShardLane, type ShardLaneOptions } from './shard_lane.ts';

export interface ShardsOptions
  extends Omit<ShardLaneOptions, 'outcome' | 'heldSinceMs' | 'shareOfStore' | 'rounds' | 'pace'> {
  readonly count: number;
  /** Hears of each step as soon as it is done. */
  stepped(shard: number, reply: ShardReply): void;
  /** Keeps what a step has changed before anybody hears of what it has decided, see OutcomeGate; left out: nobody waits. */
  readonly keep?: ((shard: number, reply: ShardReply) => Promise<void> | undefined) | undefined;
  /** Hears of rounds in which a shard hands out its rows. */
  readonly rounds?: ((shard: number) => RoundWatch) | undefined;
  /** Where hubs share a log. */
  readonly configured?: ConfiguredBy | undefined;
  /** Hears of what steps have decided, in their order. The promise is what `settled` waits for besides. */
  outcome(shard: number, reply: ShardReply): Promise<void> | undefined;
}

/** The log by which the shards are told of changes. */
export interface ConfiguredBy {
  /** Of the record that they are told of. */
  sequence(): number;
  /** What its last records have changed. */
  readonly changes: RecentChanges;
  /** Tells the trackables that are on their way here by now; undefined where there are none. */
  onTheWay?(): ((id: string) => boolean) | undefined;
}

/** What is taken over from another hub. */
export interface TakenOver extends Pick<Adoption, 'rows' | 'steps'> {
  /** The sequence of the last record of the shared log that is evaluated in it. */
  readonly config: number;
  /** Whose state is wanted of it. */
  readonly objects: ObjectIds;
}

interface InLine {
  readonly receivedMs: number;
  readonly tell: () => void;
}

interface Question {
  /** Whether whoever has asked is told if there is no answer. What the shards ask of each other goes on without. */
  readonly mayFail: boolean;
  readonly resolve: (answer: Reply) => void;
  readonly reject: (error: Error) => void;
}

/** What a question is answered with: the state of objects that have left where that was asked for, undefined if they had none. */
type Reply = QueryResult | ExportedState | ReleasedStep | undefined;

/** A question to a shard, which is given a number. */
type Asked = readonly [shard: number, ask: (id: number) => LaneCommand];

const NOBODY: ExportedState = { providers: [], trackables: [] };
const NO_OBJECTS: ObjectIds = { providers: [], trackables: [] };
const NOTHING_SINCE: ChangesSince = { zones: [], fences: [], rules: false };
/** What the shards ask of each other. */
const WITHOUT_ANSWER: readonly LaneCommand['kind'][] = ['exportState', 'stand'];

/**
 * All shards: knows which one owns what, numbers the items, and asks questions. When an assignment makes an object
 * belong to another shard, its state moves there first; meanwhile everything else waits in line, so no order is lost.
 */
export class Shards {
  readonly #lanes: readonly ShardLane[];
  readonly #gates: OutcomeGate[] = [];
  readonly #options: ShardsOptions;
  readonly #directory: ShardDirectory;
  /** Where hubs share the objects. */
  readonly #known: KnownObjects | undefined;
  /**
   * The last changes of trackables that are on their way here, by id: they are told when these have come. Until then nothing
   * is to move them, as a provider or a parent would that is here.
   */
  readonly #held = new Map<string, EntityCommand>();
  readonly #questions = new Map<number, Question>();
  #lastSeq = 0;
  #lastQuestion = 0;
  /** While objects move: since when, and what waits for that. */
  #moving: { readonly sinceMs: number; readonly line: InLine[] } | undefined;

  constructor(options: ShardsOptions) {
    this.#options = options;
    this.#directory = new ShardDirectory(options.count);
    this.#known = options.configured && new KnownObjects();
    const { keep } = options;
    this.#lanes = Array.from({ length: options.count }, (_, shard) => {
      const release = (reply: ShardReply) => this.#take(shard, reply);
      const withheld = (reply: ShardReply, error: unknown): void => this.#withhold(reply, error);
      const gate = keep && new OutcomeGate({ keep: (reply) => keep(shard, reply), release, withheld });
      if (gate !== undefined) this.#gates.push(gate);
      const outcome = (reply: ShardReply): Promise<void> | undefined => {
        options.stepped(shard, reply);
        return gate === undefined ? release(reply) : gate.take(reply);
      };
      return new ShardLane({
        ...options,
        shareOfStore: 1 / options.count,
        rounds: options.rounds?.(shard),
        pace: gate,
        outcome,
        heldSinceMs: () => this.#moving?.sinceMs,
        lost: (item, error) => this.#lose(item, error),
      });
    });
  }

  get lanes(): readonly ShardLane[] {
    return this.#lanes;
  }

  /** Whether that many more locations can be taken, whichever shard they are for. */
  hasCapacity(count: number): boolean {
    const waiting = this.#moving?.line.length ?? 0;
    return this.#lanes.every(({ lane }) => lane.hasCapacity(count + waiting));
  }

  /** Resolves when no shard has much to do any more; undefined where that is so. */
  eased(): Promise<void> | undefined {
    let easing: Promise<void> | undefined;
    for (const { lane } of this.#lanes) {
      const own = lane.eased();
      if (own !== undefined) easing = easing === undefined ? own : easing.then(() => own);
    }
    return easing;
  }

  /** Number of the earliest item that is not done, and its time of receipt; undefined when all are done. */
  get firstUndone(): { readonly seq: number; readonly receivedMs: number } | undefined {
    let first: { readonly seq: number; readonly receivedMs: number } | undefined;
    for (const { lane } of this.#lanes) {
      if (lane.first !== undefined && (first === undefined || lane.first.seq < first.seq)) first = lane.first;
    }
    if (first !== undefined || this.#moving === undefined) return first;
    return { seq: this.#lastSeq + 1, receivedMs: this.#moving.sinceMs };
  }

  /** What all shards have done: no motion comes of an earlier item, or was received before. */
  get passed(): { readonly seq: number; readonly receivedMs: number } {
    return this.firstUndone ?? { seq: this.#lastSeq + 1, receivedMs: this.#options.now() };
  }

  /** Resolves when what all steps so far have decided was let out; undefined where it was. Rejects when it never will be. */
  released(): Promise<void> | undefined {
    const waiting = this.#gates.flatMap(({ released }) => released ?? []);
    return waiting.length === 0 ? undefined : Promise.all(waiting).then(() => undefined);
  }

  /** Hands a checked location to its shard. hot */
  location(location: AcceptedLocation, times: Times): void {
    if (this.#moving !== undefined) {
      this.#moving.line.push({ receivedMs: times.receivedMs, tell: () => this.location(location, times) });
      return;
    }
    this.#lastSeq++;
    this.#known?.heard(location.provider_id);
    this.#lanes[this.#directory.ofProvider(location.provider_id)]?.location(location, this.#lastSeq, times);
  }

  /**
   * Hands the locations of a body that was scanned to their shards: records that lie together, and are for the same one,
   * at once. Not while objects move: then nothing can be scanned. hot
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
    for (const id of newProviders) this.#known?.heard(id);
    for (const [shard, lane] of this.#lanes.entries()) {
      lane.pass(newProviders.filter((id) => this.#directory.ofProvider(id) === shard));
    }
  }

  /**
   * Hands locations that another hub has checked to their shards: see received_run.ts. Their bytes are changed, and must be
   * good until they are processed.
   */
  received(run: CountedRun, receiving: Pick<Receiving, 'receivedMs' | 'eventTime'>): void {
    const homeOf = (provider: string) => this.homeOf(provider);
    // The hub may have the provider already, while the record that makes it is on its way.
    const isNewProvider = (provider: string) => this.#known?.isConfigured(provider) !== true;
    this.#inLine(receiving.receivedMs, () => this.scanned(scannedOf(run, { ...receiving, homeOf, isNewProvider })));
  }

  /** The shard of a provider, as long as `homesChanged` stays the same. */
  homeOf(provider: string): number {
    return this.#directory.ofProvider(provider);
  }

  /** How often an object has got another shard, or may get one. */
  get homesChanged(): number {
    return this.#directory.changes;
  }

  /** Whether objects move from one shard to another, and everything else waits in line. */
  get isMoving(): boolean {
    return this.#moving !== undefined;
  }

  /** The provider's location is deleted. */
  forget(id: string): void {
    const receivedMs = this.#options.now();
    this.#inLine(receivedMs, () => this.#push(this.#directory.ofProvider(id), receivedMs, { kind: 'forget', id }));
  }

  /** Tells everybody of the renderings that are wanted. */
  variants(variants: readonly Variant[]): void {
    this.#toAll({ kind: 'variants', variants });
  }

  /** Tells everybody of the hub's locating rules. */
  rules(rules: readonly LocatingRule[]): void {
    this.#configure([{ kind: 'rules', rules }]);
  }

  /**
   * Hands out last-known rows to the shards that own their objects. Exits that are overdue wait for `delayMs`, or for
   * the next location of their object. What lies in the future was noted while the clock was ahead, and counts as now.
   */
  restore(rows: readonly LastKnownRow[], delayMs: number): void {
    const receivedMs = this.#options.now();
    const suppressUntilMs = receivedMs + delayMs;
    this.#inLine(receivedMs, () => {
      for (const [to, own] of this.#byShard(rows, receivedMs).entries()) {
        this.#push(to, receivedMs, { kind: 'restore', rows: own, suppressUntilMs });
      }
    });
  }

  /**
   * Takes over the state of some objects from another hub: their rows, and the steps since, in their order. Deadlines are held
   * for `delayMs`, or until the next location of their object. What records behind `config` have changed that hub has not
   * evaluated: the objects meet it when they arrive, and of their own changes the shards are told once more. Resolves when
   * all of that is done and let out; rejects when it cannot be.
   */
  async adopt({ rows, steps, config, objects }: TakenOver, delayMs: number): Promise<void> {
    const receivedMs = this.#options.now();
    const suppressUntilMs = receivedMs + delayMs;
    const { undo, again, around: since } = this.#since(config, objects);
    for (const id of objects.providers) this.#known?.heard(id);
    for (const { commands } of again) this.#known?.change(commands);
    // Told before they arrive, so that what the last owner has evaluated is not evaluated again.
    const held = objects.trackables.flatMap((id) => this.#held.get(id) ?? []);
    for (const { id } of held) this.#held.delete(id);
    const known = held.map((command) => ({ ...command, force: false }));
    this.#tellInLine(receivedMs, { ...undo, commands: [...known, ...undo.commands] });
    const concerned = { provider: new Set(objects.providers), trackable: new Set(objects.trackables) };
    const adopted = this.#askInLine(receivedMs, () => {
      const own = rows.filter(({ kind, id }) => concerned[kind].has(id));
      const byShard = this.#byShard(own, receivedMs);
      // All of them: from now on what is kept is this hub's.
      return this.#split(objects).map((those, shard): Asked => {
        const state = { rows: byShard[shard] ?? [], steps: isAny(those) ? steps : [] };
        const adoption = { kind: 'adopt' as const, ...state, suppressUntilMs };
        return [shard, (id) => ({ ...adoption, takenOver: { id, objects: those, since } })];
      });
    });
    for (const recorded of again) this.#tellInLine(receivedMs, recorded);
    await Promise.all([adopted, again.length > 0 && this.#toldAll()]);
  }

  /** Tells what was held of trackables that have come. */
  tellHeld(): void {
    const { sequence, onTheWay } = this.#options.configured ?? {};
    const isOnTheWay = onTheWay?.();
    const commands = [...this.#held.values()].filter(({ id }) => isOnTheWay?.(id) !== true);
    for (const { id } of commands) this.#held.delete(id);
    if (commands.length > 0) this.#tellInLine(this.#options.now(), { config: sequence?.() ?? 0, commands });
  }

  /**
   * Lets objects go to another hub, with all that they are connected with, once everything that was told before is done. Their
   * state is forgotten here, without events; their entities stay. `sequence` is that of the record of the shared log which
   * says so. Resolves, when it was kept and let out, with a step for each shard that had the state of any of them: whoever
   * adopts these goes on as if they had been there all the time. Rejects when it cannot be kept.
   */
  async release(objects: ObjectIds, sequence: number): Promise<readonly ReleasedStep[]> {
    const config = this.#options.configured?.sequence() ?? sequence;
    const replies = await this.#askInLine(this.#options.now(), () => {
      return this.#owners(objects).map(
        ([shard, own]): Asked => [shard, (id) => ({ kind: 'release', id, sequence, config, ...own })],
      );
    });
    return (replies as readonly (ReleasedStep | undefined)[]).filter((step) => step !== undefined);
  }

  /** Has a shard number the names of what it records for the history anew. */
  forgetNames(shard: number): void {
    this.#lanes[shard]?.forgetNames();
  }

  /** Has the rows of objects handed out anew, with the next rounds. Resolves when the shards know that. */
  async touchAll(objects: ObjectIds): Promise<void> {
    await this.#askInLine(this.#options.now(), () => {
      return this.#owners(objects).map(([shard, own]): Asked => [shard, (id) => ({ kind: 'keep', id, ...own })]);
    });
  }

  /** The objects that records behind `config` have changed and that were there before. */
  changedSince(config: number): ObjectIds {
    return this.#options.configured?.changes.objectsSince(config) ?? NO_OBJECTS;
  }

  /** All objects that are configured, or were located here; where hubs share the objects. */
  objects(): ObjectIds {
    return this.#known?.all() ?? NO_OBJECTS;
  }

  /** Tells of changed entities: zones and fences everybody, providers and trackables their owner. */
  entities(commands: readonly EntityCommand[]): void {
    this.#configure(commands);
  }

  /** Asks the owner of the object that the query names, or all shards. */
  ask(query: Query): Promise<readonly QueryResult[]> {
    return this.#askInLine(this.#options.now(), () => {
      return this.#directory.asked(query).map((shard): Asked => [shard, (id) => ({ kind: 'read', id, query })]);
    }) as Promise<readonly QueryResult[]>;
  }

  /** Has all shards tell where their trackables stand, as motions, and resolves when they have. */
  async standing(): Promise<void> {
    await this.#askInLine(this.#options.now(), () => {
      return this.#lanes.map((_, shard): Asked => [shard, (id) => ({ kind: 'stand', id })]);
    });
  }

  /**
   * Resolves when all shards are done with everything that they were told, and with what that has asked for. Rejects,
   * then too, when something of it was lost or could not be kept.
   */
  async settled(): Promise<void> {
    if (this.#moving !== undefined) await this.#turn();
    const settled = await Promise.allSettled(this.#lanes.map(({ lane }) => lane.settled()));
    const failed = settled.find(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
  }

  /** Resolves when, besides, the last-known rows of everything so far are kept. Rejects when they cannot be. */
  async kept(): Promise<void> {
    if (this.#moving !== undefined) await this.#turn();
    for (const lane of this.#lanes) lane.flush();
    await this.settled();
  }

  /** Lets the shards hand out rows of what has changed, little by little. To be called from time to time. */
  flushInBackground(): void {
    for (const lane of this.#lanes) lane.flushInBackground();
  }

  async close(): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.close()));
  }

  #configure(commands: readonly Configured[]): void {
    const { configured } = this.#options;
    const recorded = { config: configured?.sequence() ?? 0, commands };
    configured?.changes.note(recorded);
    this.#known?.change(commands);
    const isOnTheWay = configured?.onTheWay?.();
    const told = isOnTheWay === undefined ? commands : commands.map((command) => this.#heldBack(command, isOnTheWay));
    this.#tellInLine(this.#options.now(), { ...recorded, commands: told });
  }

  /** A trackable that is on its way, without the providers and the parent that could move it; anything else as it is. */
  #heldBack(command: Configured, isOnTheWay: (id: string) => boolean): Configured {
    if (command.kind !== 'trackable' || !isOnTheWay(command.id)) return command;
    this.#held.set(command.id, command);
    if (command.entity === undefined) return command;
    const { location_providers: _, parent: __, ...entity } = command.entity;
    return { ...command, entity, force: false };
  }

  #since(config: number, objects: ObjectIds): Changed {
    const nothing = { undo: { config, commands: [] }, again: [], around: NOTHING_SINCE };
    return this.#options.configured?.changes.since(config, objects) ?? nothing;
  }

  /** The shards of objects, each with its own. */
  #owners(objects: ObjectIds): readonly (readonly [shard: number, ObjectIds])[] {
    return [...this.#split(objects).entries()].filter(([, own]) => isAny(own));
  }

  /** The objects of each shard. */
  #split({ providers, trackables }: ObjectIds): readonly ObjectIds[] {
    const own = this.#lanes.map(() => ({ providers: [] as string[], trackables: [] as string[] }));
    for (const id of providers) own[this.#directory.ofProvider(id)]?.providers.push(id);
    for (const id of trackables) own[this.#directory.ofTrackable(id)]?.trackables.push(id);
    return own;
  }

  #tellInLine(receivedMs: number, { config, commands }: Recorded): void {
    for (const part of withoutReturns(commands)) {
      this.#inLine(receivedMs, () => this.#tellConfigured(receivedMs, { config, commands: part }));
    }
  }

  #inLine(receivedMs: number, tell: () => void): void {
    if (this.#moving === undefined) tell();
    else this.#moving.line.push({ receivedMs, tell });
  }

  /** Asks shards when it is the turn of that; resolves with their answers. */
  #askInLine(receivedMs: number, asked: () => readonly Asked[]): Promise<readonly Reply[]> {
    return new Promise((resolve) => {
      this.#inLine(receivedMs, () => {
        resolve(Promise.all(asked().map(([shard, ask]) => this.#question(shard, receivedMs, ask))));
      });
    });
  }

  /** Resolves when all shards are done with everything that they were told, and that was let out. */
  #toldAll(): Promise<unknown> {
    return this.#askInLine(this.#options.now(), () => {
      return this.#lanes.map((_, shard): Asked => [shard, (id) => ({ kind: 'keep', id, ...NO_OBJECTS })]);
    });
  }

  /** Resolves when everything that waits in line now was told. */
  #turn(): Promise<void> {
    return new Promise((resolve) => this.#inLine(this.#options.now(), resolve));
  }

  #byShard(rows: readonly LastKnownRow[], untilMs: number): LastKnownRow[][] {
    const byShard = this.#lanes.map((): LastKnownRow[] => []);
    for (const row of rows) {
      const shard = row.kind === 'provider' ? this.#directory.ofProvider(row.id) : this.#directory.ofTrackable(row.id);
      byShard[shard]?.push(rowUntil(row, untilMs));
    }
    return byShard;
  }

  #push(shard: number, receivedMs: number, command: LaneCommand & { readonly config?: number }): void {
    this.#lastSeq++;
    this.#lanes[shard]?.lane.push({ ...command, seq: this.#lastSeq, receivedMs } as LaneItem);
  }

  #toAll(command: LaneCommand): void {
    const receivedMs = this.#options.now();
    this.#inLine(receivedMs, () => {
      for (let shard = 0; shard < this.#lanes.length; shard++) this.#push(shard, receivedMs, command);
    });
  }

  #tellOne(receivedMs: number, command: Configured & { readonly config: number }): void {
    switch (command.kind) {
      case 'rules':
      case 'zone':
      case 'fence':
        for (let shard = 0; shard < this.#lanes.length; shard++) this.#push(shard, receivedMs, command);
        return;
      case 'provider':
        this.#push(this.#directory.ofProvider(command.id), receivedMs, command);
        if (command.entity === undefined) this.#directory.forget('provider', command.id);
        return;
      case 'trackable':
        this.#push(this.#directory.ofTrackable(command.id), receivedMs, command);
        if (command.entity === undefined) this.#directory.forget('trackable', command.id);
        return;
    }
  }

  #tellConfigured(receivedMs: number, { config, commands }: Recorded): void {
    const moves = this.#directory.assign(commands.filter((command) => command.kind === 'trackable'));
    const leaving = this.#directory.ofDeleted(commands.filter((command) => command.kind !== 'rules'));
    const tell = (): void => {
      for (const command of commands) this.#tellOne(receivedMs, { ...command, config });
    };
    if (moves.length === 0 && leaving.length === 0) tell();
    else void this.#move(moves, { receivedMs, tell, leaving });
  }

  /**
   * Moves objects, then tells what made them move, then goes on with what has waited. Where objects are deleted that
   * is after all about them was told: they may come back at once, in another shard.
   */
  async #move(
    moves: readonly Rebalance[],
    { receivedMs, tell, leaving }: { receivedMs: number; tell: () => void; leaving: readonly number[] },
  ): Promise<void> {
    const line: InLine[] = [];
    this.#moving = { sinceMs: receivedMs, line };
    const states = moves.map(({ from, providers, trackables }) => {
      return this.#question(from, receivedMs, (id) => ({ kind: 'exportState', id, providers, trackables }));
    });
    for (const [index, state] of (await Promise.all(states)).entries()) {
      const to = moves[index]?.to ?? 0;
      this.#push(to, receivedMs, { kind: 'importState', state: state as ExportedState });
    }
    tell();
    await Promise.allSettled(leaving.map((shard) => this.#lanes[shard]?.lane.settled()));
    this.#moving = undefined;
    // One of these may start the next move: then the rest waits again.
    for (const entry of line) this.#inLine(entry.receivedMs, entry.tell);
  }

  #question(shard: number, receivedMs: number, ask: Asked[1]): Promise<Reply> {
    this.#lastQuestion++;
    const id = this.#lastQuestion;
    const command = ask(id);
    return new Promise((resolve, reject) => {
      this.#questions.set(id, { mayFail: !WITHOUT_ANSWER.includes(command.kind), resolve, reject });
      this.#push(shard, receivedMs, command);
    });
  }

  #take(shard: number, reply: ShardReply): Promise<void> | undefined {
    for (const [id, answer] of repliesIn(reply)) {
      this.#questions.get(id)?.resolve(answer());
      this.#questions.delete(id);
    }
    return this.#options.outcome(shard, reply);
  }

  /** Nobody outside may hear what was decided, but nobody may wait for it for ever. What moves between shards goes on. */
  #withhold(reply: ShardReply, cause: unknown): void {
    for (const [id, answer] of repliesIn(reply)) {
      const question = this.#questions.get(id);
      this.#questions.delete(id);
      if (question?.mayFail !== true) question?.resolve(answer());
      else question.reject(new HubError('HUB_UNAVAILABLE', 'Cannot answer: this hub is out of its cluster', { cause }));
    }
  }

  /** An item was given up: whoever waits for it must not wait for ever. */
  #lose(item: LaneItem, error: unknown): void {
    const id = questionOf(item);
    if (id !== undefined) {
      const question = this.#questions.get(id);
      this.#questions.delete(id);
      const what = item.kind === 'read' ? item.query.ask : item.kind;
      if (question?.mayFail !== true) question?.resolve(NOBODY);
      else question.reject(new HubError('HUB_INTERNAL', `Cannot answer ${what}: its worker thread fails`));
    }
    this.#options.lost(item, error);
  }
}

function homeAt({ records, homeOf }: ScannedBody, at: number): number {
  return homeOf(records.view.getUint32(at + PROVIDER_NAME, true));
}

function isAny({ providers, trackables }: ObjectIds): boolean {
  return providers.length + trackables.length > 0;
}

/** What a step answers, by the numbers of the questions. */
function repliesIn({ outcome, released = [] }: ShardReply): (readonly [id: number, answer: () => Reply])[] {
  return [
    ...outcome.answers.map(([id, answer]) => [id, (): Reply => answer] as const),
    ...released.map(({ id, record }) => [id, (): Reply => record && releasedStep(record)] as const),
  ];
}

function releasedStep(record: Borrowed): ReleasedStep {
  const read = unpackJournalRecord(zstdDecompressSync(look(record)));
  if (read.kind !== 'released') throw new TypeError(`Cannot hand over a record of kind "${read.kind}"`);
  return { ...read.step, config: read.config };
}

/** The number of the question that an item is; undefined where it is none. */
function questionOf(item: LaneItem): number | undefined {
  switch (item.kind) {
    case 'read':
    case 'stand':
    case 'exportState':
    case 'release':
    case 'keep':
      return item.id;
    case 'adopt':
      return item.takenOver?.id;
    default:
      return undefined;
  }
}
