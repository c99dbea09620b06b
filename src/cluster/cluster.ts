import type { Problem } from '../problem.ts';
import { randomUUID } from 'node:crypto';
import type { ObjectIds } from '../core/item.ts';
import { hubError } from '../errors.ts';
import type { ClusterHealth, ClusterOwners, ProviderOwner } from '../model/health.ts';
import type { ObjectKind } from '../model/id.ts';
import type { CarriedRpc } from '../rpc/carrier.ts';
import { type ClusterContext, contextOf } from './context.ts';
import { checkMembers, reached, startupError } from './membership/admission.ts';
import type { BusStatus } from './nats/bus.ts';
import { ClusterLinks, type ClusterLinksOptions } from './cluster_links.ts';
import { type ClusterRole, ClusterStatus } from './cluster_status.ts';
import type { ClusterFanout, ClusterFanoutOptions } from './fanout/cluster_fanout.ts';
import type { ClusterMotions, LocalStage } from './collisions/cluster_motions.ts';
import { changesIn, type ForeignChange, settingsIn } from './config/config_changes.ts';
import { type AppliedRecord, type ConfigLog, openConfigLog } from './config/config_log.ts';
import { type EntityText, restored, snapshotParts } from './config/snapshot_messages.ts';
import type { EntityChange } from './config/config_record.ts';
import { applied, type ConfigState, EMPTY_STATE, isSettled, serving } from './config/config_state.ts';
import { FailedMembers } from './migration/failed_members.ts';
import type { OwnerServerOptions } from './rpc/owner_server.ts';
import { MemberQueries } from './rpc/member_query.ts';
import { type MigrationHandlers, PartitionMigration } from './migration/partition_migration.ts';
import { Durability, type DurabilityOptions, makeJournal, openStreams } from './durability.ts';
import { type ClusterMembership, openMembership } from './membership/membership.ts';
import { ObjectPartitions, type Repartitioned } from './config/object_partitions.ts';
import { BootstrapEntities } from './config/bootstrap.ts';
import { Ownership } from './routing/ownership.ts';
import { PartitionLoads } from './routing/partition_loads.ts';
import { checkProtocol, PROTOCOLS } from './config/protocols.ts';
import { JournalProbe } from './membership/journal_probe.ts';
import { EntityCommits } from './config/entity_commits.ts';
import { objectsOf } from './migration/release.ts';
import { RemoteShards } from './routing/remote_shards.ts';
import { openOwnerClient, type OwnerClient } from './rpc/owner_client.ts';
import { LocationRouter, type LocationRouterOptions } from './routing/location_router.ts';

/**
 * This hub as a member of a cluster: what it stores in NATS, and what it takes over from other members. THEORY.md has the rules
 * of all parts, and why the promises follow.
 *
 *   state       what it does                                         until
 *   ----------  ---------------------------------------------------  -----------------------------------------------
 *   opening     reads the configuration                              `attach`: the hub has the entities
 *   attached    applies the changes of others in log order           `join`: its own record is applied
 *   member      the same; acquires what maps and assignments give    it closes
 *               to it, writes steps to its journal and rows to the
 *               state, and releases what goes to others
 *   out         stores nothing any more
 *
 * A hub is out when another hub has sealed its journal, has expelled it or has claimed its state, and when it cannot follow the
 * configuration log. Its state is then void, and the hub starts over.
 *
 * A record is applied in three steps without interruption: ownership, releases by the shards, then updates to the shards. So a
 * shard releases objects as of the previous record, or as of a later one if its hub succeeded the owner and adopted them
 * afterwards; the release names the record.
 */
export interface ClusterOptions extends DurabilityOptions {
  readonly suspectMs: number;
  /** Number of partitions if this hub creates the cluster. */
  readonly partitions: number;
  /** Most hubs that may own objects at the same time; all of them when left out. */
  readonly ownersMax?: number;
  /** Time that a request waits for an owner. */
  readonly holdMs: number;
  /** Number of locations that may wait for an owner. */
  readonly capacity: number;
}

