import { randomUUID } from 'node:crypto';
import type { CollisionRow } from '../core/collision/row.ts';
import type { KeptRow, LastKnownRow, ObjectIds } from '../core/item.ts';
import { HubError, StartupError } from '../errors.ts';
import type { ClusterHealth } from '../model/health.ts';
import { PARTITIONS } from '../shards/affinity.ts';
import type { Turns } from '../time/turns.ts';
import type { ReleasedStep } from '../wire/journal_record.ts';
import type { ShardReply } from '../wire/messages.ts';
import type { CountedRun } from '../wire/received_run.ts';
import { Acquisition, type LeftBehind } from './acquisition.ts';
import { type Applicant, checkMembers, checkStreams, isForGood, startupError } from './admission.ts';
import { BusError, type BusStatus } from './bus.ts';
import { type Checkpoints, type CheckpointsOptions, makeStateStream, openCheckpoints } from './checkpoints.ts';
import { ClusterFanout, type ClusterFanoutOptions, objectOf } from './cluster_fanout.ts';
import { ClusterMotions, type LocalStage } from './cluster_motions.ts';
import { changesIn, type ForeignChange, settingsIn } from './config_changes.ts';
import { type AppliedRecord, type ConfigLog, openConfigLog } from './config_log.ts';
import { type EntityText, restored, snapshotParts } from './config_parts.ts';
import type { EntityChange } from './config_record.ts';
import {
  acquisitions,
  applied,
  type ConfigState,
  EMPTY_STATE,
  isSettled,
  leftOf,
  serving,
  toDelete,
} from './config_state.ts';
import { type Door, type DoorOptions, openDoor } from './door.ts';
import { ANYBODY } from './door_message.ts';
import type { FenceEventLeft } from './fan_out_message.ts';
import { Gather } from './gather.ts';
import { journalStreams } from './journal_places.ts';
import { partitionsOf } from './map.ts';
import { type Membership, openMembership } from './membership.ts';
import { ObjectPartitions, type Regrouped } from './object_partitions.ts';
import { OpeningEntities } from './opening_entities.ts';
import { type ObjectKind, Ownership } from './ownership.ts';
import { PartitionLoads } from './partition_loads.ts';
import { PROTOCOLS, RECORDS_FENCE_EVENTS } from './protocols.ts';
import { Pulse } from './pulse.ts';
import { changeRecord } from './regrouping.ts';
import { objectsOf, type Released, Releases } from './releases.ts';
import { RemoteShards } from './remote_shards.ts';
import { openRouter, type Router } from './router.ts';
import { Routes, type RoutesOptions } from './routes.ts';
import { StepJournal } from './step_journal.ts';
import { dropIncarnation, type JournalLeft, RecordedLocations, readSteps } from './steps_left.ts';

/**
 * This hub as one of several: what it keeps in NATS, and what it takes over from others.
 *
 *   stands      what it does                                         until
 *   ----------  ---------------------------------------------------  -----------------------------------------------
 *   opening     reads the configuration                              `attach`: the hub has the entities
 *   attached    applies what others change, in the log's order       `join`: its own record is applied
 *   member      the same; acquires what maps and assignments give    the end
 *               to it, keeps steps in its journal and rows in the
 *               state, and releases what goes to others
 *   out         nothing is kept any more
 *
 * It is out when another hub has sealed its journal, has expelled it or has claimed its state, and when the configuration
 * cannot be followed. All that it holds is worth nothing then: the hub begins anew.
 *
 * A record is applied in this order, without anything in between: what it says of owners; what the shards release because of
 * it; what the shards are told of it. So a shard releases objects as of the record before, or as of a later one where its hub
 * is an heir and took them over afterwards: what is released says which.
 */
