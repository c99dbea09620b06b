import type { ObjectIds } from '../core/item.ts';
import type { ClusterLinks } from './cluster_links.ts';
import { type ClusterRole, ClusterStatus } from './cluster_status.ts';
import { ClusterConfig } from './config/cluster_config.ts';
import { isSettled } from './config/config_state.ts';
import { EntityCommits } from './config/entity_commits.ts';
import { PROTOCOLS } from './config/protocols.ts';
import { type ClusterContext, contextOf } from './context.ts';
import { Durability, type DurabilityOptions, makeJournal } from './durability.ts';
import { JournalProbe } from './membership/journal_probe.ts';
import { ClusterMembership } from './membership/membership.ts';
import { ClusterEvents } from './events/cluster_events.ts';
import { auditName } from './events/log_stream.ts';
import { FailedMembers } from './migration/failed_members.ts';
import { PartitionMigration } from './migration/partition_migration.ts';
import { OwnerHints } from './routing/owner_hints.ts';
import { PartitionLoads } from './routing/partition_loads.ts';
import { RemoteShards } from './routing/remote_shards.ts';
import { MemberQueries } from './rpc/member_query.ts';
import { OwnerClient } from './rpc/owner_client.ts';

export interface ClusterOptions extends DurabilityOptions {
  readonly suspectMs: number;
  /** Number of partitions if this hub creates the cluster. */
  readonly partitions: number;
  /** Most hubs that may own objects at the same time; all of them when left out. */
  readonly ownersMax?: number;
  /** Time that a request waits for an owner. */
  readonly holdMs: number;
  /** URL at which clients reach this hub. */
  readonly clientUrl?: string;
  /** Number of locations that may wait for an owner. */
  readonly capacity: number;
}

/** The cluster that parts belong to. */
export interface PartsHost {
  role(): ClusterRole;
  /** Undefined before `attach`. */
  links(): ClusterLinks | undefined;
  /** All objects that the shards hold or were notified of. */
  objects(): ObjectIds;
  /** This hub cannot go on, and is out. */
  out(error: Error): void;
}

/** The parts of a cluster that exist from its opening on, and what each needs of the others. */
export class ClusterParts {
  readonly context: ClusterContext;
  readonly config: ClusterConfig;
  readonly commits: EntityCommits;
  readonly durability: Durability;
  /** Undefined without an event log. */
  readonly events: ClusterEvents | undefined;
  readonly audit: ClusterEvents | undefined;
  readonly probe: JournalProbe;
  readonly membership: ClusterMembership;
  readonly hints: OwnerHints;
  readonly loads: PartitionLoads;
  readonly ownerClient: OwnerClient;
  readonly failed: FailedMembers;
  readonly migration: PartitionMigration;
  readonly remote: RemoteShards;
  readonly gather: MemberQueries;
  readonly status: ClusterStatus;
  readonly #host: PartsHost;
  readonly #timers = new Set<() => void>();

