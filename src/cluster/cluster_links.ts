import type { ObjectIds } from '../core/item.ts';
import type { CarriedRpc } from '../rpc/carrier.ts';
import type { ClusterContext } from './context.ts';
import { Channel } from './channel/channel.ts';
import { ClusterMotions, type LocalStage } from './collisions/cluster_motions.ts';
import type { ConfigChange } from './config/config_changes.ts';
import type { AppliedRecord } from './config/config_log.ts';
import { acquisitions, type ConfigState } from './config/config_state.ts';
import type { EntityText } from './config/snapshot_messages.ts';
import { ClusterFanout, type ClusterFanoutOptions } from './fanout/cluster_fanout.ts';
import { ProtocolErrors } from './messages/protocol_errors.ts';
import { ClusterRpc } from './rpc/cluster_rpc.ts';
import type { MemberQueries } from './rpc/member_query.ts';
import type { MigrationHandlers } from './migration/partition_migration.ts';
import { OwnerServer, type OwnerServerOptions } from './rpc/owner_server.ts';

/** Functions of the hub that a cluster uses. */
export interface ClusterHandlers extends MigrationHandlers {
  /**
   * Reports the changes of a record that does not belong to a commit of this hub; empty for a record that changes no entities.
   */
  remoteChanges(changes: readonly ConfigChange[]): void;
  /** Reports a setting after each record that has changed it; null if it is deleted. */
  setting(name: string, text: string | null): void;
  /** The record of the running commit has arrived. */
  committed(): void;
  /** All entities as JSON, in order of creation. */
  entities(): Iterable<EntityText>;
  /** All objects that the shards hold or were notified of. */
  objects(): ObjectIds;
  /** Handlers of requests to this hub as an owner. */
  readonly owned: Pick<OwnerServerOptions, 'hasCapacity' | 'take' | 'ask' | 'forget' | 'settled'>;
  readonly fanout: ClusterFanoutOptions['fanout'];
  readonly published: ClusterFanoutOptions['published'];
  readonly announce: ClusterFanoutOptions['announce'];
  readonly stage: LocalStage;
  /** Ownership has changed. */
  servesOther(): void;
  /** This hub is out of its cluster. */
  out(error: Error): void;
}

export interface ClusterLinksOptions {
  readonly context: ClusterContext;
  readonly gather: MemberQueries;
  readonly handlers: Pick<ClusterHandlers, 'fanout' | 'published' | 'announce' | 'stage'>;
  readonly server: Omit<OwnerServerOptions, keyof ClusterContext>;
}

/**
 * What this hub exchanges with the other members once it has the entities: events and motions on one channel, requests to it as
 * an owner, and remote procedure calls. Each part learns from the records which members there are, and what they own.
 */
export class ClusterLinks {
  readonly channel: Channel;
  readonly fanout: ClusterFanout;
  readonly motions: ClusterMotions;
  readonly ownerServer: OwnerServer;
  readonly #options: ClusterLinksOptions;
  #rpc: ClusterRpc | undefined;

  constructor(options: ClusterLinksOptions) {
    const { context, handlers, server } = options;
    this.#options = options;
    const malformed = new ProtocolErrors('events and motions', context.notice);
    this.channel = new Channel({ ...context, malformed });
    const common = { ...context, channel: this.channel };
    this.fanout = new ClusterFanout({ ...common, ...handlers });
    this.motions = new ClusterMotions({ ...common, stage: handlers.stage });
    this.ownerServer = new OwnerServer({ ...context, ...server });
  }

  /** Connects remote procedure calls of this hub with the handlers of all hubs, and back. */
  carry(rpc: CarriedRpc): void {
    this.#rpc = new ClusterRpc({ ...this.#options.context, rpc });
  }

  /** Resolves when other hubs can reach this one. */
  async ready(): Promise<void> {
    const { gather } = this.#options;
    await Promise.all([
      ...[this.fanout.ready(), this.motions.ready(), this.#rpc?.ready()],
      ...[this.ownerServer.ready, gather.ready],
    ]);
  }

  /** Number of malformed messages, which were skipped. */
  get protocolErrors(): number {
    const all = [this.channel, this.fanout, this.motions, this.#rpc, this.ownerServer];
    return all.reduce((sum, part) => sum + (part?.malformed.count ?? 0), 0);
  }

  /** Takes each record, after which the configuration is `state`. */
  applied({ sequence, body }: AppliedRecord, state: ConfigState): void {
    if (body.kind === 'join') this.fanout.joined(body.incarnation);
    if (body.kind === 'expel' || body.kind === 'leave') this.#gone(body.incarnation);
    if (body.kind === 'expel' || body.kind === 'leave' || body.kind === 'map') {
      this.owners(state);
      const { partitions } = acquisitions(state, this.#options.context.incarnation);
      if (partitions.some(({ isMember }) => !isMember)) this.channel.tookAfter(sequence);
    }
    this.channel.applied(sequence);
  }

  /** Sets the owners of the partitions and of the collision stage. */
  owners({ map }: ConfigState): void {
    const { owners = [], collisions } = map ?? {};
    this.fanout.owners(new Set(collisions === undefined ? owners : [...owners, collisions]));
    if (collisions === undefined) return;
    this.motions.stageOwner(collisions);
    this.motions.owners(new Set(owners));
  }

  close(): void {
    this.channel.close();
    this.fanout.close();
    this.motions.close();
    this.#rpc?.close();
  }

  #gone(member: string): void {
    this.fanout.gone(member);
    this.motions.gone(member);
    this.#rpc?.gone(member);
    this.#options.gather.gone(member);
    this.ownerServer.forgetIngress(member);
  }
}