export interface ClusterOptions extends Applicant {
  readonly shards: number;
  /** Whether what is read may be from the past while this hub is cut off. */
  readonly reads: 'latest' | 'any';
  readonly suspectMs: number;
  /** How many hubs may own objects at the same time; all of them when left out. */
  readonly ownersMax?: number;
  /** How long a request waits for an owner. */
  readonly holdMs: number;
  /** How many locations may wait for an owner. */
  readonly capacity: number;
  /** Of each journal stream. */
  readonly journalBytesMax: number;
  readonly turns: Turns;
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
  /** Has the shards adopt objects. Resolves when they have them, and have handed out the rows of all of them. */
  adopt(left: LeftBehind): Promise<void>;
  /**
   * Has the shards forget objects, behind all that they were told. Resolves with steps that state all of it, when that is
   * kept and what came before is told.
   */
  release(objects: ObjectIds, sequence: number): Promise<readonly ReleasedStep[]>;
  /** All objects that the shards know, or were told of. */
  objects(): ObjectIds;
  /** Has the shards hand out rows of objects. Resolves when they have. */
  writeAnew(objects: ObjectIds): Promise<void>;
  /** Objects that were on their way are here, or go elsewhere. */
  arrived(): void;
  /** Has the shards look where trackables are now, as if their last change had come now. */
  force(trackables: readonly string[]): void;
  /** What is asked of this hub as the owner. */
  readonly owned: Pick<DoorOptions, 'hasCapacity' | 'take' | 'ask' | 'forget' | 'settled'>;
  readonly fanout: ClusterFanoutOptions['fanout'];
  readonly announce: ClusterFanoutOptions['announce'];
  readonly stage: LocalStage;
  /** Who serves what has changed. */
  servesOther(): void;
  /** This hub is out. */
  out(error: Error): void;
}

/** An object that a record has deleted. */
interface Deleted {
  readonly sequence: number;
  readonly kind: ObjectKind;
  readonly id: string;
  readonly partition: number;
  readonly atMs: number;
}

type Standing = 'opening' | 'attached' | 'member' | 'out';

const HUB_ID_SETTING = 'hub_id';
const ALL_PARTITIONS = Array.from({ length: PARTITIONS }, (_, partition) => partition);
/** How long NATS may take to be there when the hub starts. */
const REACH_MS = 10_000;
/** How long its servers may take to agree on a leader then. */
const READY_MS = 15_000;
/** For how many times as long as a request waits the locations are known that owners before have recorded. */
const REPEATED_HOLDS = 2;
/** Until a takeover that has failed is tried again. */
const AGAIN_MS = 500;
/** After which it is said what a takeover waits for. */
const LONG_MS = 5000;
/** After which it is given up, where it is still at the same. */
const STUCK_MS = 20_000;
/** For so long it is known where an object was that is deleted: no owner is without a successor for longer. */
const DELETED_MS = 60_000;
/** How long a change of entities waits for other hubs to have it. */
const EVERYWHERE_MS = 10_000;

type Owning = Pick<CheckpointsOptions, 'partitionOf' | 'isOwn' | 'isSettled'>;

/** Connects to the cluster and reads its configuration. Throws a StartupError where NATS cannot be reached. */
export async function openCluster(options: ClusterOptions): Promise<Cluster> {
  try {
    await reached(options);
    const openState = await openStreams(options);
    const cluster = new Cluster(options, openState);
    await cluster.open();
    return cluster;
  } catch (error) {
    await options.bus.close();
    throw startupError(error as Error, options);
  }
}

