import type { CarriedRpc } from '../rpc/carrier.ts';
import { type ClusterHandlers, ClusterLinks, type ClusterLinksOptions } from './cluster_links.ts';
import { type ClusterOptions, ClusterParts } from './cluster_parts.ts';
import type { ClusterRole, ClusterStatus } from './cluster_status.ts';
import type { ClusterMotions } from './collisions/cluster_motions.ts';
import type { ClusterConfig } from './config/cluster_config.ts';
import { type ConfigChange, settingsIn } from './config/config_changes.ts';
import type { AppliedRecord } from './config/config_log.ts';
import { type ConfigState, isSettled } from './config/config_state.ts';
import type { Repartitioned } from './config/object_partitions.ts';
import { type EntityText, snapshotParts } from './config/snapshot_messages.ts';
import { type Durability, openStreams } from './durability.ts';
import type { SettingText } from './config/entity_commits.ts';
import type { ClusterEvents } from './events/cluster_events.ts';
import type { ClusterFanout } from './fanout/cluster_fanout.ts';
import { checkMembers, reached, startupError } from './membership/admission.ts';
import type { ClusterMembership } from './membership/membership.ts';
import { objectsOf } from './migration/release.ts';
import type { BusStatus } from './nats/bus.ts';
import { LocationRouter, type LocationRouterOptions } from './routing/location_router.ts';
import type { OwnerHint } from './routing/owner_hints.ts';
import type { RemoteShards } from './routing/remote_shards.ts';
import type { MemberQueries } from './rpc/member_query.ts';

