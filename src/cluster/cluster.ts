import { randomUUID } from 'node:crypto';
import type { CollisionRow } from '../core/collision/row.ts';
import type { KeptRow, LastKnownRow } from '../core/item.ts';
import { HubError, StartupError } from '../errors.ts';
import type { ClusterHealth } from '../model/health.ts';
import type { Turns } from '../time/turns.ts';
import type { PackedStep } from '../wire/journal_record.ts';
import type { ShardReply } from '../wire/messages.ts';
import { type Applicant, checkMembers, checkStreams, isForGood, startupError } from './admission.ts';
import { BusError, type BusStatus } from './bus.ts';
import { type Checkpoints, openCheckpoints } from './checkpoints.ts';
import { ClusterFanout, type ClusterFanoutOptions } from './cluster_fanout.ts';
import { type AppliedRecord, type ConfigLog, openConfigLog } from './config_log.ts';
import type { EntityChange } from './config_record.ts';
import {
  applied,
  type ConfigState,
  EMPTY_STATE,
  type EntityText,
  restored,
  snapshotParts,
  type TakeOver,
  takeOvers,
  toDelete,
} from './config_state.ts';
import { type Door, type DoorOptions, openDoor } from './door.ts';
import { journalStreams } from './journal_places.ts';
import type { PartitionMap } from './map.ts';
import { type Membership, openMembership } from './membership.ts';
import { type ForeignChange, OpeningEntities } from './opening_entities.ts';
import { Pulse } from './pulse.ts';
import { RemoteShards } from './remote_shards.ts';
import { openRouter, type Router } from './router.ts';
import { StepJournal } from './step_journal.ts';
import { dropIncarnation, type JournalLeft, RecordedLocations, readSteps } from './steps_left.ts';

/**
 * This hub as one of several: what it keeps in NATS, and what it takes over from others.
 *
 *   stands      what it does                                         until
 *   ----------  ---------------------------------------------------  -----------------------------------------------
 *   opening     reads the configuration                              `attach`: the hub has the entities
 *   attached    applies what others change, in the log's order       `join`: its own record is applied
 *   standby     the same; others own everything                      a map names it as an owner
 *   takingOver  claims the state, reads it and the journals of the   the state is whole, written anew, and `took` is
 *               dead, and has the hub take that in                   in the log
 *   owner       keeps steps in its journal, and rows in the state    the end
 *   out         nothing is kept any more
 *
 * It is out when another hub has sealed its journal, has expelled it or has claimed its state, and when the configuration
 * cannot be followed. All that it holds is worth nothing then: the hub begins anew.
 */
export interface ClusterOptions extends Applicant {
  readonly shards: number;
  /** Whether what is read may be from the past while this hub is cut off. */
  readonly reads: 'latest' | 'any';
  readonly suspectMs: number;
  /** How long a request waits for an owner. */
  readonly holdMs: number;
  /** How many locations may wait for an owner. */
  readonly capacity: number;
  /** Of each journal stream. */
  readonly journalBytesMax: number;
  readonly turns: Turns;
  /** The partition that the rows of an object are kept in. */
  partitionOf(kind: LastKnownRow['kind'], id: string): number;
  /** Time of day. */
  now(): number;
  /** Time that has passed since some moment. */
  elapsed(): number;
  /** Calls back after a delay; returns how to call it off. */
  schedule(delayMs: number, callback: () => void): () => void;
}

/** What a cluster needs of its hub. */
export interface ClusterHandlers {
  /** What a record has changed that is not of a commit of this hub; empty for one that has changed no entities. */
  foreign(changes: readonly ForeignChange[]): void;
  /** A setting, after each record that has changed it; null where it is deleted. */
  setting(name: string, text: string | null): void;
  /** The record of the running commit has come. */
  kept(): void;
  /** All entities as JSON, in the order of creation. */
  entities(): Iterable<EntityText>;
  /** Takes over the state of all objects. Resolves when the shards have it, and have handed out the rows of all of it. */
  takeOver(left: LeftBehind): Promise<void>;
  /** What is asked of this hub as the owner. */
  readonly owned: Pick<DoorOptions, 'hasCapacity' | 'take' | 'ask' | 'forget' | 'settled'>;
  readonly fanout: ClusterFanoutOptions['fanout'];
  readonly announce: ClusterFanoutOptions['announce'];
  /** This hub owns the objects from now on. */
  owns(): void;
  /** This hub is out. */
  out(error: Error): void;
}