/** Makes the streams. Servers that have just started have no leader for a while: what they cannot do then is tried again. */
async function openStreams(options: ClusterOptions): Promise<(owning: Owning) => Checkpoints> {
  const { bus, name, incarnation, replicas, storage, journalBytesMax: bytesMax, elapsed, schedule } = options;
  for (const untilMs = elapsed() + READY_MS; ; ) {
    try {
      await checkStreams(options);
      for (const stream of journalStreams(name, incarnation)) {
        await bus.makeStream({ ...stream, replicas, storage, bytesMax });
      }
      await makeStateStream(options);
      return (owning) => openCheckpoints({ ...options, ...owning });
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
  /** The shards of whoever serves what, as this hub hands them what it takes and does not serve. */
  readonly remote: RemoteShards;
  /** What all hubs tell of themselves. */
  readonly gather: Gather;
  readonly #options: ClusterOptions;
  readonly #checkpoints: Checkpoints;
  readonly #journal: StepJournal;
  readonly #membership: Membership;
  #log!: ConfigLog;
  #state: ConfigState = EMPTY_STATE;
  readonly #partitions = new ObjectPartitions();
  readonly #ownership: Ownership;
  readonly #router: Router;
  readonly #loads: PartitionLoads;
  #door: Door | undefined;
  #fanout: ClusterFanout | undefined;
  #motions: ClusterMotions | undefined;
  #acquisition: Acquisition | undefined;
  #releases: Releases | undefined;
  readonly #opening = new OpeningEntities();
  #configured = 0;
  #handlers: ClusterHandlers | undefined;
  #standing: Standing = 'opening';
  /** Whether the shards have been handed some state: what they change is recorded from then on. */
  #isRecording = false;
  #isAcquiring = false;
  /** The partitions of hubs that are gone, at their ends. */
  readonly #hadAtTheirEnds = new Map<string, readonly number[]>();
  /** Objects that were deleted lately, in the order of the records. */
  readonly #deleted: Deleted[] = [];
  /** By the records that have sent objects on their way: trackables whose change is to act at once. */
  readonly #forced = new Map<number, readonly string[]>();
  /** By hubs that are gone, for as long as front doors may hand in what they have handed to them before. */
  readonly #recorded = new Map<string, RecordedLocations>();
  /** Called back with the next record, or when something has been acquired. */
  readonly #watchers = new Set<() => void>();
  #takeovers = 0;
  #lastTakeoverMs = 0;
  #expelled = 0;
  #isRetiring = false;
  readonly #timers = new Set<() => void>();
  readonly #pulse: Pulse;

  /** Only for openCluster. */
  constructor(options: ClusterOptions, openState: (owning: Owning) => Checkpoints) {
    const { bus, name, incarnation, shards, reads, schedule, elapsed, now, notice } = options;
    this.#options = options;
    const partitionOf = (kind: ObjectKind, id: string): number => this.#partitions.partitionOf(kind, id);
    const checkpoints = openState({
      partitionOf,
      isOwn: (kind, id) => this.#isOwn(kind, id),
      isSettled: () => isSettled(this.#state),
    });
    this.#checkpoints = checkpoints;
    this.#ownership = new Ownership(partitionOf);
    this.#loads = new PartitionLoads({ partitionOf, elapsed });
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
      suspectMs: options.suspectMs,
      ...(options.ownersMax !== undefined && { ownersMax: options.ownersMax }),
      makeJournal: (of) => this.#makeJournal(of),
      loads: () => this.#loads.measured(),
      barrier: () => this.#journal.barrier(),
      onMap: () => this.#acquireSoon(),
      out: () => this.#out(new Error('Another hub has expelled this one')),
    });
    this.#router = openRouter({
      ...{ bus, name, incarnation, elapsed, schedule },
      ownership: this.#ownership,
      isMember: (of) => this.#state.members.has(of),
      ownDoor: {
        forwarded: (bytes, handedOver) => (this.#door as Door).forwarded(bytes, handedOver),
        asked: (bytes) => (this.#door as Door).asked(bytes),
      },
      applied: () => this.applied,
      reached: (sequence, timeoutMs) => this.#log.reached(sequence, timeoutMs),
      holdMs: options.holdMs,
      capacity: options.capacity,
    });
    this.remote = new RemoteShards(this.#router);
    this.gather = new Gather({
      ...{ bus, name, incarnation, notice, elapsed, schedule },
      hubName: options.hubName,
      members: () => this.#membership.members,
    });
  }

  /** Only for openCluster. */
  async open(): Promise<void> {
    const { bus, name, replicas, storage, notice, elapsed, schedule } = this.#options;
    this.#log = await openConfigLog({
      ...{ bus, name, replicas, storage, notice, elapsed, schedule },
      newId: randomUUID,
      restore: (parts, sequence) => this.#restore(parts, sequence),
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

  /** What this hub does, in the words of the API. */
  get standing(): ClusterHealth['standing'] {
    if (this.#standing === 'out') return 'out';
    if (this.#standing !== 'member') return 'joining';
    const { incarnation } = this.#options;
    if (this.#ownership.servers.includes(incarnation)) return 'owner';
    return this.#state.map?.owners.includes(incarnation) === true ? 'taking_over' : 'standby';
  }

  /** Of this hub, the same after a restart. */
  get hubName(): string {
    return this.#options.hubName;
  }

  /** Whether this hub serves everything. What came before it did is first. */
  get isLocal(): boolean {
    const { isWhole, servers } = this.#ownership;
    return isWhole && servers.every((server) => server === this.#options.incarnation) && this.#router.isClear();
  }

  /** Whether all hubs can read records of steps with fence events in them. */
  get recordsFenceEvents(): boolean {
    return this.#state.protocol >= RECORDS_FENCE_EVENTS;
  }

  /** Whether everything is served, and nothing is on its way. */
  get isWhole(): boolean {
    return this.#ownership.isWhole && isSettled(this.#state);
  }

  /** The incarnations that serve something. */
  get servers(): readonly string[] {
    return this.#ownership.servers;
  }

  /** Whether this hub serves the objects of a partition. `servesOther` is called when that may have changed. */
  serves(partition: number): boolean {
    const { map } = this.#state;
    const { incarnation } = this.#options;
    return (
      this.#standing === 'member' && map?.owners[partition] === incarnation && !serving(this.#state).open.has(partition)
    );
  }

  /** Tells the trackables that are on their way to this hub; undefined while there are none. */
  trackablesOnTheWay(): ((id: string) => boolean) | undefined {
    if (this.#state.onTheWay.length === 0) return undefined;
    const onTheWay = this.#acquisition?.onTheWay();
    return onTheWay && ((id) => onTheWay.get(`trackable ${id}`)?.isComing === true);
  }

  /** Where this hub hands what it takes, part of which may be for its own shards. */
  routesTo(local: RoutesOptions['local']): Routes {
    const { incarnation } = this.#options;
    const isServing = (): boolean => this.#standing === 'member';
    const { remote } = this;
    return new Routes({ incarnation, ownership: this.#ownership, remote, local, isServing, loads: this.#loads });
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
    const { members, map } = this.#membership;
    const { problem } = this;
    const ownerName = members.find((member) => partitionsOf(map, member.incarnation) === PARTITIONS)?.name;
    return {
      name,
      hub_name: hubName,
      incarnation,
      standing: this.standing,
      ...(problem !== undefined && { problem }),
      ...(ownerName !== undefined && { owner: ownerName }),
      settled: this.isWhole,
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
        partitions: partitionsOf(map, member.incarnation),
        owns_collisions: map?.collisions === member.incarnation,
      })),
    };
  }

  /** What metrics tell of it. */
  counts() {
    const { forwarded, moved } = this.#router.gauges;
    return {
      ...{ forwarded, moved },
      isOwner: this.standing === 'owner',
      partitions: partitionsOf(this.#membership.map, this.#options.incarnation),
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

  /** How motions get to the one collision stage; undefined before `attach`. */
  get motions(): ClusterMotions | undefined {
    return this.#motions;
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
    return this.#standing === 'member' && this.#journal.hasRoom && this.#options.bus.isUp;
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
    this.#fanout = new ClusterFanout({
      ...{ bus, name, self, notice, schedule, ...handlers },
      protocol: () => this.#state.protocol,
    });
    this.#motions = new ClusterMotions({ bus, name, self, notice, schedule, stage: handlers.stage });
    this.#door = openDoor({
      ...{ bus, name, incarnation: self, notice, schedule, ...handlers.owned },
      take: (runs) => {
        for (const run of runs) this.#loads.countRun(run);
        return handlers.owned.take(runs);
      },
      applied: () => this.applied,
      reached: (sequence, timeoutMs) => this.#log.reached(sequence, timeoutMs),
      ownership: this.#ownership,
      isServing: () => this.#standing === 'member' && !this.#isRetiring,
      unrecorded: (runs, by) => this.#unrecorded(runs, by),
      released: (sequence) => this.#released(sequence),
    });
    this.#releases = this.#newReleases(handlers);
    this.#acquisition = this.#newAcquisition(handlers, this.#releases);
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
    await Promise.all([this.#fanout?.ready(), this.#motions?.ready(), this.#door?.ready, this.gather.ready]);
    await this.#membership.join(this.#log);
    if (this.#standing === 'attached') this.#standing = 'member';
    this.#acquireSoon();
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

  /**
   * Keeps changed entities, all or none. Resolves when all hubs have them, or with `overtaken` where another was first. Rejects
   * with HUB_UNAVAILABLE where they would move objects, and others do not arrive.
   */
  async commit(changes: readonly ForeignChange[]): Promise<'overtaken' | undefined> {
    const { applied: before } = this.#log;
    const rows = changes.map(({ kind, id, text, force }): EntityChange => [kind, id, text, force]);
    const record = changeRecord(this.#options.hubName, rows, { state: this.#state, partitions: this.#partitions });
    if (record === undefined) {
      await this.#settled();
      // What has settled it came first.
      return 'overtaken';
    }
    const appended = await this.#log.append(record, before);
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

  /** The last row of each object that the shards have, in times of day: none before they are handed any state. */
  async rows(): Promise<readonly LastKnownRow[]> {
    if (!this.#isRecording) return [];
    const rows: LastKnownRow[] = [];
    for await (const part of this.#checkpoints.rows()) {
      for (const row of part) if (row.kind !== 'collision') rows.push(row);
    }
    const isHere = this.#acquisition?.arrived();
    return rows.filter(({ kind, id }) => isHere?.(kind, id) === true);
  }

  /** A round of a shard begins, see StepJournal. */
  roundBegun(): number {
    return this.#journal.roundBegun();
  }

  /** The rows that a round has handed out were all noted. Never rejects. */
  async roundOver(shard: number, begunAt: number): Promise<void> {
    // Until the state is whole the journals of others are needed from their beginnings, and this one as well.
    if (this.#standing !== 'member' || this.#isAcquiring) return;
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
      if (this.standing === 'owner') await this.#checkpoints.write();
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
    this.#motions?.close();
    this.gather.close();
    this.#membership.close();
    this.#log.close();
    this.#checkpoints.close();
    await this.#options.bus.close();
  }

  /** Calls back after a delay, unless it is closed before, or called off by what this returns. */
  #after(delayMs: number, callback: () => void): () => void {
    const calledOff = this.#options.schedule(delayMs, () => {
      this.#timers.delete(cancel);
      callback();
    });
    const cancel = (): void => {
      this.#timers.delete(cancel);
      calledOff();
    };
    this.#timers.add(cancel);
    return cancel;
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

  #restore(parts: readonly Uint8Array[], sequence: number): void {
    const { state, entities } = restored(parts, sequence);
    this.#state = state;
    this.#opening.restore(entities);
    this.#partitions.apply(entities);
    this.#membership.restore(state);
    this.#ownership.set(serving(state));
  }

  #apply(record: AppliedRecord): void {
    const { sequence, body } = record;
    const before = this.#state;
    this.#state = applied(before, record);
    const changes = changesIn(body);
    this.#noteDeleted(sequence, changes);
    const regrouped = this.#partitions.apply(changes);
    this.#ownership.set(serving(this.#state));
    this.#noteEnds();
    this.#noteForced(record);
    this.#releases?.apply(record, before);
    if (this.#handlers !== undefined) this.#configured = sequence;
    if (this.#handlers === undefined) this.#opening.apply({ sequence, changes });
    else if (record.isOwn && changes.length > 0) this.#handlers.kept();
    else this.#handlers.foreign(changes);
    for (const [name, text] of settingsIn(body)) this.#handlers?.setting(name, text);
    this.#writeRegrouped(regrouped);
    this.#tellFanout(record);
    if (body.kind === 'expel' && this.#membership.isMember) this.#expelled++;
    this.#membership.record(record, this.#state);
    this.#router.ownershipChanged();
    this.#hasChanged();
    if (this.#state.version === sequence) this.#ownershipChanged(before);
  }

  /** Who serves what is not what it was. */
  #ownershipChanged(before: ConfigState): void {
    const { sources, onTheWay } = this.#state;
    const isWanted = (sequence: number): boolean => {
      return (
        sources.some(({ released }) => released === sequence) || onTheWay.some((each) => each.sequence === sequence)
      );
    };
    this.#releases?.forget(isWanted);
    for (const sequence of this.#forced.keys()) if (!isWanted(sequence)) this.#forced.delete(sequence);
    this.#handlers?.arrived();
    this.#handlers?.servesOther();
    this.#acquireSoon();
    if (isSettled(this.#state) && !isSettled(before)) void this.#tidy();
  }

  #noteEnds(): void {
    const { dead } = this.#state;
    for (const incarnation of dead.keys()) {
      if (this.#hadAtTheirEnds.has(incarnation)) continue;
      this.#hadAtTheirEnds.set(incarnation, leftOf(this.#state, incarnation));
    }
    for (const incarnation of this.#hadAtTheirEnds.keys()) {
      if (!dead.has(incarnation)) this.#hadAtTheirEnds.delete(incarnation);
    }
  }

  /** Takes note of the trackables of a record that moves some whose change is to act at once. */
  #noteForced({ sequence, body }: AppliedRecord): void {
    if (body.kind !== 'regroup') return;
    const forced = body.changes.filter(([kind, , text, force]) => kind === 'trackable' && force && text !== null);
    this.#forced.set(
      sequence,
      forced.map(([, id]) => id),
    );
  }

  /** Whether an object is in a partition of this hub. */
  #isOwn(kind: ObjectKind, id: string): boolean {
    return this.#state.map?.owners[this.#partitions.partitionOf(kind, id)] === this.#options.incarnation;
  }

  /** Where objects were that are deleted: whoever takes over from there has not evaluated that yet, maybe. */
  #noteDeleted(sequence: number, changes: readonly ForeignChange[]): void {
    const nowMs = this.#options.elapsed();
    const firstKept = this.#deleted.findIndex(({ atMs }) => atMs > nowMs - DELETED_MS);
    if (firstKept !== 0) this.#deleted.splice(0, firstKept < 0 ? this.#deleted.length : firstKept);
    for (const { kind, id, text } of changes) {
      if (text !== null || (kind !== 'provider' && kind !== 'trackable')) continue;
      const partition = this.#partitions.partitionOf(kind, id);
      this.#deleted.push({ sequence, kind, id, partition, atMs: nowMs });
    }
  }

  /**
   * All objects of some partitions, those that are on their way from there to others, and those that records behind `config`
   * have deleted there. `located`: providers that may be among them, and may not be known.
   */
  #objectsIn(
    partitions: ReadonlySet<number>,
    config = Number.POSITIVE_INFINITY,
    located: Iterable<string> = [],
  ): ObjectIds {
    const from = new Map<string, number>();
    for (const { objects } of this.#state.onTheWay) {
      for (const [kind, id, partition] of objects) if (!from.has(`${kind} ${id}`)) from.set(`${kind} ${id}`, partition);
    }
    const { providers, trackables } = (this.#handlers as ClusterHandlers).objects();
    const isIn = (kind: ObjectKind, id: string): boolean => {
      const comesFrom = from.size === 0 ? undefined : from.get(`${kind} ${id}`);
      return partitions.has(comesFrom ?? this.#partitions.partitionOf(kind, id));
    };
    const deleted = this.#deleted.filter((each) => each.sequence > config && partitions.has(each.partition));
    const { providers: deletedProviders, trackables: deletedTrackables } = objectsOf(
      deleted.map(({ kind, id }) => [kind, id]),
    );
    return {
      providers: [
        ...new Set([...[...providers, ...located].filter((id) => isIn('provider', id)), ...deletedProviders]),
      ],
      trackables: [...new Set([...trackables.filter((id) => isIn('trackable', id)), ...deletedTrackables])],
    };
  }

  /** Rows of objects that have another partition are to lie there, before somebody else gets the old one. */
  #writeRegrouped(regrouped: readonly Regrouped[]): void {
    if (this.#handlers === undefined || !this.#isRecording) return;
    const { incarnation } = this.#options;
    const owners = this.#state.map?.owners ?? [];
    const own = regrouped.filter(({ from, to }) => owners[from] === incarnation && owners[to] === incarnation);
    if (own.length === 0) return;
    // The next round writes them, too, where this fails.
    this.#handlers.writeAnew(objectsOf(own.map(({ kind, id }) => [kind, id]))).catch(() => undefined);
  }

  /** What this hub has released because of a record, once that is all. Rejects when it never will be. */
  async #released(sequence: number): Promise<Released> {
    await this.#log.reached(sequence, this.#options.holdMs);
    return (this.#releases as Releases).of(sequence);
  }

  #tellFanout({ sequence, body }: AppliedRecord): void {
    if (body.kind === 'join') this.#fanout?.joined(body.incarnation);
    if (body.kind === 'expel' || body.kind === 'leave') {
      this.#fanout?.gone(body.incarnation);
      this.#motions?.gone(body.incarnation);
      this.gather.gone(body.incarnation);
      this.#door?.forgetDoor(body.incarnation);
    }
    if (body.kind === 'expel' || body.kind === 'leave' || body.kind === 'map') {
      this.#tellOwners();
      const { partitions } = acquisitions(this.#state, this.#options.incarnation);
      if (partitions.some(({ isMember }) => !isMember)) this.#fanout?.tookAfter(sequence);
    }
    this.#fanout?.applied(sequence);
  }

  #tellOwners(): void {
    const { owners = [], collisions } = this.#state.map ?? {};
    this.#fanout?.owners(new Set(collisions === undefined ? owners : [...owners, collisions]));
    if (collisions === undefined) return;
    this.#motions?.stageOwner(collisions);
    this.#motions?.owners(new Set(owners));
  }

  #newReleases(handlers: ClusterHandlers): Releases {
    const { incarnation, now, notice } = this.#options;
    return new Releases({
      ...{ incarnation, journal: this.#journal, checkpoints: this.#checkpoints, now, notice },
      state: () => this.#state,
      isOwn: (kind, id) => this.#isOwn(kind, id),
      isServing: () => this.#standing === 'member',
      objectsIn: (partitions) => this.#objectsIn(partitions),
      unadopted: () => this.#acquisition?.unadopted() ?? new Set(),
      release: (objects, sequence) => handlers.release(objects, sequence),
      writeAnew: async (objects) => {
        await handlers.writeAnew(objects);
        await this.#written(this.#checkpoints.write());
      },
      sent: () => (this.#fanout as ClusterFanout).sentToAll(),
      changed: () => this.#change(),
    });
  }

  #newAcquisition(handlers: ClusterHandlers, releases: Releases): Acquisition {
    const { incarnation, now, schedule, notice } = this.#options;
    return new Acquisition({
      ...{ incarnation, now, schedule, notice },
      checkpoints: this.#checkpoints,
      state: () => this.#state,
      partitionOf: (kind, id) => this.#partitions.partitionOf(kind, id),
      configured: () => this.#configured,
      hadAtItsEnd: (of) => this.#hadAtTheirEnds.get(of) ?? ALL_PARTITIONS,
      objectsIn: (partitions, config, located) => this.#objectsIn(partitions, config, located),
      released: (from, sequence) => this.#releasedBy(from, sequence),
      isReleased: (sequence, kind, id) => releases.isReleased(sequence, kind, id),
      relay: (sequence, released, names) => releases.relay(sequence, released, names),
      follow: async (from, { sent }) => {
        this.#fanout?.tookBehind(from, sent);
        await this.#fanout?.reachedFrom(from, sent[incarnation] ?? 0);
      },
      allHeard: () => (this.#fanout as ClusterFanout).allHeard(),
      announceAgain: (events) => this.#fanout?.announceAgain(events.filter((event) => this.#isOwnEvent(event))),
      adopt: async (left) => {
        this.#isRecording = true;
        await handlers.adopt(left);
      },
      arrived: (sequence) => handlers.force(this.#forced.get(sequence) ?? []),
      leftBy: (of) => this.#leftBy(of),
      write: async () => {
        await this.#written(this.#checkpoints.write());
        await this.#journal.noteConfig();
      },
      took: async (of, partitions) => {
        await this.#log.append({ kind: 'took', by: incarnation, of, partitions, requests: [] });
      },
      tookObjects: async (sequence, partitions) => {
        await this.#log.append({ kind: 'arrived', by: incarnation, sequence, partitions });
      },
    });
  }

  /** Reads the journal of a hub that is gone. */
  async #leftBy(incarnation: string): Promise<JournalLeft> {
    const { bus, name, holdMs } = this.#options;
    const left = await readSteps({ bus, name, incarnation });
    if (!this.#recorded.has(incarnation)) {
      this.#after(REPEATED_HOLDS * holdMs, () => void this.#recorded.delete(incarnation));
    }
    this.#recorded.set(incarnation, new RecordedLocations([...left.earlier, ...left.steps]));
    return left;
  }

  /** Runs without the locations that these hubs, which are gone, have recorded. */
  async #unrecorded(runs: readonly CountedRun[], by: readonly string[]): Promise<readonly CountedRun[]> {
    const known = by === ANYBODY ? [...this.#recorded.keys()] : by;
    for (const incarnation of known) if (!this.#recorded.has(incarnation)) await this.#leftBy(incarnation);
    return known.reduce((left, incarnation) => this.#recorded.get(incarnation)?.without(left) ?? left, runs);
  }

  /**
   * Whether a fence event is of an object that this hub is to own, or is to pass on: on its way it may have been with the one
   * that it went to already.
   */
  #isOwnEvent({ event: [fields], of: dead }: FenceEventLeft): boolean {
    const [kind, id] = objectOf(fields);
    const move = this.#state.onTheWay.flatMap(({ objects }) => objects).find(([of, its]) => of === kind && its === id);
    if (move === undefined) return this.#isOwn(kind, id);
    const [, , from, to] = move;
    const partition = this.#hadAtTheirEnds.get(dead)?.includes(to) === true ? to : from;
    return this.#state.map?.owners[partition] === this.#options.incarnation;
  }

  /** What a member has released because of a record. */
  #releasedBy(from: string, sequence: number): Promise<Released> {
    return from === this.#options.incarnation ? this.#released(sequence) : this.#router.released(from, sequence);
  }

  #acquireSoon(): void {
    if (this.#standing !== 'member' || this.#isAcquiring || this.#acquisition?.isDue !== true) return;
    this.#isAcquiring = true;
    const acquisition = this.#acquisition;
    // When the record is applied as a whole.
    queueMicrotask(() => void this.#acquireAll(acquisition));
  }

  /** Never rejects. */
  async #acquireAll(acquisition: Acquisition): Promise<void> {
    const { notice, elapsed } = this.#options;
    const begunMs = elapsed();
    const sources = acquisitions(this.#state, this.#options.incarnation).partitions;
    const isTakeover = sources.some(({ isMember }) => !isMember);
    const stopWatching = this.#watchAcquisition(acquisition, begunMs);
    while (this.#standing === 'member') {
      try {
        if (!(await acquisition.acquire())) break;
        this.#handlers?.arrived();
        for (const { sequence, objects } of this.#state.onTheWay) this.#releases?.passOn(sequence, objects);
        this.#hasChanged();
      } catch (error) {
        if (this.#standing !== 'member') break;
        notice(`Cannot take over: ${(error as Error).message}`);
        await this.#change(AGAIN_MS);
      }
    }
    this.#isAcquiring = false;
    stopWatching();
    if (this.#standing !== 'member') return;
    if (isTakeover) {
      this.#takeovers++;
      this.#lastTakeoverMs = elapsed() - begunMs;
      notice(`Taken over in ${Math.round(this.#lastTakeoverMs)} ms: ${countOf(sources)}`, 'info');
    }
    // Until then front doors may hand in what the dead have recorded.
    this.#after(REPEATED_HOLDS * this.#options.holdMs, () => {
      this.#forgetDead().catch((error: unknown) => notice(`Cannot delete journals: ${String(error)}`));
    });
    this.#acquireSoon();
  }

  /**
   * Says what an acquisition waits for where that takes long, and gives it up where that is for ever: then this hub begins anew.
   * Returns how to end that.
   */
  #watchAcquisition(acquisition: Acquisition, begunMs: number): () => void {
    const { bus, notice, elapsed } = this.#options;
    let [stage, stageMs] = [acquisition.stage, begunMs];
    const look = (): void => {
      // It may never end then.
      if (this.#standing !== 'member') return;
      const nowMs = elapsed();
      if (!bus.isUp || acquisition.stage !== stage) [stage, stageMs] = [acquisition.stage, nowMs];
      notice(`Taking over for ${Math.round(nowMs - begunMs)} ms so far: ${acquisition.stage}`);
      if (nowMs - stageMs >= STUCK_MS) this.#out(new Error(`The takeover does not go on: ${acquisition.stage}`));
      else cancel = this.#after(LONG_MS, look);
    };
    let cancel = this.#after(LONG_MS, look);
    return () => cancel();
  }

  /** Resolves when everything is where it belongs. Rejects with HUB_UNAVAILABLE when that takes too long. */
  async #settled(): Promise<void> {
    const { elapsed } = this.#options;
    const untilMs = elapsed() + EVERYWHERE_MS;
    while (!isSettled(this.#state)) {
      const leftMs = untilMs - elapsed();
      if (this.#standing === 'out' || leftMs <= 0) {
        throw new HubError('HUB_UNAVAILABLE', 'Cannot change assignments: objects are on their way between hubs');
      }
      await this.#change(leftMs);
    }
  }

  /** Resolves with the next record, or when this hub has acquired something; after a while in any case. */
  #change(ms = EVERYWHERE_MS): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        this.#watchers.delete(end);
        cancel();
        resolve();
      };
      const cancel = this.#options.schedule(ms, end);
      this.#watchers.add(end);
    });
  }

  #hasChanged(): void {
    for (const watcher of [...this.#watchers]) watcher();
  }

  async #tidy(): Promise<void> {
    await this.#checkpoints.tidy().catch((error: unknown) => {
      if (this.#checkpoints.failure !== undefined) this.#out(this.#checkpoints.failure);
      else this.#options.notice(`Cannot tidy the state: ${(error as Error).message}`);
    });
  }

  /** Barriers of a hub that has nothing to do do not pile up. */
  #trimIdle(): void {
    if (this.#standing !== 'member' || this.#isAcquiring) return;
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
    this.#motions?.close();
    this.gather.close();
    this.#log?.close();
    this.#hasChanged();
    this.#handlers?.out(error);
  }
}

function countOf(sources: readonly { readonly partitions: readonly number[] }[]): string {
  const { size } = new Set(sources.flatMap(({ partitions }) => partitions));
  return `${size} of ${PARTITIONS} partitions`;
}