/** Functions of the hub that a cluster uses. */
export interface ClusterHandlers extends MigrationHandlers {
  /**
   * Reports the changes of a record that does not belong to a commit of this hub; empty for a record that changes no entities.
   */
  foreign(changes: readonly ForeignChange[]): void;
  /** Reports a setting after each record that has changed it; null if it is deleted. */
  setting(name: string, text: string | null): void;
  /** The record of the running commit has arrived. */
  kept(): void;
  /** All entities as JSON, in order of creation. */
  entities(): Iterable<EntityText>;
  /** All objects that the shards hold or were notified of. */
  objects(): ObjectIds;
  /** Handlers of requests to this hub as an owner. */
  readonly owned: Pick<OwnerServerOptions, 'hasCapacity' | 'take' | 'ask' | 'forget' | 'settled'>;
  readonly fanout: ClusterFanoutOptions['fanout'];
  readonly announce: ClusterFanoutOptions['announce'];
  readonly stage: LocalStage;
  /** Ownership has changed. */
  servesOther(): void;
  /** This hub is out of its cluster. */
  out(error: Error): void;
}

const HUB_ID_SETTING = 'hub_id';

/** Connects to the cluster and reads its configuration. Throws a StartupError if NATS cannot be reached. */
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
  /** Shards of all owners, for locations and requests that this hub does not serve itself. */
  readonly remote: RemoteShards;
  /** Queries to all members. */
  readonly gather: MemberQueries;
  /** Storage of the steps of shards and of the collision stage. */
  readonly durability: Durability;
  readonly #options: ClusterOptions;
  readonly #context: ClusterContext;
  readonly #membership: ClusterMembership;
  #log!: ConfigLog;
  #state: ConfigState = EMPTY_STATE;
  readonly #partitions = new ObjectPartitions();
  readonly #ownership: Ownership;
  readonly #ownerClient: OwnerClient;
  readonly #dead: FailedMembers;
  readonly #migration: PartitionMigration;
  readonly #loads: PartitionLoads;
  /** Undefined before `attach`. */
  #links: ClusterLinks | undefined;
  readonly #opening = new BootstrapEntities();
  #configured = 0;
  #handlers: ClusterHandlers | undefined;
  #standing: ClusterRole = 'opening';
  readonly #status: ClusterStatus;
  readonly #commits: EntityCommits;
  #isRetiring = false;
  readonly #timers = new Set<() => void>();
  readonly #probe: JournalProbe;

  /** Called by openCluster only. */
  constructor(options: ClusterOptions) {
    const context = contextOf(options);
    const { bus, incarnation } = context;
    this.#options = options;
    this.#context = context;
    const partitionOf = (kind: ObjectKind, id: string): number => this.#partitions.partitionOf(kind, id);
    this.#ownership = new Ownership(partitionOf);
    this.#loads = new PartitionLoads({ ...context, partitionOf });
    this.#commits = new EntityCommits({
      ...context,
      partitions: this.#partitions,
      log: () => this.#log,
      state: () => this.#state,
      appliedByAll: (sequence, timeoutMs) => this.#membership.appliedByAll(sequence, timeoutMs),
      isOut: () => this.#standing === 'out',
    });
    this.durability = new Durability(options, {
      partitionOf: (kind, id) => this.#migration.leavingFrom(kind, id) ?? partitionOf(kind, id),
      isOwn: (kind, id) => this.#isOwn(kind, id),
      isSettled: () => isSettled(this.#state),
      isServing: () => this.#standing === 'member',
      hasState: () => this.#migration.hasState,
      isAcquiring: () => this.#migration.isAcquiring,
      arrived: () => this.#migration.arrived(),
      out: (error) => this.#out(error),
    });
    const { journal, checkpoints } = this.durability;
    this.#probe = new JournalProbe({
      ...context,
      barrier: () => journal.barrier(),
      kept: () => this.durability.trimIdle(),
    });
    this.#membership = openMembership({
      ...context,
      room: () => (this.canKeep ? options.capacity : 0),
      digest: options.digest,
      protocols: PROTOCOLS,
      suspectMs: options.suspectMs,
      partitions: options.partitions,
      ...(options.ownersMax !== undefined && { ownersMax: options.ownersMax }),
      makeJournal: (of) => makeJournal(options, of),
      loads: () => this.#loads.measured(),
      barrier: () => journal.barrier(),
      onMap: () => this.#migration.acquireSoon(),
      out: () => this.#out(new Error('Another hub has expelled this one')),
    });
    this.#ownerClient = openOwnerClient({
      ...context,
      ownership: this.#ownership,
      isMember: (of) => this.#state.members.has(of),
      localOwner: {
        forwarded: (bytes, handedOver) => (this.#links as ClusterLinks).ownerServer.forwarded(bytes, handedOver),
        asked: (bytes) => (this.#links as ClusterLinks).ownerServer.asked(bytes),
      },
      applied: () => this.applied,
      reached: (sequence, timeoutMs) => this.#log.reached(sequence, timeoutMs),
      holdMs: options.holdMs,
      capacity: options.capacity,
    });
    this.#dead = new FailedMembers({
      ...context,
      holdMs: options.holdMs,
      state: () => this.#state,
      isOwn: (kind, id) => this.#isOwn(kind, id),
      forgotten: async (of) => {
        await this.#log.append({ kind: 'took', by: incarnation, of, partitions: [] });
      },
      after: (delayMs, callback) => this.#after(delayMs, callback),
    });
    this.#migration = new PartitionMigration({
      ...{ ...context, checkpoints, journal, dead: this.#dead, partitionOf },
      state: () => this.#state,
      isOwn: (kind, id) => this.#isOwn(kind, id),
      objectsIn: (partitions, config, located) => this.#objectsIn(partitions, config, located),
      configured: () => this.#configured,
      isServing: () => this.#standing === 'member',
      releasedElsewhere: (from, sequence) => this.#ownerClient.released(from, sequence),
      applied: (sequence) => this.#log.reached(sequence, options.holdMs),
      writeState: () => this.durability.writeState(),
      noteConfig: () => journal.noteConfig(),
      append: (body) => this.#log.append(body),
      change: (ms) => this.#commits.change(ms),
      hasChanged: () => this.#commits.hasChanged(),
      isUp: () => bus.isUp,
      out: (error) => this.#out(error),
      after: (delayMs, callback) => this.#after(delayMs, callback),
    });
    this.remote = new RemoteShards(this.#ownerClient);
    this.gather = new MemberQueries({
      ...context,
      members: () => this.#membership.members,
    });
    this.#status = new ClusterStatus({
      ...{ ...context, journal, membership: this.#membership },
      ...{ migration: this.#migration, ownerClient: this.#ownerClient, ownership: this.#ownership },
      ...{ partitions: this.#partitions, probe: this.#probe },
      role: () => this.#standing,
      state: () => this.#state,
      applied: () => this.applied,
      isWhole: () => this.isWhole,
      links: () => this.#links,
    });
  }

  /** Called by openCluster only. */
  async open(): Promise<void> {
    const { replicas, storage } = this.#options;
    this.#log = await openConfigLog({
      ...{ ...this.#context, replicas, storage },
      newId: randomUUID,
      restore: (parts) => this.#restore(parts),
      apply: (record) => this.#apply(record),
      snapshot: () => snapshotParts(this.#state, this.#handlers?.entities() ?? []),
      shouldSnapshot: () => this.#membership.isFirst,
      stopped: (error) => this.#out(error),
    });
    checkProtocol('Cannot follow the configuration', this.#state.protocol, PROTOCOLS);
    await checkMembers(this.#state.members.values(), this.#options);
    this.#comparePartitions();
    if (this.#state.settings.has(HUB_ID_SETTING)) return;
    const changes: EntityChange[] = [['setting', HUB_ID_SETTING, JSON.stringify(randomUUID()), false]];
    // If two hubs find none, the first one creates it.
    await this.#log.append({ kind: 'change', by: this.#options.hubName, changes }, this.#log.applied);
  }

  #comparePartitions(): void {
    const { partitions, notice } = this.#options;
    const count = this.#state.map?.owners.length ?? partitions;
    if (count === partitions) return;
    notice(
      `cluster_partitions: this cluster has had ${count} since it was created, so ${partitions} has no effect`,
      'info',
    );
  }

  /** Role of this hub, as the API names it. */
  get standing(): ClusterHealth['standing'] {
    return this.#status.standing;
  }

  /** Reason why this hub serves no requests although others could; undefined while it does. */
  get problem(): Problem | undefined {
    return this.#status.problem;
  }

  /** Health of the cluster, as in the API. */
  health(): ClusterHealth {
    return this.#status.health();
  }

  /** Owners of all partitions, as in the API. */
  owners(): ClusterOwners {
    return this.#status.owners();
  }

  /** Owner of a provider, as in the API. */
  ownerOf(providerId: string): ProviderOwner {
    return this.#status.ownerOf(providerId);
  }

  /** Values for metrics. */
  counts() {
    return this.#status.counts();
  }

  /** Id of this member, a new one with each start of the hub. */
  get memberId(): string {
    return this.#options.incarnation;
  }

  /** Name of this hub, the same after a restart. */
  get hubName(): string {
    return this.#options.hubName;
  }

  /** Whether this hub serves everything, and all earlier locations are already with its shards. */
  get isLocal(): boolean {
    const { isWhole, servers } = this.#ownership;
    return isWhole && servers.every((server) => server === this.#options.incarnation) && this.#ownerClient.isClear();
  }

  /** Whether every partition is served and nothing is migrating. */
  get isWhole(): boolean {
    return this.#ownership.isWhole && isSettled(this.#state);
  }

  /** Member ids of the hubs that serve something. */
  get servers(): readonly string[] {
    return this.#ownership.servers;
  }

  /** Whether this hub serves the partition of a name. `servesOther` is called when that may have changed. */
  serves(name: string): boolean {
    const { map } = this.#state;
    const partition = this.#partitions.partitionOfKey(name);
    const { incarnation } = this.#options;
    return (
      this.#standing === 'member' && map?.owners[partition] === incarnation && !serving(this.#state).open.has(partition)
    );
  }

  /** Tests whether a trackable is migrating to this hub, or undefined if no trackable is. */
  migratingTrackables(): ((id: string) => boolean) | undefined {
    return this.#migration.migratingTrackables();
  }

  /** Router for locations that this hub receives, some of which may be for its own shards. */
  routesTo(local: LocationRouterOptions['local']): LocationRouter {
    const { incarnation } = this.#options;
    const isServing = (): boolean => this.#standing === 'member';
    const { remote } = this;
    return new LocationRouter({
      incarnation,
      ownership: this.#ownership,
      remote,
      local,
      isServing,
      loads: this.#loads,
    });
  }

  /** Whether this hub is out, so that its state no longer counts. */
  get isOut(): boolean {
    return this.#standing === 'out';
  }

  /** Event fan-out to subscribers at other hubs; undefined before `attach`. */
  get fanout(): ClusterFanout | undefined {
    return this.#links?.fanout;
  }

  /** Transfer of motions to the one collision stage; undefined before `attach`. */
  get motions(): ClusterMotions | undefined {
    return this.#links?.motions;
  }

  get membership(): ClusterMembership {
    return this.#membership;
  }

  /** Watches the connection to NATS; the watcher gets the current status first. */
  watch(watcher: (status: BusStatus) => void): void {
    this.#options.bus.watch(watcher);
  }

  /** Configuration sequence that this hub has applied. */
  get applied(): number {
    return this.#log.applied;
  }

  /** Sequence of the last record whose changes were reported to the handlers. */
  get configured(): number {
    return this.#configured;
  }

  /** Whether further steps can be journaled. */
  get hasRoom(): boolean {
    return this.durability.journal.hasRoom;
  }

  /** Whether locations can be journaled. */
  get canKeep(): boolean {
    return this.#standing === 'member' && this.durability.journal.hasRoom && this.#options.bus.isUp;
  }

  /** Returns the entities as they were some records ago. `catchUp`, called in the same turn, reports the changes since. */
  attach(handlers: ClusterHandlers): { readonly entities: readonly EntityText[]; catchUp(): void } {
    const { entities, recent } = this.#opening.take();
    this.#configured = (recent[0]?.sequence ?? this.applied + 1) - 1;
    this.#handlers = handlers;
    const server = {
      ...handlers.owned,
      take: (runs) => {
        for (const run of runs) this.#loads.countRun(run);
        return handlers.owned.take(runs);
      },
      applied: () => this.applied,
      reached: (sequence, timeoutMs) => this.#log.reached(sequence, timeoutMs),
      ownership: this.#ownership,
      isServing: () => this.#standing === 'member' && !this.#isRetiring,
      unrecorded: (request) => this.#dead.unrecorded(request),
      requests: this.durability.journal.requests,
      released: (sequence) => this.#migration.released(sequence),
    } satisfies ClusterLinksOptions['server'];
    const links = new ClusterLinks({ context: this.#context, gather: this.gather, handlers, server });
    this.#links = links;
    this.#migration.attach(handlers, links.fanout);
    for (const member of this.#state.members.keys()) links.fanout.joined(member);
    links.owners(this.#state);
    this.#standing = 'attached';
    const catchUp = (): void => {
      for (const { sequence, changes } of recent) {
        this.#configured = sequence;
        handlers.foreign(changes);
      }
    };
    return { entities, catchUp };
  }

  /** Connects remote procedure calls of this hub with the handlers of all hubs, and back. Call it before the hub joins. */
  carry(rpc: CarriedRpc): void {
    this.#links?.carry(rpc);
  }

  /** Resolves when this hub is a member. Rejects with HUB_UNAVAILABLE if that takes too long. */
  async join(): Promise<void> {
    await this.#links?.ready();
    await this.#membership.join(this.#log);
    if (this.#standing === 'attached') this.#standing = 'member';
    this.#migration.acquireSoon();
    this.#probe.start();
    await this.#checkEarlier();
  }

  /** Makes the later one of two hubs leave that have joined at the same time with different settings. Throws a StartupError. */
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
   * Commits changed entities, all or none. Resolves when all hubs have applied them, or with `overtaken` if another hub was
   * first. Rejects with HUB_UNAVAILABLE if they would move objects and earlier migrations do not complete in time.
   */
  commit(changes: readonly ForeignChange[]): Promise<'overtaken' | undefined> {
    return this.#commits.commit(changes);
  }

  /**
   * Resolves when this hub is proven not to have been sealed before the call, so that it had applied every change acknowledged
   * until then. Rejects with HUB_UNAVAILABLE if it was sealed.
   */
  async upToDate(): Promise<void> {
    await this.durability.journal.barrier().catch((cause: unknown) => {
      throw hubError('out_of_cluster', { operation: 'read' }, { cause });
    });
  }

  /** Whether this hub runs the collision stage, and the other tasks that one hub does for all. */
  get ownsCollisions(): boolean {
    return this.#state.map?.collisions === this.#options.incarnation && this.#standing === 'member';
  }

  /** Settings as JSON by name. */
  get settings(): ReadonlyMap<string, string> {
    return this.#state.settings;
  }

  /** Commits settings; null deletes one. Resolves when they are in the log. */
  async keepSettings(settings: readonly (readonly [name: string, text: string | null])[]): Promise<void> {
    const changes = settings.map(([name, text]): EntityChange => ['setting', name, text, false]);
    await this.#log.append({ kind: 'change', by: this.#options.hubName, changes });
  }

  /** UUID of the cluster, assigned when it was created. */
  get id(): string {
    return JSON.parse(this.#state.settings.get(HUB_ID_SETTING) ?? '""') as string;
  }

  /** Prepares for shutdown. If nothing can be appended for as long as a request may wait, this hub is out. */
  ending(): void {
    const { holdMs, notice } = this.#options;
    this.#after(holdMs, () => {
      if (this.#standing === 'out') return;
      const { lateMs = 0 } = this.#probe;
      if (lateMs < holdMs) {
        this.ending();
        return;
      }
      const why = `Nothing could be appended to the journal for ${Math.round(lateMs)} ms: pending requests are rejected`;
      notice(why);
      this.#out(new Error(why));
    });
  }

  /** Rejects requests of other hubs, which hold them until another hub is the owner. */
  retire(): void {
    this.#isRetiring = true;
  }

  /** Hands over everything that this hub owns. Call it once its shards are idle. */
  async leave(): Promise<void> {
    if (this.#standing === 'out') return;
    try {
      if (this.standing === 'owner') await this.durability.checkpoints.write();
      // Everything journaled has been published, and nothing more is journaled.
      const sealed = (): void => {
        if (this.#standing !== 'out' && this.durability.journal.isIdle) this.#links?.channel.leaving();
      };
      await this.#membership.leave({ sealed });
    } catch (error) {
      this.#options.notice(`Others will take over later: ${(error as Error).message}`);
    }
  }

  async close(): Promise<void> {
    this.#standing = 'out';
    for (const cancel of this.#timers) cancel();
    this.#probe.stop();
    this.durability.journal.close();
    this.#ownerClient.close();
    this.#links?.ownerServer.close();
    this.#links?.close();
    this.gather.close();
    this.#membership.close();
    this.#log.close();
    this.durability.checkpoints.close();
    await this.#options.bus.close();
  }

  /** Calls back after a delay, unless the cluster closes before. Returns a function that cancels it. */
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

  #restore(parts: readonly Uint8Array[]): void {
    const { state, entities } = restored(parts);
    this.#state = state;
    this.#partitions.follow(state.map);
    this.#opening.restore(entities);
    this.#partitions.apply(entities);
    this.#membership.restore(state);
    this.#ownership.set(serving(state));
  }

  #apply(record: AppliedRecord): void {
    const { sequence, body } = record;
    const before = this.#state;
    this.#state = applied(before, record);
    this.#partitions.follow(this.#state.map);
    const changes = changesIn(body);
    this.#partitions.noteDeleted(changes, { sequence, nowMs: this.#options.elapsed() });
    const repartitioned = this.#partitions.apply(changes);
    this.#ownership.set(serving(this.#state));
    this.#migration.apply(record, before);
    if (this.#handlers !== undefined) this.#configured = sequence;
    if (this.#handlers === undefined) this.#opening.apply({ sequence, changes });
    else if (record.isOwn && changes.length > 0) this.#handlers.kept();
    else this.#handlers.foreign(changes);
    for (const [name, text] of settingsIn(body)) this.#handlers?.setting(name, text);
    this.#writeRegrouped(repartitioned);
    this.#links?.applied(record, this.#state);
    if (body.kind === 'expel' && this.#membership.isMember) this.#status.expelled++;
    this.#membership.record(record, this.#state);
    this.#ownerClient.ownershipChanged();
    this.#commits.hasChanged();
    if (this.#state.version === sequence) this.#ownershipChanged(before);
  }

  /** Reacts to a change of ownership. */
  #ownershipChanged(before: ConfigState): void {
    this.#migration.forgetArrived();
    this.#handlers?.servesOther();
    this.#migration.acquireSoon();
    if (isSettled(this.#state) && !isSettled(before)) void this.durability.tidy();
  }

  /** Whether an object is in a partition of this hub. */
  #isOwn(kind: ObjectKind, id: string): boolean {
    return this.#state.map?.owners[this.#partitions.partitionOf(kind, id)] === this.#options.incarnation;
  }

  #objectsIn(partitions: ReadonlySet<number>, behind?: number, located?: Iterable<string>): ObjectIds {
    const { migrating } = this.#state;
    const known = (this.#handlers as ClusterHandlers).objects();
    return this.#partitions.objectsIn({
      ...{ partitions, known, migrating },
      ...(behind !== undefined && { behind }),
      ...(located !== undefined && { located }),
    });
  }

  /** Writes the rows of objects whose partition has changed, before another hub can get the old partition. */
  #writeRegrouped(repartitioned: readonly Repartitioned[]): void {
    if (this.#handlers === undefined || !this.#migration.hasState) return;
    const { incarnation } = this.#options;
    const owners = this.#state.map?.owners ?? [];
    const own = repartitioned.filter(({ from, to }) => owners[from] === incarnation && owners[to] === incarnation);
    if (own.length === 0) return;
    // On failure, the next flush writes them, too.
    this.#handlers.writeAnew(objectsOf(own.map(({ kind, id }) => [kind, id]))).catch(() => undefined);
  }

  #out(error: Error): void {
    if (this.#standing === 'out') return;
    this.#standing = 'out';
    this.#probe.stop();
    this.#membership.close();
    // Pending appends cannot succeed. A successor may have deleted the streams, so nothing else would report it.
    this.durability.journal.close();
    this.#ownerClient.close();
    this.durability.checkpoints.close();
    this.#links?.close();
    this.gather.close();
    this.#log?.close();
    this.#commits.hasChanged();
    this.#handlers?.out(error);
  }
}