/** What the owners before have left. */
export interface LeftBehind {
  readonly rows: readonly LastKnownRow[];
  readonly pairs: readonly CollisionRow[];
  /** What has changed since the rows, in this order. */
  readonly steps: readonly PackedStep[];
  /** The last record of the configuration log that the owners have evaluated in that. */
  readonly config: number;
}

type Standing = 'opening' | 'attached' | 'standby' | 'takingOver' | 'owner' | 'out';

/** Each standing in the words of the API. */
const STANDINGS: Readonly<Record<Standing, ClusterHealth['standing']>> = {
  opening: 'joining',
  attached: 'joining',
  standby: 'standby',
  takingOver: 'taking_over',
  owner: 'owner',
  out: 'out',
};

/** The versions of messages that this hub reads and writes. */
const PROTOCOLS = [1];
const HUB_ID_SETTING = 'hub_id';
/** How long NATS may take to be there when the hub starts. */
const REACH_MS = 10_000;
/** How long its servers may take to agree on a leader then. */
const READY_MS = 15_000;
/** How far clocks may differ for a takeover to wait for that. */
const AHEAD_MS_MAX = 1000;
/** For how many times as long as a request waits the locations are known that owners before have recorded. */
const REPEATED_HOLDS = 2;
/** Until a takeover that has failed is tried again. */
const AGAIN_MS = 500;
/** After which it is said what a takeover waits for. */
const LONG_MS = 5000;
/** After which it is given up, where it is still at the same. */
const STUCK_MS = 20_000;
/** How long a change of entities waits for other hubs to have it. */
const EVERYWHERE_MS = 10_000;

/** Connects to the cluster and reads its configuration. Throws a StartupError where NATS cannot be reached. */
export async function openCluster(options: ClusterOptions): Promise<Cluster> {
  try {
    await reached(options);
    const cluster = new Cluster(options, await openStreams(options));
    await cluster.open();
    return cluster;
  } catch (error) {
    await options.bus.close();
    throw startupError(error as Error, options);
  }
}

/** Makes the streams. Servers that have just started have no leader for a while: what they cannot do then is tried again. */
async function openStreams(options: ClusterOptions): Promise<Checkpoints> {
  const { bus, name, incarnation, replicas, storage, journalBytesMax: bytesMax, elapsed, schedule } = options;
  for (const untilMs = elapsed() + READY_MS; ; ) {
    try {
      await checkStreams(options);
      for (const stream of journalStreams(name, incarnation)) {
        await bus.makeStream({ ...stream, replicas, storage, bytesMax });
      }
      return await openCheckpoints(options);
    } catch (error) {
      if (!(error instanceof BusError) || isForGood(error) || elapsed() >= untilMs) throw error;
      await new Promise<void>((resolve) => void schedule(AGAIN_MS, resolve));
    }
  }
}

/** Resolves when a server was reached. Rejects with a StartupError when that takes too long. */
export function reached({ bus, schedule }: Pick<ClusterOptions, 'bus' | 'schedule'>): Promise<void> {
  return new Promise((resolve, reject) => {
    let why = 'not connected yet';
    const cancel = schedule(REACH_MS, () => {
      unwatch();
      reject(new StartupError(unreachable(why)));
    });
    const unwatch = bus.watch((status) => {
      if (status.at === 'down') why = status.why;
      else {
        cancel();
        unwatch();
        resolve();
      }
    });
  });
}

/** Why NATS was not reached, as the line that the user of the hub sees. */
function unreachable(why: string): string {
  if (/ENOENT|EACCES/.test(why)) return `Cannot read a file by which this hub signs in to NATS: ${why}`;
  const isRefused = /auth|credential|nkey|permission/i.test(why);
  if (!isRefused) return `cluster_servers: cannot reach NATS: ${why}`;
  const by = 'cluster_credentials_path, cluster_nkey_path, or cluster_username and cluster_password';
  return `NATS does not let this hub sign in by ${by}: ${why}`;
}

