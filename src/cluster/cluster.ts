import { randomUUID } from 'node:crypto';
import type { ObjectIds } from '../core/item.ts';
import { HubError } from '../errors.ts';
import type { ClusterHealth } from '../model/health.ts';
import type { ObjectKind } from '../model/id.ts';
import type { CarriedRpc } from '../rpc/carrier.ts';
import { PARTITIONS } from '../shards/affinity.ts';
import { checkMembers, reached, startupError } from './admission.ts';
import type { BusStatus } from './bus.ts';
import { ClusterFanout, type ClusterFanoutOptions } from './cluster_fanout.ts';
import { ClusterMotions, type LocalStage } from './cluster_motions.ts';
import { ClusterRpc } from './cluster_rpc.ts';
import { changesIn, type ForeignChange, settingsIn } from './config_changes.ts';
import { type AppliedRecord, type ConfigLog, openConfigLog } from './config_log.ts';
import { type EntityText, restored, snapshotParts } from './config_parts.ts';
import type { EntityChange } from './config_record.ts';
import { acquisitions, applied, type ConfigState, EMPTY_STATE, isSettled, serving } from './config_state.ts';
import { DeadHubs } from './dead_hubs.ts';
import { type Door, type DoorOptions, openDoor } from './door.ts';
import { Gather } from './gather.ts';
import { type HandoverHandlers, Handovers } from './handovers.ts';
import { Keeping, type KeepingOptions, makeJournal, openStreams } from './keeping.ts';
import { partitionsOf } from './map.ts';
import { type Membership, openMembership } from './membership.ts';
import { ObjectPartitions, type Regrouped } from './object_partitions.ts';
import { OpeningEntities } from './opening_entities.ts';
import { Ownership } from './ownership.ts';
import { PartitionLoads } from './partition_loads.ts';
import { PROTOCOLS, RECORDS_FENCE_EVENTS } from './protocols.ts';
import { Pulse } from './pulse.ts';
import { changeRecord } from './regrouping.ts';
import { objectsOf } from './releases.ts';
import { RemoteShards } from './remote_shards.ts';
import { openRouter, type Router } from './router.ts';
import { Routes, type RoutesOptions } from './routes.ts';

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
export interface ClusterOptions extends KeepingOptions {
  readonly suspectMs: number;
  /** How many hubs may own objects at the same time; all of them when left out. */
  readonly ownersMax?: number;
  /** How long a request waits for an owner. */
  readonly holdMs: number;
  /** How many locations may wait for an owner. */
  readonly capacity: number;
  /** Time of day. */
  now(): number;
}

/** What a cluster needs of its hub. */
export interface ClusterHandlers extends HandoverHandlers {
  /** What a record has changed that is not of a commit of this hub; empty for one that has changed no entities. */
  foreign(changes: readonly ForeignChange[]): void;
  /** A setting, after each record that has changed it; null where it is deleted. */
  setting(name: string, text: string | null): void;
  /** The record of the running commit has come. */
  kept(): void;
  /** All entities as JSON, in the order of creation. */
  entities(): Iterable<EntityText>;
  /** All objects that the shards know, or were told of. */
  objects(): ObjectIds;
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

type Standing = 'opening' | 'attached' | 'member' | 'out';

const HUB_ID_SETTING = 'hub_id';
/** How long a change of entities waits for other hubs to have it. */
const EVERYWHERE_MS = 10_000;

/** Connects to the cluster and reads its configuration. Throws a StartupError where NATS cannot be reached. */
export async function openCluster(options: ClusterOptions): Promise<Cluster> {
  try {
    await reached(options);
    await openStreams(options);
    const cluster = new Cluster(options);
    await cluster.open();
    return cluster;
  } catch (error) {
    await options.bus.close();
    throw startupError(error as Error, options);
  }
}

export class Cluster {
  /** The shards of whoever serves what, as this hub hands them what it takes and does not serve. */
  readonly remote: RemoteShards;
  /** What all hubs tell of themselves. */
  readonly gather: Gather;
  /** Where shards and the collision stage hand in what is to be kept. */
  readonly keeping: Keeping;
  readonly #options: ClusterOptions;
  readonly #membership: Membership;
  #log!: ConfigLog;
  #state: ConfigState = EMPTY_STATE;
  readonly #partitions = new ObjectPartitions();
  readonly #ownership: Ownership;
  readonly #router: Router;
  readonly #dead: DeadHubs;
  readonly #handovers: Handovers;
  readonly #loads: PartitionLoads;
  #door: Door | undefined;
  #fanout: ClusterFanout | undefined;
  #motions: ClusterMotions | undefined;
  #rpc: ClusterRpc | undefined;
  readonly #opening = new OpeningEntities();
  #configured = 0;
  #handlers: ClusterHandlers | undefined;
  #standing: Standing = 'opening';
  /** Called back with the next record, or when something has been acquired. */
  readonly #watchers = new Set<() => void>();
  #expelled = 0;
  #isRetiring = false;
  readonly #timers = new Set<() => void>();
  readonly #pulse: Pulse;

