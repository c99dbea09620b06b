import type { Answer, ExportedState, LastKnownRow, Query } from '../core/item.ts';
import type { AcceptedLocation } from '../core/location/accepted.ts';
import { PROVIDER_NAME, recordSize } from '../core/location/record.ts';
import type { ScannedBody } from '../core/location/scanned.ts';
import { HubError } from '../errors.ts';
import type { LocatingRule } from '../model/rule.ts';
import type { Variant } from '../model/topics.ts';
import type { Adoption, LaneItem, Times } from '../wire/location_record.ts';
import type { ShardReply } from '../wire/messages.ts';
import { type CountedRun, type Receiving, scannedOf } from '../wire/received_run.ts';
import type { RoundWatch } from './flush_scheduler.ts';
import { OutcomeGate } from './outcome_gate.ts';
import type { RecentChanges, Recorded } from './recent_changes.ts';
import { rowUntil } from './row_times.ts';
import { type Configured, type EntityCommand, type LaneCommand, withoutReturns } from './shard_commands.ts';
import { type Rebalance, ShardDirectory } from './shard_directory.ts';
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
  /** Where hubs share a log: the sequence of the record that they are told of, and what its last records have changed. */
  readonly configured?: { sequence(): number; readonly changes: RecentChanges } | undefined;
  /** Hears of what steps have decided, in their order. The promise is what `settled` waits for besides. */
  outcome(shard: number, reply: ShardReply): Promise<void> | undefined;
}

/** What is taken over from another hub. */
export interface TakenOver extends Pick<Adoption, 'rows' | 'steps'> {
  /** The sequence of the last record of the shared log that is evaluated in it. */
  readonly config: number;
}

interface InLine {
  readonly receivedMs: number;
  readonly tell: () => void;
}

interface Question {
  /** Whether it was asked for somebody outside, and not by the shards themselves. */
  readonly isRead: boolean;
  readonly resolve: (answer: Answer | ExportedState) => void;
  readonly reject: (error: Error) => void;
}

const NOBODY: ExportedState = { providers: [], trackables: [] };

/**
 * All shards: knows which one owns what, numbers the items, and asks questions. When an assignment makes an object
 * belong to another shard, its state moves there first; meanwhile everything else waits in line, so no order is lost.
 */
export class Shards {
  readonly #lanes: readonly ShardLane[];
  readonly #gates: OutcomeGate[] = [];
  readonly #options: ShardsOptions;
  readonly #directory: ShardDirectory;
  readonly #questions = new Map<number, Question>();
  #lastSeq = 0;
  #lastQuestion = 0;
  /** While objects move: since when, and what waits for that. */
  #moving: { readonly sinceMs: number; readonly line: InLine[] } | undefined;

  constructor(options: ShardsOptions) {
    this.#options = options;
    this.#directory = new ShardDirectory(options.count);
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
    this.#lanes[this.#directory.ofProvider(location.provider_id)]?.location(location, this.#lastSeq, times);
  }