export class Cluster {
  /** The shards of whoever is the owner, as this hub hands them what it takes while it is not. */
  readonly remote: RemoteShards;
  readonly #options: ClusterOptions;
  readonly #checkpoints: Checkpoints;
  readonly #journal: StepJournal;
  readonly #membership: Membership;
  #log!: ConfigLog;
  #state: ConfigState = EMPTY_STATE;
  readonly #router: Router;
  #door: Door | undefined;
  #fanout: ClusterFanout | undefined;
  /** The sequence of the record that is being applied. */
  #applying = 0;
  readonly #opening = new OpeningEntities();
  #configured = 0;
  #handlers: ClusterHandlers | undefined;
  #standing: Standing = 'opening';
  /** Whether the shards are handed the state, or have it: what they change is recorded from then on. */
  #isRecording = false;
  /** What a takeover waits for. */
  #stage = '';
  /** Whether the shards have the state. */
  #hasState = false;
  /** For as long as front doors may hand in what they have handed to the owner before. */
  #recorded: RecordedLocations | undefined;
  #map: PartitionMap | undefined;
  #takeovers = 0;
  #lastTakeoverMs = 0;
  #expelled = 0;
  #isRetiring = false;
  readonly #timers = new Set<() => void>();
  readonly #pulse: Pulse;