  /** Only for openCluster. */
  constructor(options: ClusterOptions) {
    const { bus, name, incarnation, shards, schedule, elapsed, now, notice } = options;
    this.#options = options;
    const partitionOf = (kind: ObjectKind, id: string): number => this.#partitions.partitionOf(kind, id);
    this.#ownership = new Ownership(partitionOf);
    this.#loads = new PartitionLoads({ partitionOf, elapsed });
    this.keeping = new Keeping(options, {
      partitionOf,
      isOwn: (kind, id) => this.#isOwn(kind, id),
      isSettled: () => isSettled(this.#state),
      isServing: () => this.#standing === 'member',
      hasState: () => this.#handovers.hasState,
      isAcquiring: () => this.#handovers.isAcquiring,
      arrived: () => this.#handovers.arrived(),
      out: (error) => this.#out(error),
    });
    const { journal, checkpoints } = this.keeping;
    this.#pulse = new Pulse({
      ...{ elapsed, schedule },
      barrier: () => journal.barrier(),
      kept: () => this.keeping.trimIdle(),
    });
    this.#membership = openMembership({
      ...{ bus, name, incarnation, shards, schedule, elapsed, now, notice },
      room: () => (this.canKeep ? options.capacity : 0),
      hubName: options.hubName,
      digest: options.digest,
      protocols: PROTOCOLS,
      suspectMs: options.suspectMs,
      ...(options.ownersMax !== undefined && { ownersMax: options.ownersMax }),
      makeJournal: (of) => makeJournal(options, of),
      loads: () => this.#loads.measured(),
      barrier: () => journal.barrier(),
      onMap: () => this.#handovers.acquireSoon(),
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
    this.#dead = new DeadHubs({
      ...{ bus, name, incarnation, holdMs: options.holdMs },
      state: () => this.#state,
      isOwn: (kind, id) => this.#isOwn(kind, id),
      forgotten: async (of) => {
        await this.#log.append({ kind: 'took', by: incarnation, of, partitions: [], requests: [] });
      },
      after: (delayMs, callback) => this.#after(delayMs, callback),
    });
    this.#handovers = new Handovers({
      ...{ incarnation, checkpoints, journal, dead: this.#dead, partitionOf },
      ...{ now, elapsed, schedule, notice },
      state: () => this.#state,
      isOwn: (kind, id) => this.#isOwn(kind, id),
      objectsIn: (partitions, config, located) => this.#objectsIn(partitions, config, located),
      configured: () => this.#configured,
      isServing: () => this.#standing === 'member',
      releasedElsewhere: (from, sequence) => this.#router.released(from, sequence),
      applied: (sequence) => this.#log.reached(sequence, options.holdMs),
      writeState: () => this.keeping.writeState(),
      noteConfig: () => journal.noteConfig(),
      append: (body) => this.#log.append(body),
      change: (ms) => this.#change(ms),
      hasChanged: () => this.#hasChanged(),
      isUp: () => bus.isUp,
      out: (error) => this.#out(error),
      after: (delayMs, callback) => this.#after(delayMs, callback),
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
    return this.#handovers.trackablesOnTheWay();
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
    const why = this.keeping.journal.isFull
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
    const { count: takeovers, lastMs } = this.#handovers.takeovers;
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
      journal_waiting_bytes: this.keeping.journal.heldBytes,
      takeovers,
      ...(takeovers > 0 && { last_takeover_duration: Math.round(lastMs) }),
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
    const { count: takeovers, lastMs: lastTakeoverMs } = this.#handovers.takeovers;
    return {
      ...{ forwarded, moved, takeovers, lastTakeoverMs },
      isOwner: this.standing === 'owner',
      partitions: partitionsOf(this.#membership.map, this.#options.incarnation),
      applied: this.applied,
      appends: this.keeping.journal.appends,
      heldBytes: this.keeping.journal.heldBytes,
      expelled: this.#expelled,
      framesLost: this.#fanout?.losses ?? 0,
      rpcMisfits: this.#rpc?.misfits ?? 0,
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
    return this.keeping.journal.hasRoom;
  }

  /** Whether locations can be kept. */
  get canKeep(): boolean {
    return this.#standing === 'member' && this.keeping.journal.hasRoom && this.#options.bus.isUp;
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
      unrecorded: (runs, by) => this.#dead.unrecorded(runs, by),
      released: (sequence) => this.#handovers.released(sequence),
    });
    this.#handovers.attach(handlers, this.#fanout);
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

  /** Calls of this hub reach the handlers of all, and theirs those of this one. To be called before it joins. */
  carry(rpc: CarriedRpc): void {
    const { bus, name, incarnation: self, notice, schedule } = this.#options;
    this.#rpc = new ClusterRpc({ bus, name, self, rpc, notice, schedule });
  }

  /** Resolves when this hub is a member. Rejects with HUB_UNAVAILABLE when it is not in time. */
  async join(): Promise<void> {
    await Promise.all([
      ...[this.#fanout?.ready(), this.#motions?.ready(), this.#rpc?.ready()],
      ...[this.#door?.ready, this.gather.ready],
    ]);
    await this.#membership.join(this.#log);
    if (this.#standing === 'attached') this.#standing = 'member';
    this.#handovers.acquireSoon();
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
    await this.keeping.journal.barrier().catch((cause: unknown) => {
      throw new HubError('HUB_UNAVAILABLE', 'Cannot read: this hub is out of its cluster', { cause });
    });
  }

  /** Whether this hub has the collision stage, and with it what one hub alone does for all. */
  get ownsCollisions(): boolean {
    return this.#state.map?.collisions === this.#options.incarnation && this.#standing === 'member';
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
      if (this.standing === 'owner') await this.keeping.checkpoints.write();
      // What was kept is told by now, and nothing more is kept.
      const sealed = (): void => {
        if (this.#standing !== 'out' && this.keeping.journal.isIdle) this.#fanout?.leaving();
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
    this.keeping.journal.close();
    this.#router.close();
    this.#door?.close();
    this.#fanout?.close();
    this.#motions?.close();
    this.#rpc?.close();
    this.gather.close();
    this.#membership.close();
    this.#log.close();
    this.keeping.checkpoints.close();
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
    this.#partitions.noteDeleted(changes, { sequence, nowMs: this.#options.elapsed() });
    const regrouped = this.#partitions.apply(changes);
    this.#ownership.set(serving(this.#state));
    this.#handovers.apply(record, before);
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
    this.#handovers.forgetArrived();
    this.#handlers?.servesOther();
    this.#handovers.acquireSoon();
    if (isSettled(this.#state) && !isSettled(before)) void this.keeping.tidy();
  }

  /** Whether an object is in a partition of this hub. */
  #isOwn(kind: ObjectKind, id: string): boolean {
    return this.#state.map?.owners[this.#partitions.partitionOf(kind, id)] === this.#options.incarnation;
  }

  #objectsIn(partitions: ReadonlySet<number>, behind?: number, located?: Iterable<string>): ObjectIds {
    const { onTheWay } = this.#state;
    const known = (this.#handlers as ClusterHandlers).objects();
    return this.#partitions.objectsIn({
      ...{ partitions, known, onTheWay },
      ...(behind !== undefined && { behind }),
      ...(located !== undefined && { located }),
    });
  }

  /** Rows of objects that have another partition are to lie there, before somebody else gets the old one. */
  #writeRegrouped(regrouped: readonly Regrouped[]): void {
    if (this.#handlers === undefined || !this.#handovers.hasState) return;
    const { incarnation } = this.#options;
    const owners = this.#state.map?.owners ?? [];
    const own = regrouped.filter(({ from, to }) => owners[from] === incarnation && owners[to] === incarnation);
    if (own.length === 0) return;
    // The next round writes them, too, where this fails.
    this.#handlers.writeAnew(objectsOf(own.map(({ kind, id }) => [kind, id]))).catch(() => undefined);
  }

  #tellFanout({ sequence, body }: AppliedRecord): void {
    if (body.kind === 'join') this.#fanout?.joined(body.incarnation);
    if (body.kind === 'expel' || body.kind === 'leave') {
      this.#fanout?.gone(body.incarnation);
      this.#motions?.gone(body.incarnation);
      this.#rpc?.gone(body.incarnation);
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

  #out(error: Error): void {
    if (this.#standing === 'out') return;
    this.#standing = 'out';
    this.#pulse.stop();
    this.#membership.close();
    // Nothing comes of what waits. Whoever has taken over may have deleted the streams, so that nobody else would say so.
    this.keeping.journal.close();
    this.#router.close();
    this.keeping.checkpoints.close();
    this.#fanout?.close();
    this.#motions?.close();
    this.#rpc?.close();
    this.gather.close();
    this.#log?.close();
    this.#hasChanged();
    this.#handlers?.out(error);
  }
}