  /**
   * Hands the locations of a body that was scanned to their shards: records that lie together, and are for the same one,
   * at once. Not while objects move: then nothing can be scanned. hot
   */
  scanned(body: ScannedBody): void {
    const { records, start, end, strangers } = body;
    let from = start;
    while (from < end) {
      const home = homeAt(body, from);
      let [to, count] = [from, 0];
      do {
        to += recordSize(records, to);
        count++;
      } while (to < end && (this.#lanes.length === 1 || homeAt(body, to) === home));
      this.#lanes[home]?.scanned(body, from, to, this.#lastSeq + 1);
      this.#lastSeq += count;
      from = to;
    }
    for (const [shard, lane] of this.#lanes.entries()) {
      lane.pass(strangers.filter((id) => this.#directory.ofProvider(id) === shard));
    }
  }

  /**
   * Hands locations that another hub has checked to their shards: see received_run.ts. Their bytes are changed, and must be
   * good until they are processed.
   */
  received(run: CountedRun, receiving: Omit<Receiving, 'homeOf'>): void {
    const homeOf = (provider: string) => this.homeOf(provider);
    this.#inLine(receiving.receivedMs, () => this.scanned(scannedOf(run, { ...receiving, homeOf })));
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
   * Takes over the state of all objects from another hub: their rows, and the steps since, in their order. Deadlines are held
   * for `delayMs`, or until the next location of their object. What records behind `config` have changed that hub has not
   * evaluated: the shards are told of it once more when they have the objects.
   */
  takeOver({ rows, steps, config }: TakenOver, delayMs: number): void {
    const receivedMs = this.#options.now();
    const { undo, again } = this.#since(config);
    this.#tellInLine(receivedMs, undo);
    const suppressUntilMs = receivedMs + delayMs;
    this.#inLine(receivedMs, () => {
      for (const [to, own] of this.#byShard(rows, receivedMs).entries()) {
        const adoption = { rows: own, steps, suppressUntilMs, takenOverUntilMs: suppressUntilMs };
        this.#push(to, receivedMs, { kind: 'adopt', ...adoption });
      }
      void this.#tellAgain(receivedMs, again);
    });
  }

  /** The objects, as "kind id", that records behind `config` have changed and that were there before. */
  changedSince(config: number): ReadonlySet<string> {
    const { commands } = this.#since(config).undo;
    const isThere = (command: Configured): command is EntityCommand =>
      'entity' in command && command.entity !== undefined;
    return new Set(commands.filter(isThere).map(({ kind, id }) => `${kind} ${id}`));
  }

  /** Tells of changed entities: zones and fences everybody, providers and trackables their owner. */
  entities(commands: readonly EntityCommand[]): void {
    this.#configure(commands);
  }

  /** Asks the owner of the object that the query names, or all shards. */
  ask(query: Query): Promise<readonly Answer[]> {
    const receivedMs = this.#options.now();
    return new Promise((resolve) => {
      this.#inLine(receivedMs, () => {
        const asked = this.#directory
          .asked(query)
          .map((shard) => this.#question(shard, receivedMs, (id) => ({ kind: 'read', id, query })));
        resolve(Promise.all(asked) as Promise<readonly Answer[]>);
      });
    });
  }

  /** Has all shards tell where their trackables stand, as motions, and resolves when they have. */
  standing(): Promise<void> {
    const receivedMs = this.#options.now();
    return new Promise((resolve) => {
      this.#inLine(receivedMs, () => {
        const told = this.#lanes.map((_, shard) => this.#question(shard, receivedMs, (id) => ({ kind: 'stand', id })));
        resolve(Promise.all(told).then(() => undefined));
      });
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
    this.#tellInLine(this.#options.now(), recorded);
  }

  #since(config: number): ReturnType<RecentChanges['since']> {
    return this.#options.configured?.changes.since(config) ?? { undo: { config, commands: [] }, again: [] };
  }

  #tellInLine(receivedMs: number, { config, commands }: Recorded): void {
    for (const part of withoutReturns(commands)) {
      this.#inLine(receivedMs, () => this.#tellConfigured(receivedMs, { config, commands: part }));
    }
  }

  /** Once the shards have what they were told so far, before anything else. */
  async #tellAgain(receivedMs: number, again: readonly Recorded[]): Promise<void> {
    const line: InLine[] = [];
    this.#moving = { sinceMs: receivedMs, line };
    await Promise.allSettled(this.#lanes.map(({ lane }) => lane.settled()));
    this.#moving = undefined;
    for (const recorded of again) this.#tellInLine(receivedMs, recorded);
    for (const entry of line) this.#inLine(entry.receivedMs, entry.tell);
  }

  #inLine(receivedMs: number, tell: () => void): void {
    if (this.#moving === undefined) tell();
    else this.#moving.line.push({ receivedMs, tell });
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

  #question(shard: number, receivedMs: number, ask: (id: number) => LaneCommand): Promise<Answer | ExportedState> {
    this.#lastQuestion++;
    const id = this.#lastQuestion;
    const command = ask(id);
    return new Promise((resolve, reject) => {
      this.#questions.set(id, { isRead: command.kind === 'read', resolve, reject });
      this.#push(shard, receivedMs, command);
    });
  }

  #take(shard: number, reply: ShardReply): Promise<void> | undefined {
    for (const [id, answer] of reply.outcome.answers) {
      this.#questions.get(id)?.resolve(answer);
      this.#questions.delete(id);
    }
    return this.#options.outcome(shard, reply);
  }

  /** Nobody outside may hear what was decided, but nobody may wait for it for ever. What moves between shards goes on. */
  #withhold({ outcome }: ShardReply, cause: unknown): void {
    for (const [id, answer] of outcome.answers) {
      const question = this.#questions.get(id);
      this.#questions.delete(id);
      if (question?.isRead !== true) question?.resolve(answer);
      else question.reject(new HubError('HUB_UNAVAILABLE', 'Cannot answer: this hub is out of its cluster', { cause }));
    }
  }

  /** An item was given up: whoever waits for it must not wait for ever. */
  #lose(item: LaneItem, error: unknown): void {
    if (item.kind === 'read' || item.kind === 'exportState' || item.kind === 'stand') {
      const question = this.#questions.get(item.id);
      this.#questions.delete(item.id);
      if (item.kind !== 'read') question?.resolve(NOBODY);
      else question?.reject(new HubError('HUB_INTERNAL', `Cannot answer ${item.query.ask}: its worker thread fails`));
    }
    this.#options.lost(item, error);
  }
}

function homeAt({ records, homeOf }: ScannedBody, at: number): number {
  return homeOf(records.view.getUint32(at + PROVIDER_NAME, true));
}