  /** Only for openCluster. */
  constructor(options: ClusterOptions, checkpoints: Checkpoints) {
    const { bus, name, incarnation, shards, reads, schedule, elapsed, now, notice } = options;
    this.#options = options;
    this.#checkpoints = checkpoints;
    this.#journal = new StepJournal({
      ...{ bus, name, incarnation, shards, reads, schedule, elapsed },
      widen: (bytes) => this.#widenJournal(bytes),
      writeState: () => this.#written(checkpoints.write()),
      ended: (error) => this.#out(error),
    });
    this.#pulse = new Pulse({
      ...{ elapsed, schedule },
      barrier: () => this.#journal.barrier(),
      kept: () => this.#trimIdle(),
    });
    this.#membership = openMembership({
      ...{ bus, name, incarnation, shards, schedule, elapsed, now, notice },
      room: () => (this.canKeep ? options.capacity : 0),
      hubName: options.hubName,
      digest: options.digest,
      protocols: PROTOCOLS,
      ownersMax: 1,
      suspectMs: options.suspectMs,
      makeJournal: (of) => this.#makeJournal(of),
      loads: () => new Map(),
      barrier: () => this.#journal.barrier(),
      onMap: (map) => this.#mapped(map),
      out: () => this.#out(new Error('Another hub has expelled this one')),
    });
    this.#router = openRouter({
      ...{ bus, name, incarnation, elapsed, schedule },
      owner: () => this.owner,
      ownDoor: {
        forwarded: (bytes) => (this.#door as Door).forwarded(bytes),
        asked: (bytes) => (this.#door as Door).asked(bytes),
      },
      applied: () => this.applied,
      reached: (sequence, timeoutMs) => this.#log.reached(sequence, timeoutMs),
      holdMs: options.holdMs,
      capacity: options.capacity,
    });
    this.remote = new RemoteShards(this.#router);
  }

  /** Only for openCluster. */
  async open(): Promise<void> {
    const { bus, name, replicas, storage, notice, elapsed, schedule } = this.#options;
    this.#log = await openConfigLog({
      ...{ bus, name, replicas, storage, notice, elapsed, schedule },
      newId: randomUUID,
      restore: (parts) => this.#restore(parts),
      apply: (record) => this.#apply(record),
      snapshot: () => snapshotParts(this.#state, this.#handlers?.entities() ?? []),
      shouldSnapshot: () => this.#membership.isFirst,
      stopped: (error) => this.#out(error),
    });
    await checkMembers(this.#state.members.values(), this.#options);
    if (this.#state.settings.has(HUB_ID_SETTING)) return;
    const changes: EntityChange[] = [['setting', HUB_ID_SETTING, JSON.stringify(randomUUID()), false]];
    // Of two hubs that find none the first one makes it.
    await this.#log.append({ kind: 'change', by: this.#options.hubName, changes }, this.#log.applied);
  }

  get standing(): Standing {
    return this.#standing;
  }

  /** The incarnation of who owns the objects; undefined while nobody does. */
  get owner(): string | undefined {
    return this.#standing === 'takingOver' ? undefined : this.#membership.ownerOf(0);
  }

  /** Of this hub, the same after a restart. */
  get hubName(): string {
    return this.#options.hubName;
  }

  /** Whether this hub processes what it takes itself. What came before it owned the objects is first. */
  get isLocal(): boolean {
    return this.#standing === 'owner' && this.#router.gauges.waiting === 0;
  }

  /** Whether nothing that this hub does or knows counts any more. */
  get isOut(): boolean {
    return this.#standing === 'out';
  }

  /** Why this hub serves nobody now, whom others could serve; undefined while it does. */
  get problem(): string | undefined {
    if (this.#standing === 'out') return 'it is out of its cluster';
    if (!this.#membership.isMember) return 'it has not joined its cluster';
    const { lateMs } = this.#pulse;
    if (lateMs === undefined) return undefined;
    const why = this.#journal.isFull
      ? ': the stream is full'
      : this.#options.bus.isUp
        ? ''
        : ': NATS cannot be reached';
    return `it has appended nothing to its journal for ${Math.round(lateMs)} ms${why}`;
  }

  /** How it is doing, as the API tells it. */
  health(): ClusterHealth {
    const { name, hubName, incarnation, bus } = this.#options;
    const members = this.#membership.members;
    const { owner, problem } = this;
    const ownerName = members.find((member) => member.incarnation === owner)?.name;
    return {
      name,
      hub_name: hubName,
      incarnation,
      standing: STANDINGS[this.#standing],
      ...(problem !== undefined && { problem }),
      ...(ownerName !== undefined && { owner: ownerName }),
      nats_connected: bus.isUp,
      applied_sequence: this.applied,
      journal_waiting_bytes: this.#journal.heldBytes,
      takeovers: this.#takeovers,
      ...(this.#takeovers > 0 && { last_takeover_duration: Math.round(this.#lastTakeoverMs) }),
      members: members.map((member) => ({
        name: member.name,
        incarnation: member.incarnation,
        silence: Math.round(member.silentMs),
        applied_sequence: member.applied,
        suspected: member.isSuspect,
        ...(member.aheadMs !== undefined && { clock_difference: Math.round(member.aheadMs) }),
      })),
    };
  }

  /** What metrics tell of it. */
  counts() {
    const { forwarded, moved } = this.#router.gauges;
    return {
      ...{ forwarded, moved },
      isOwner: this.#standing === 'owner',
      applied: this.applied,
      appends: this.#journal.appends,
      heldBytes: this.#journal.heldBytes,
      takeovers: this.#takeovers,
      lastTakeoverMs: this.#lastTakeoverMs,
      expelled: this.#expelled,
      framesLost: this.#fanout?.losses ?? 0,
      members: this.#membership.members,
    };
  }

  /** What subscribers at other hubs get of this one; undefined before `attach`. */
  get fanout(): ClusterFanout | undefined {
    return this.#fanout;
  }

  get membership(): Membership {
    return this.#membership;
  }

  /** Hears of the connection to NATS, and of how it is now. */
  watch(watcher: (status: BusStatus) => void): void {
    this.#options.bus.watch(watcher);
  }

  /** The configuration sequence that this hub has applied. */
  get applied(): number {
    return this.#log.applied;
  }

  /** The sequence of the last record of the log of whose changes the handlers were told. */
  get configured(): number {
    return this.#configured;
  }

  /** Whether what the shards do next can be kept. */
  get hasRoom(): boolean {
    return this.#journal.hasRoom;
  }

  /** Whether locations can be kept. */
  get canKeep(): boolean {
    return this.#standing === 'owner' && this.#journal.hasRoom && this.#options.bus.isUp;
  }

  /**
   * Entities as they were some records ago. The handlers are told of what has changed since when they call `catchUp`, in
   * the same turn.
   */
  attach(handlers: ClusterHandlers): { readonly entities: readonly EntityText[]; catchUp(): void } {
    const { entities, recent } = this.#opening.take();
    this.#configured = (recent[0]?.sequence ?? this.applied + 1) - 1;
    this.#handlers = handlers;
    const { bus, name, incarnation: self, notice, schedule } = this.#options;
    this.#fanout = new ClusterFanout({ bus, name, self, notice, schedule, ...handlers });
    this.#door = openDoor({
      ...{ bus, name, incarnation: self, notice, schedule, ...handlers.owned },
      applied: () => this.applied,
      reached: (sequence, timeoutMs) => this.#log.reached(sequence, timeoutMs),
      owns: () => this.#standing === 'owner' && !this.#isRetiring,
      unrecorded: (runs) => this.#recorded?.without(runs) ?? runs,
    });
    for (const member of this.#state.members.keys()) this.#fanout.joined(member, { isNew: false });
    this.#tellOwners();
    this.#standing = 'attached';
    const catchUp = (): void => {
      for (const { sequence, changes } of recent) {
        this.#configured = sequence;
        handlers.foreign(changes);
      }
    };
    return { entities, catchUp };
  }

  /** Resolves when this hub is a member. Rejects with HUB_UNAVAILABLE when it is not in time. */
  async join(): Promise<void> {
    await Promise.all([this.#fanout?.ready(), this.#door?.ready]);
    await this.#membership.join(this.#log);
    if (this.#standing === 'attached') this.#standing = 'standby';
    this.#pulse.start();
    await this.#checkEarlier();
  }

  /** Of two hubs that differ and have joined at the same time the later one leaves. Throws a StartupError. */
  async #checkEarlier(): Promise<void> {
    const { members } = this.#state;
    const own = members.get(this.#options.incarnation)?.index ?? 0;
    try {
      const earlier = [...members.values()].filter(({ index }) => index < own);
      await checkMembers(earlier, { ...this.#options, notice: () => undefined });
    } catch (error) {
      await this.leave();
      throw error;
    }
  }

  /** Keeps changed entities, all or none. Resolves when all hubs have them, or with `overtaken` where another was first. */
  async commit(changes: readonly ForeignChange[]): Promise<'overtaken' | undefined> {
    const rows = changes.map(({ kind, id, text, force }): EntityChange => [kind, id, text, force]);
    const record = { kind: 'change', by: this.#options.hubName, changes: rows } as const;
    const appended = await this.#log.append(record, this.#log.applied);
    if (appended.at === 'overtaken') return 'overtaken';
    await this.#membership.appliedByAll(appended.sequence, EVERYWHERE_MS);
    return undefined;
  }

  /**
   * Resolves when nobody else can have taken this hub for dead by the time of the call, so that it had heard of every change
   * that was answered until then. Rejects with HUB_UNAVAILABLE where somebody has.
   */
  async upToDate(): Promise<void> {
    await this.#journal.barrier().catch((cause: unknown) => {
      throw new HubError('HUB_UNAVAILABLE', 'Cannot read: this hub is out of its cluster', { cause });
    });
  }

  /** Keeps what a step has changed, see StepJournal. What changes before this hub has the state is none of the state. */
  keep(shard: number, reply: ShardReply): Promise<void> | undefined {
    // Of what is not recorded it is kept that nobody else has taken over before.
    const { record: _, config: _config, ...heard } = reply;
    return this.#journal.keep(shard, this.#isRecording ? reply : heard)?.catch((cause: unknown) => {
      throw new HubError('HUB_UNAVAILABLE', 'Cannot keep locations: this hub is out of its cluster', { cause });
    });
  }

  /**
   * Takes rows that the shards have handed out, in times of day. Bytes are copied. Before this hub has the state they say
   * nothing of it: an object that moves between shards then has no place in either.
   */
  noteRows(rows: Iterable<KeptRow>): void {
    if (this.#isRecording) this.#checkpoints.note(rows as Iterable<LastKnownRow>);
  }

  /** Keeps pairs that collide. Resolves when they are kept. */
  async keepPairs(rows: Iterable<KeptRow>): Promise<void> {
    await this.#written(this.#checkpoints.noteCollisions(rows as Iterable<CollisionRow>));
  }

  /** The last row of each object that the shards have, in times of day: none before they are handed the state. */
  async rows(): Promise<readonly LastKnownRow[]> {
    if (!this.#isRecording) return [];
    const { rows } = await this.#readState();
    return rows;
  }

  /** A round of a shard begins, see StepJournal. */
  roundBegun(): number {
    return this.#journal.roundBegun();
  }

  /** The rows that a round has handed out were all noted. Never rejects. */
  async roundOver(shard: number, begunAt: number): Promise<void> {
    // Until the state is whole the journals of others are needed from their beginnings, and this one as well.
    if (this.#standing !== 'owner') return;
    try {
      await this.#journal.roundOver(shard, begunAt);
    } catch (error) {
      // The next round says the same again, and more.
      if (!this.isOut) this.#options.notice(`Cannot trim the journal: ${(error as Error).message}`);
    }
  }

  /** The settings, as JSON texts by name. */
  get settings(): ReadonlyMap<string, string> {
    return this.#state.settings;
  }

  /** Keeps settings; null deletes one. Resolves when they are in the log. */
  async keepSettings(settings: readonly (readonly [name: string, text: string | null])[]): Promise<void> {
    const changes = settings.map(([name, text]): EntityChange => ['setting', name, text, false]);
    await this.#log.append({ kind: 'change', by: this.#options.hubName, changes });
  }

  /** A UUID that the cluster has got when it was made. */
  get id(): string {
    return JSON.parse(this.#state.settings.get(HUB_ID_SETTING) ?? '""') as string;
  }

  /** This hub is about to end. Where nothing can be kept for as long as a request waits, it is out. */
  ending(): void {
    const { holdMs, notice } = this.#options;
    this.#after(holdMs, () => {
      if (this.#standing === 'out') return;
      const { lateMs = 0 } = this.#pulse;
      if (lateMs < holdMs) {
        this.ending();
        return;
      }
      const why = `Nothing could be appended to the journal for ${Math.round(lateMs)} ms: what waits for it is given up`;
      notice(why);
      this.#out(new Error(why));
    });
  }

  /** Takes nothing from other hubs any more: they hold it until somebody else is the owner. */
  retire(): void {
    this.#isRetiring = true;
  }

  /** Has others take over at once what this hub owns. To be called when its shards do nothing any more. */
  async leave(): Promise<void> {
    if (this.#standing === 'out') return;
    try {
      if (this.#standing === 'owner') await this.#checkpoints.write();
      // What was kept is told by now, and nothing more is kept.
      const sealed = (): void => {
        if (this.#standing !== 'out' && this.#journal.isIdle) this.#fanout?.leaving();
      };
      await this.#membership.leave({ sealed });
    } catch (error) {
      this.#options.notice(`Others will take over later: ${(error as Error).message}`);
    }
  }

  async close(): Promise<void> {
    this.#standing = 'out';
    for (const cancel of this.#timers) cancel();
    this.#pulse.stop();
    this.#journal.close();
    this.#router.close();
    this.#door?.close();
    this.#fanout?.close();
    this.#membership.close();
    this.#log.close();
    this.#checkpoints.close();
    await this.#options.bus.close();
  }

  /** Calls back after a delay, unless it is closed before. */
  #after(delayMs: number, callback: () => void): void {
    const cancel = this.#options.schedule(delayMs, () => {
      this.#timers.delete(cancel);
      callback();
    });
    this.#timers.add(cancel);
  }

  async #makeJournal(incarnation: string): Promise<void> {
    const { bus, name, replicas, storage, journalBytesMax: bytesMax } = this.#options;
    for (const stream of journalStreams(name, incarnation)) {
      await bus.makeStream({ ...stream, replicas, storage, bytesMax });
    }
  }

  async #widenJournal(bytes: number): Promise<void> {
    const { bus, name, incarnation, replicas, storage, journalBytesMax, notice } = this.#options;
    const size = journalBytesMax + bytes;
    for (const stream of journalStreams(name, incarnation)) {
      await bus.alterStream({ ...stream, replicas, storage, bytesMax: size });
    }
    if (bytes === 0) notice('The journal has room again', 'info');
    else
      notice(`The journal is full, and no locations are taken until it is trimmed: it gets ${size} bytes for the rest`);
  }

  #restore(parts: readonly Uint8Array[]): void {
    const { state, entities } = restored(parts);
    this.#state = state;
    this.#opening.restore(entities);
    this.#membership.restore({ ...state, members: [...state.members.values()] });
  }

  #apply(record: AppliedRecord): void {
    this.#applying = record.sequence;
    this.#state = applied(this.#state, record);
    const changes = changesIn(record);
    if (this.#handlers !== undefined) this.#configured = record.sequence;
    if (this.#handlers === undefined) this.#opening.apply({ sequence: record.sequence, changes });
    else if (record.isOwn && changes.length > 0) this.#handlers.kept();
    else this.#handlers.foreign(changes);
    if (record.body.kind === 'change') {
      for (const [kind, name, text] of record.body.changes) if (kind === 'setting') this.#handlers?.setting(name, text);
    }
    this.#tellFanout(record);
    if (record.body.kind === 'expel' && this.#membership.isMember) this.#expelled++;
    this.#membership.record(record);
  }

  #tellFanout({ sequence, body }: AppliedRecord): void {
    if (body.kind === 'join') this.#fanout?.joined(body.incarnation);
    if (body.kind === 'expel' || body.kind === 'leave') {
      this.#fanout?.gone(body.incarnation);
      this.#door?.forgetDoor(body.incarnation);
    }
    if (body.kind === 'expel' || body.kind === 'leave' || body.kind === 'map') this.#tellOwners();
    this.#fanout?.applied(sequence);
  }

  #tellOwners(): void {
    const { owners = [], collisions } = this.#state.map ?? {};
    this.#fanout?.owners(new Set(collisions === undefined ? owners : [...owners, collisions]));
  }

  #mapped(map: PartitionMap): void {
    this.#map = map;
    const { incarnation } = this.#options;
    const isOwner = map.owners.includes(incarnation);
    if (isOwner && (this.#standing === 'standby' || this.#standing === 'attached')) {
      this.#standing = 'takingOver';
      this.#fanout?.tookAfter(this.#applying);
      void this.#takeOverUntilDone();
    }
    this.#router.ownerChanged();
  }

  async #takeOverUntilDone(): Promise<void> {
    const { notice, elapsed, schedule } = this.#options;
    const begunMs = elapsed();
    this.#watchTakeover({ begunMs, stage: this.#stage, stageMs: begunMs });
    while (this.#standing === 'takingOver') {
      try {
        await this.#takeOver();
        await this.#tookAll();
        if (this.#standing !== 'takingOver') return;
        this.#standing = 'owner';
        this.#handlers?.owns();
        this.#takeovers++;
        this.#lastTakeoverMs = elapsed() - begunMs;
        notice(`This hub owns all objects now: taken over in ${Math.round(this.#lastTakeoverMs)} ms`, 'info');
        this.#router.ownerChanged();
        await this.#forgetDead().catch((error: unknown) => notice(`Cannot delete journals: ${String(error)}`));
        return;
      } catch (error) {
        if (this.#standing !== 'takingOver') return;
        notice(`Cannot take over: ${(error as Error).message}`);
        await new Promise<void>((resolve) => schedule(AGAIN_MS, resolve));
      }
    }
  }

  /** Says what a takeover waits for that takes long, and gives it up where that is for ever: then this hub begins anew. */
  #watchTakeover({ begunMs, stage, stageMs }: { begunMs: number; stage: string; stageMs: number }): void {
    const { bus, notice, elapsed } = this.#options;
    this.#after(LONG_MS, () => {
      if (this.#standing !== 'takingOver') return;
      const nowMs = elapsed();
      const sinceMs = bus.isUp && this.#stage === stage ? stageMs : nowMs;
      notice(`Taking over for ${Math.round(nowMs - begunMs)} ms so far: ${this.#stage}`);
      if (nowMs - sinceMs >= STUCK_MS) this.#out(new Error(`The takeover does not go on: ${this.#stage}`));
      else this.#watchTakeover({ begunMs, stage: this.#stage, stageMs: sinceMs });
    });
  }

  /** Hands the shards the state that others have left, once: a second time they would tell of what is overdue again. */
  async #takeOver(): Promise<void> {
    if (this.#hasState) return;
    const { incarnation, holdMs } = this.#options;
    const map = this.#map as PartitionMap;
    const partitions = map.owners.flatMap((owner, partition) => (owner === incarnation ? [partition] : []));
    this.#stage = 'claiming the state';
    await this.#checkpoints.claim({ partitions, collisions: map.collisions === incarnation, epoch: map.epoch });
    this.#stage = 'reading journals';
    const { steps, earlier, config } = await this.#left(this.#takeOvers());
    await this.#until(steps.reduce((latest, { endMs }) => Math.max(latest, endMs), 0));
    // From the first event on all get what they want.
    this.#stage = 'waiting for other hubs to hear of interest';
    await this.#fanout?.allHeard();
    const handlers = this.#handlers as ClusterHandlers;
    this.#stage = 'reading the state';
    const state = await this.#readState();
    this.#stage = 'waiting for what was begun before';
    await handlers.owned.settled();
    this.#stage = 'handing the state to the shards';
    this.#isRecording = true;
    await handlers.takeOver({ ...state, steps: steps.map(({ step }) => step), config });
    this.#hasState = true;
    this.#recorded = new RecordedLocations([...earlier, ...steps]);
    this.#after(REPEATED_HOLDS * holdMs, () => {
      this.#recorded = undefined;
    });
  }

  /** What this hub has yet to take over, as the log has it. */
  #takeOvers(): readonly TakeOver[] {
    return takeOvers(this.#state).filter(({ by }) => by === this.#options.incarnation);
  }

  /** Writes the state anew, and says in the log that nobody needs what others have left. */
  async #tookAll(): Promise<void> {
    const { incarnation } = this.#options;
    this.#stage = 'writing the state';
    await this.#checkpoints.write();
    this.#stage = 'saying so in the log';
    await this.#journal.noteConfig();
    for (const { of, partitions: taken } of this.#takeOvers()) {
      await this.#log.append({ kind: 'took', by: incarnation, of: of.incarnation, partitions: taken, requests: [] });
    }
  }

  /** What the journals have. */
  async #left(from: readonly TakeOver[]): Promise<JournalLeft> {
    const { bus, name } = this.#options;
    const left: JournalLeft[] = [];
    for (const { of } of from) left.push(await readSteps({ bus, name, incarnation: of.incarnation }));
    return {
      steps: left.flatMap(({ steps }) => steps),
      earlier: left.flatMap(({ earlier }) => earlier),
      // Of what nobody has said anything about nothing is evaluated anew.
      config: Math.max(0, ...left.map(({ config }) => config)) || this.configured,
    };
  }

  /** Time does not fall for the objects, although the clock of who owned them before may be ahead of this one. */
  async #until(latestMs: number): Promise<void> {
    const { now, schedule, notice } = this.#options;
    const aheadMs = latestMs - now();
    if (aheadMs <= 0) return;
    if (aheadMs > AHEAD_MS_MAX)
      notice(`The clock of the hub that owned the objects is ahead by ${Math.round(aheadMs)} ms`);
    await new Promise<void>((resolve) => schedule(Math.min(aheadMs, AHEAD_MS_MAX), resolve));
  }

  async #readState(): Promise<Pick<LeftBehind, 'rows' | 'pairs'>> {
    const rows: LastKnownRow[] = [];
    const pairs: CollisionRow[] = [];
    for await (const part of this.#checkpoints.rows()) {
      for (const row of part as readonly KeptRow[]) {
        if (row.kind === 'collision') pairs.push(row);
        else rows.push(row);
      }
    }
    return { rows, pairs };
  }

  /** Barriers of a hub that has nothing to do do not pile up. */
  #trimIdle(): void {
    if (this.#standing !== 'owner' && this.#standing !== 'standby') return;
    // It is tried again with the next.
    this.#journal.trimIdle().catch(() => undefined);
  }

  /** Deletes the journals that nobody reads any more, and says so. */
  async #forgetDead(): Promise<void> {
    const { bus, name, incarnation } = this.#options;
    for (const { incarnation: of } of toDelete(this.#state)) {
      await dropIncarnation(bus, name, of);
      await this.#log.append({ kind: 'took', by: incarnation, of, partitions: [], requests: [] });
    }
  }

  /** Where the state is not this hub's any more, it is out. */
  async #written(written: Promise<void>): Promise<void> {
    try {
      await written;
    } catch (error) {
      if (this.#checkpoints.failure !== undefined) this.#out(this.#checkpoints.failure);
      throw error;
    }
  }

  #out(error: Error): void {
    if (this.#standing === 'out') return;
    this.#standing = 'out';
    this.#pulse.stop();
    this.#membership.close();
    // Nothing comes of what waits. Whoever has taken over may have deleted the streams, so that nobody else would say so.
    this.#journal.close();
    this.#router.close();
    this.#checkpoints.close();
    this.#fanout?.close();
    this.#log?.close();
    this.#handlers?.out(error);
  }
}

/** The entities that a record changes. */
export function changesIn({ body }: Pick<AppliedRecord, 'body'>): readonly ForeignChange[] {
  if (body.kind === 'change') {
    return body.changes.flatMap(([kind, id, text, force]) => (kind === 'setting' ? [] : [{ kind, id, text, force }]));
  }
  if (body.kind !== 'ensure') return [];
  return body.providers.map(([id, text]) => ({ kind: 'provider', id, text, force: false, ifAbsent: true }));
}
