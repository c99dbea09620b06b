import type { CarriedRpc } from '../rpc/carrier.ts';
import { Channel } from './channel/channel.ts';
import { ClusterMotions, type LocalStage } from './collisions/cluster_motions.ts';
import type { AppliedRecord } from './config/config_log.ts';
import { acquisitions, type ConfigState } from './config/config_state.ts';
import { ClusterFanout, type ClusterFanoutOptions } from './fanout/cluster_fanout.ts';
import { ProtocolErrors } from './messages/protocol_errors.ts';
import { ClusterRpc } from './rpc/cluster_rpc.ts';
import type { MemberQueries } from './rpc/member_query.ts';
import { type OwnerServer, type OwnerServerOptions, openOwnerServer } from './rpc/owner_server.ts';

export interface ClusterLinksOptions extends Pick<ClusterFanoutOptions, 'bus' | 'name' | 'notice' | 'schedule'> {
  /** Member id of this hub. */
  readonly incarnation: string;
  readonly gather: MemberQueries;
  readonly handlers: Pick<ClusterFanoutOptions, 'fanout' | 'announce'> & { readonly stage: LocalStage };
  readonly server: Omit<OwnerServerOptions, 'bus' | 'name' | 'incarnation' | 'notice' | 'schedule'>;
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
    const { bus, name, incarnation, notice, schedule, handlers, server } = options;
    this.#options = options;
    const malformed = new ProtocolErrors('events and motions', notice);
    this.channel = new Channel({ bus, name, self: incarnation, malformed, schedule });
    const common = { bus, channel: this.channel, name, self: incarnation, notice, schedule };
    this.fanout = new ClusterFanout({ ...common, ...handlers });
    this.motions = new ClusterMotions({ ...common, stage: handlers.stage });
    this.ownerServer = openOwnerServer({ bus, name, incarnation, notice, schedule, ...server });
  }

  /** Connects remote procedure calls of this hub with the handlers of all hubs, and back. */
  carry(rpc: CarriedRpc): void {
    const { bus, name, incarnation: self, notice, schedule } = this.#options;
    this.#rpc = new ClusterRpc({ bus, name, self, rpc, notice, schedule });
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
    return all.reduce((sum, part) => sum + (part?.protocolErrors ?? 0), 0);
  }

  /** Takes each record, after which the configuration is `state`. */
  applied({ sequence, body }: AppliedRecord, state: ConfigState): void {
    if (body.kind === 'join') this.fanout.joined(body.incarnation);
    if (body.kind === 'expel' || body.kind === 'leave') this.#gone(body.incarnation);
    if (body.kind === 'expel' || body.kind === 'leave' || body.kind === 'map') {
      this.owners(state);
      const { partitions } = acquisitions(state, this.#options.incarnation);
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