/**
 * This hub as a member of a cluster: what it stores in NATS, and what it takes over from other members. THEORY.md has the rules
 * of all parts, and why the promises follow.
 *
 *   state       what it does                                         until
 *   ----------  ---------------------------------------------------  -----------------------------------------------
 *   opening     connects, and reads the configuration                `attach`: the hub has the entities
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
export class Cluster {
  /** The configuration as this hub has applied it. */
  readonly config: ClusterConfig;
  /** Role and health of this hub and of the cluster. */
  readonly status: ClusterStatus;
  readonly membership: ClusterMembership;
  /** Shards of all owners, for locations and requests that this hub does not serve itself. */
  readonly remote: RemoteShards;
  /** Queries to all members. */
  readonly gather: MemberQueries;
  /** Storage of the steps of shards and of the collision stage. */
  readonly durability: Durability;
  /** The event log; undefined without one. */
  readonly events: ClusterEvents | undefined;
  /** The audit log. */
  readonly audit: ClusterEvents | undefined;
  readonly #options: ClusterOptions;
  readonly #parts: ClusterParts;
  /** Undefined before `attach`. */
  #links: ClusterLinks | undefined;
  #handlers: ClusterHandlers | undefined;
  #role: ClusterRole = 'opening';
  #isRetiring = false;

  /** Connects to nothing before `open`. */
  constructor(options: ClusterOptions) {
    this.#options = options;
    this.#parts = new ClusterParts(options, {
      role: () => this.#role,
      links: () => this.#links,
      objects: () => (this.#handlers as ClusterHandlers).objects(),
      out: (error) => this.#out(error),
    });
    const { config, status, membership, remote, gather, durability, events, audit } = this.#parts;
    this.config = config;
    this.status = status;
    this.membership = membership;
    this.remote = remote;
    this.gather = gather;
    this.durability = durability;
    this.events = events;
    this.audit = audit;
  }

  /** Connects to the cluster and reads its configuration. Throws a StartupError if that fails; then call `close`. */
  async open(): Promise<void> {
    try {
      await reached(this.#options);
      await openStreams(this.#options);
      await this.#readConfig();
    } catch (error) {
      throw startupError(error as Error, this.#options);
    }
  }

  async #readConfig(): Promise<void> {
    const { replicas, storage } = this.#options;
    const { config, membership } = this;
    await config.open({
      ...{ ...this.#parts.context, replicas, storage },
      restore: (parts) => {
        config.restore(parts);
        membership.restore(config.state());
      },
      apply: (record) => this.#apply(record),
      snapshot: () => snapshotParts(config.state(), this.#handlers?.entities() ?? []),
      shouldSnapshot: () => membership.isFirst,
      stopped: (error) => this.#out(error),
    });
    await checkMembers(config.state().members.values(), this.#options);
    config.comparePartitions(this.#options.partitions);
    await config.createId();
  }

  /** Returns the entities as they were some records ago. `catchUp`, called in the same turn, reports the changes since. */
  attach(handlers: ClusterHandlers): { readonly entities: readonly EntityText[]; catchUp(): void } {
    const { config } = this;
    const { context, loads, failed, migration } = this.#parts;
    const { entities, recent } = config.opening.take();
    config.configured = (recent[0]?.sequence ?? config.applied() + 1) - 1;
    this.#handlers = handlers;
    const server = {
      ...handlers.owned,
      take: (runs) => {
        for (const run of runs) loads.countRun(run);
        return handlers.owned.take(runs);
      },
      applied: config.applied,
      reached: config.reached,
      ownership: config.ownership,
      isServing: () => this.#role === 'member' && !this.#isRetiring,
      unrecorded: (request) => failed.unrecorded(request),
      requests: this.durability.journal.requests,
      released: (sequence) => migration.released(sequence),
    } satisfies ClusterLinksOptions['server'];
    const links = new ClusterLinks({ context, gather: this.gather, handlers, server });
    this.#links = links;
    migration.attach(handlers, links.fanout);
    for (const member of config.state().members.keys()) links.fanout.joined(member);
    links.owners(config.state());
    this.#role = 'attached';
    const catchUp = (): void => {
      for (const { sequence, changes } of recent) {
        config.configured = sequence;
        handlers.remoteChanges(changes);
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
    await this.membership.join(this.config.log());
    if (this.#role === 'attached') this.#role = 'member';
    this.#parts.migration.acquireSoon();
    this.#parts.probe.start();
    await this.#checkEarlier();
    await this.#announceUrl();
  }

  /** Lets other hubs name the URL of this hub to clients. */
  async #announceUrl(): Promise<void> {
    const { hubName, clientUrl, notice } = this.#options;
    await this.#parts.hints.announce(hubName, clientUrl).catch((error: unknown) => {
      notice(`Cannot announce cluster_client_url: ${(error as Error).message}`);
    });
  }

  /** Makes the later one of two hubs leave that have joined at the same time with different settings. Throws a StartupError. */
  async #checkEarlier(): Promise<void> {
    const { members } = this.config.state();
    const own = members.get(this.#options.incarnation)?.index ?? 0;
    try {
      const earlier = [...members.values()].filter(({ index }) => index < own);
      await checkMembers(earlier, { ...this.#options, notice: () => undefined });
    } catch (error) {
      await this.leave();
      throw error;
    }
  }

  #apply(record: AppliedRecord): void {
    const { config, membership } = this;
    const { migration, ownerClient, commits } = this.#parts;
    const { sequence, body } = record;
    const { before, changes, repartitioned } = config.apply(record);
    const state = config.state();
    migration.apply(record, before);
    this.#report(record, changes);
    this.#writeRepartitioned(repartitioned);
    this.#links?.applied(record, state);
    if (body.kind === 'expel' && membership.isMember) this.status.expelled++;
    membership.record(record, state);
    this.events?.applied();
    this.audit?.applied();
    ownerClient.ownershipChanged();
    commits.hasChanged();
    if (state.version === sequence) this.#ownershipChanged(before);
  }

  /** Reports the changes of a record to the other parts of this hub, once they have the entities. */
  #report({ sequence, body, isOwn }: AppliedRecord, changes: readonly ConfigChange[]): void {
    const { config } = this;
    const handlers = this.#handlers;
    if (handlers === undefined) {
      config.opening.apply({ sequence, changes });
      return;
    }
    config.configured = sequence;
    if (isOwn && changes.length > 0) handlers.committed();
    else handlers.remoteChanges(changes);
    for (const [name, text] of settingsIn(body)) handlers.setting(name, text);
  }

  /** Reacts to a change of ownership. */
  #ownershipChanged(before: ConfigState): void {
    const { migration } = this.#parts;
    migration.forgetArrived();
    this.#handlers?.servesOther();
    migration.acquireSoon();
    if (isSettled(this.config.state()) && !isSettled(before)) void this.durability.tidy();
  }

  /** Writes the rows of objects whose partition has changed, before another hub can get the old partition. */
  #writeRepartitioned(repartitioned: readonly Repartitioned[]): void {
    if (this.#handlers === undefined || !this.#parts.migration.hasState) return;
    const { incarnation } = this.#options;
    const owners = this.config.state().map?.owners ?? [];
    const own = repartitioned.filter(({ from, to }) => owners[from] === incarnation && owners[to] === incarnation);
    if (own.length === 0) return;
    // On failure, the next flush writes them, too.
    this.#handlers.rewrite(objectsOf(own.map(({ kind, id }) => [kind, id]))).catch(() => undefined);
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
    const { isWhole, servers } = this.config.ownership;
    return isWhole && servers.every((server) => server === this.memberId) && this.#parts.ownerClient.isClear();
  }

  /** Whether this hub serves the partition of a name. `servesOther` is called when that may have changed. */
  serves(name: string): boolean {
    return this.#role === 'member' && this.config.serves(name);
  }

  /** Tests whether a trackable is migrating to this hub, or undefined if no trackable is. */
  migratingTrackables(): ((id: string) => boolean) | undefined {
    return this.#parts.migration.migratingTrackables();
  }

  /** Router for locations that this hub receives, some of which may be for its own shards. */
  routesTo(local: LocationRouterOptions['local']): LocationRouter {
    const { remote, memberId: incarnation } = this;
    const { ownership } = this.config;
    const { loads } = this.#parts;
    const isServing = (): boolean => this.#role === 'member';
    return new LocationRouter({ incarnation, ownership, remote, local, isServing, loads });
  }

  /** Hint to a member that serves most locations of a client; undefined once it has left. */
  hintTo(incarnation: string): OwnerHint | undefined {
    return this.#parts.hints.to(incarnation);
  }

  /** Whether this hub is out, so that its state no longer counts. */
  get isOut(): boolean {
    return this.#role === 'out';
  }

  /** Event fan-out to subscribers at other hubs; undefined before `attach`. */
  get fanout(): ClusterFanout | undefined {
    return this.#links?.fanout;
  }

  /** Transfer of motions to the one collision stage; undefined before `attach`. */
  get motions(): ClusterMotions | undefined {
    return this.#links?.motions;
  }

  /** Watches the connection to NATS; the watcher gets the current status first. */
  watch(watcher: (status: BusStatus) => void): void {
    this.#parts.context.bus.watch(watcher);
  }

  /** Whether further steps can be journaled. */
  get hasRoom(): boolean {
    return this.durability.journal.hasRoom;
  }

  /** Whether locations can be journaled. */
  get canKeep(): boolean {
    return this.#parts.canKeep;
  }

  /**
   * Commits changed entities, all or none. Resolves when all hubs have applied them, or with `overtaken` if another hub was
   * first. `settings` are stored with them. Rejects with HUB_UNAVAILABLE if they would move objects and earlier migrations do not
   * complete in time.
   */
  commit(changes: readonly ConfigChange[], settings: readonly SettingText[] = []): Promise<'overtaken' | undefined> {
    return this.#parts.commits.commit(changes, settings);
  }

  /** Whether this hub runs the collision stage, and the other tasks that one hub does for all. */
  get ownsCollisions(): boolean {
    return this.config.state().map?.collisions === this.memberId && this.#role === 'member';
  }

  /** Prepares for shutdown. If nothing can be appended for as long as a request may wait, this hub is out. */
  ending(): void {
    const { holdMs, notice } = this.#options;
    this.#parts.after(holdMs, () => {
      if (this.#role === 'out') return;
      const { lateMs = 0 } = this.#parts.probe;
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
    if (this.#role === 'out') return;
    try {
      if (this.status.standing === 'owner') await this.durability.checkpoints.write();
      await this.#eventsLogged();
      await this.membership.leave({
        finish: () => this.durability.journal.finish(),
        // Everything journaled has been published.
        sealed: () => this.#role !== 'out' && this.#links?.channel.leaving(),
      });
    } catch (error) {
      this.#options.notice(`Others will take over later: ${(error as Error).message}`);
    }
  }

  /** Successors log the rest of the fence events. */
  async #eventsLogged(): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const cancel = this.#parts.after(this.#options.holdMs, resolve);
    const logged = [this.events, this.audit].map((log) => log?.appender.settled().catch(() => undefined));
    await Promise.race([Promise.all(logged), late]);
    cancel();
  }

  async close(): Promise<void> {
    this.#role = 'out';
    this.#parts.close();
    this.#links?.ownerServer.close();
    this.#links?.close();
    await this.#options.bus.close();
  }

  #out(error: Error): void {
    if (this.#role === 'out') return;
    this.#role = 'out';
    this.#parts.stop();
    this.#links?.close();
    this.#parts.commits.hasChanged();
    this.#handlers?.out(error);
  }
}
