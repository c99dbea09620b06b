import type { ClusterHealth, ClusterOwners, ProviderOwner } from '../model/health.ts';
import { type Problem, problemOf } from '../problem.ts';
import type { ClusterContext } from './context.ts';
import type { ClusterLinks } from './cluster_links.ts';
import type { ClusterConfig } from './config/cluster_config.ts';
import type { StepJournal } from './journal/step_journal.ts';
import type { JournalProbe } from './membership/journal_probe.ts';
import type { ClusterMembership } from './membership/membership.ts';
import { partitionsOf } from './membership/partition_map.ts';
import type { PartitionMigration } from './migration/partition_migration.ts';
import type { OwnerHints } from './routing/owner_hints.ts';
import type { OwnerClient } from './rpc/owner_client.ts';

/** See Cluster. */
export type ClusterRole = 'opening' | 'attached' | 'member' | 'out';

export interface ClusterStatusOptions extends Pick<ClusterContext, 'bus' | 'name' | 'hubName' | 'incarnation'> {
  readonly config: ClusterConfig;
  readonly hints: OwnerHints;
  readonly journal: StepJournal;
  readonly membership: ClusterMembership;
  readonly migration: PartitionMigration;
  readonly ownerClient: OwnerClient;
  readonly probe: JournalProbe;
  role(): ClusterRole;
  links(): ClusterLinks | undefined;
}

/** Status of the cluster as this hub sees it, for the API and for metrics. */
export class ClusterStatus {
  /** Number of members that were expelled while this hub was one. */
  expelled = 0;
  readonly #of: ClusterStatusOptions;

  constructor(of: ClusterStatusOptions) {
    this.#of = of;
  }

  /** Role of this hub, as the API names it. */
  get standing(): ClusterHealth['standing'] {
    const { incarnation, config, role } = this.#of;
    if (role() === 'out') return 'out';
    if (role() !== 'member') return 'joining';
    if (config.ownership.servers.includes(incarnation)) return 'owner';
    return config.state().map?.owners.includes(incarnation) === true ? 'taking_over' : 'standby';
  }

  /** Reason why this hub serves no requests although others could; undefined while it does. */
  get problem(): Problem | undefined {
    const { bus, journal, membership, probe, role } = this.#of;
    if (role() === 'out') return problemOf('cannot_serve_out');
    if (!membership.isMember) return problemOf('cannot_serve_joining');
    const { lateMs } = probe;
    if (lateMs === undefined) return undefined;
    const count = Math.round(lateMs);
    if (journal.isFull) return problemOf('cannot_serve_journal_full', { count });
    return problemOf(bus.isUp ? 'cannot_serve_journal' : 'cannot_serve_nats', { count });
  }

  /** Health of the cluster, as in the API. */
  health(): ClusterHealth {
    const { name, hubName, incarnation, bus, config, journal, membership, migration } = this.#of;
    const { members, map } = membership;
    const { problem } = this;
    const { count: takeovers, lastMs } = migration.takeovers;
    const ownerName = members.find((member) => partitionsOf(map, member.incarnation) === map?.owners.length)?.name;
    return {
      name,
      hub_name: hubName,
      incarnation,
      standing: this.standing,
      ...(problem && { problem: String(problem), reason: problem.reason, params: problem.params }),
      ...(ownerName !== undefined && { owner: ownerName }),
      settled: config.isWhole,
      nats_connected: bus.isUp,
      applied_sequence: config.applied(),
      journal_waiting_bytes: journal.heldBytes,
      ...(map !== undefined && { partitions: map.owners.length }),
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

  /** Owners of all partitions, as in the API. */
  owners(): ClusterOwners {
    const { version, serverOfEach } = this.#of.config.ownership;
    const owners = serverOfEach.map((of) => this.#nameOf(of));
    return { version, hash: 'fnv1a-32', owners, urls: this.#of.hints.urlsOf(owners) };
  }

  /** Owner of a provider, as in the API. */
  ownerOf(providerId: string): ProviderOwner {
    const { config, hints } = this.#of;
    const { ownership, partitionOf } = config;
    const owner = this.#nameOf(ownership.serverOf('provider', providerId));
    const url = owner === null ? undefined : hints.urlsOf([owner])[owner];
    return {
      version: ownership.version,
      provider_id: providerId,
      partition: partitionOf('provider', providerId),
      owner,
      ...(url !== undefined && { url }),
    };
  }

  #nameOf(incarnation: string | undefined): string | null {
    return (incarnation !== undefined && this.#of.config.state().members.get(incarnation)?.name) || null;
  }

  /** Values for metrics. */
  counts() {
    const { incarnation, journal, membership, migration, ownerClient } = this.#of;
    const { forwarded, moved } = ownerClient.gauges;
    const { count: takeovers, lastMs: lastTakeoverMs } = migration.takeovers;
    const links = this.#of.links();
    return {
      ...{ forwarded, moved, takeovers, lastTakeoverMs },
      isOwner: this.standing === 'owner',
      partitions: partitionsOf(membership.map, incarnation),
      applied: this.#of.config.applied(),
      appends: journal.appends,
      heldBytes: journal.heldBytes,
      expelled: this.expelled,
      framesLost: links?.fanout.losses ?? 0,
      protocolErrors: membership.malformed.count + (links?.protocolErrors ?? 0),
      members: membership.members,
    };
  }
}