  constructor(options: ClusterOptions, host: PartsHost) {
    const context = contextOf(options);
    const { bus, incarnation } = context;
    const { holdMs, capacity } = options;
    const { role, out } = host;
    const config = new ClusterConfig(context);
    const { state, applied, reached, partitionOf, isOwn, partitions, ownership } = config;
    const { after } = this;
    const isServing = (): boolean => role() === 'member';
    this.#host = host;
    this.context = context;
    this.config = config;
    this.hints = new OwnerHints(config);
    this.loads = new PartitionLoads({ ...context, partitionOf });
    this.commits = new EntityCommits({
      ...{ ...context, partitions, log: config.log, state },
      appliedByAll: (sequence, timeoutMs) => this.membership.appliedByAll(sequence, timeoutMs),
      isOut: () => role() === 'out',
    });
    this.durability = new Durability(options, {
      ...{ isOwn, isServing, out },
      partitionOf: (kind, id) => this.migration.leavingFrom(kind, id) ?? partitionOf(kind, id),
      isSettled: () => isSettled(state()),
      hasState: () => this.migration.hasState,
      isAcquiring: () => this.migration.isAcquiring,
      arrived: () => this.migration.arrived(),
      eventsPendingFrom: () => this.events?.appender.pendingFrom ?? Infinity,
    });
    const { journal, checkpoints } = this.durability;
    const barrier = (): Promise<void> => journal.barrier();
    this.events =
      options.eventLog &&
      new ClusterEvents({
        ...context,
        journaledFrom: () => journal.neededFrom,
        isFirst: () => role() === 'member' && this.membership.isFirst,
      });
    this.audit =
      options.auditLog &&
      new ClusterEvents({
        ...{ ...context, name: auditName(context.name) },
        // No step of the journal has audit entries.
        journaledFrom: () => Number.POSITIVE_INFINITY,
        isFirst: () => role() === 'member' && this.membership.isFirst,
      });
    this.probe = new JournalProbe({ ...context, barrier, committed: () => this.durability.trimIdle() });
    this.membership = new ClusterMembership({
      ...{ ...context, barrier, protocols: PROTOCOLS },
      room: () => (this.canKeep ? capacity : 0),
      digest: options.digest,
      suspectMs: options.suspectMs,
      partitions: options.partitions,
      ...(options.ownersMax !== undefined && { ownersMax: options.ownersMax }),
      makeJournal: (of) => makeJournal(options, of),
      loads: () => this.loads.measured(),
      onMap: () => this.migration.acquireSoon(),
      out: () => out(new Error('Another hub has expelled this one')),
    });
    this.ownerClient = new OwnerClient({
      ...{ ...context, ownership, applied, reached, holdMs, capacity },
      isMember: (of) => state().members.has(of),
      localOwner: {
        forwarded: (bytes, handedOver) => (host.links() as ClusterLinks).ownerServer.forwarded(bytes, handedOver),
        asked: (bytes) => (host.links() as ClusterLinks).ownerServer.asked(bytes),
      },
    });
    this.failed = new FailedMembers({
      ...{ ...context, holdMs, state, isOwn, after },
      forgotten: async (of) => {
        await config.log().append({ kind: 'took', by: incarnation, of, partitions: [] });
      },
    });
    this.migration = new PartitionMigration({
      ...{ ...context, checkpoints, journal, dead: this.failed, partitionOf, state, isOwn, isServing, out, after },
      events: this.events,
      objectsIn: (partitions, behind, located) =>
        config.objectsIn({ partitions, known: host.objects(), behind, located }),
      deletedIn: (partitions) => config.partitions.deletedIn(partitions, host.objects()),
      configured: () => config.configured,
      releasedElsewhere: (from, sequence) => this.ownerClient.released(from, sequence),
      applied: (sequence) => reached(sequence, holdMs),
      writeState: () => this.durability.writeState(),
      noteConfig: () => journal.noteConfig(),
      append: (body) => config.log().append(body),
      change: (ms) => this.commits.change(ms),
      hasChanged: () => this.commits.hasChanged(),
      isUp: () => bus.isUp,
    });
    this.remote = new RemoteShards(this.ownerClient);
    this.gather = new MemberQueries({ ...context, members: () => this.membership.members });
    this.status = new ClusterStatus({
      ...{ ...context, config, hints: this.hints, journal, membership: this.membership, probe: this.probe },
      ...{ migration: this.migration, ownerClient: this.ownerClient, role, links: host.links },
    });
  }

  /** Whether locations can be journaled. */
  get canKeep(): boolean {
    return this.#host.role() === 'member' && this.durability.journal.hasRoom && this.context.bus.isUp;
  }

  /** Calls back after a delay, unless the cluster closes before. Returns a function that cancels it. */
  readonly after = (delayMs: number, callback: () => void): (() => void) => {
    const calledOff = this.context.schedule(delayMs, () => {
      this.#timers.delete(cancel);
      callback();
    });
    const cancel = (): void => {
      this.#timers.delete(cancel);
      calledOff();
    };
    this.#timers.add(cancel);
    return cancel;
  };

  /** Stops all that would still exchange something with other hubs. */
  stop(): void {
    this.probe.stop();
    this.membership.close();
    // Pending appends cannot succeed. A successor may have deleted the streams, so nothing else would report it.
    this.durability.journal.close();
    this.events?.close();
    this.audit?.close();
    this.ownerClient.close();
    this.durability.checkpoints.close();
    this.gather.close();
    this.config.close();
  }

  /** Cancels all timers. */
  close(): void {
    for (const cancel of this.#timers) cancel();
    this.stop();
  }
}
