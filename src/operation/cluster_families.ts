import { type Family, labelled, single } from './metrics.ts';

/** What a hub counts as one of several, since it has joined. */
export interface ClusterNumbers {
  readonly isOwner: boolean;
  /** How many partitions of the objects it owns. */
  readonly partitions: number;
  /** The configuration sequence that it has applied. */
  readonly applied: number;
  /** Appends to the journal that were kept, and how long those who asked for them have waited in all. */
  readonly appends: { readonly count: number; readonly ms: number };
  /** Bytes that wait to be kept. */
  readonly heldBytes: number;
  /** Locations that were processed elsewhere. */
  readonly forwarded: number;
  /** How often somebody was asked who was not the owner. */
  readonly moved: number;
  readonly takeovers: number;
  readonly lastTakeoverMs: number;
  /** Members that were expelled. */
  readonly expelled: number;
  /** How often events of other hubs were lost. */
  readonly framesLost: number;
  /** Messages of other hubs about remote procedure calls that could not be used. */
  readonly rpcProtocolErrors: number;
  readonly members: readonly {
    readonly name: string;
    readonly isSelf: boolean;
    readonly aheadMs: number | undefined;
  }[];
}

/** Metrics of a hub that is one of several; a hub that is alone has none of them. */
export function clusterFamilies(counts: () => ClusterNumbers): readonly Family[] {
  const gauge = (name: string, help: string, value: (of: ClusterNumbers) => number): Family => {
    return { name, help, kind: 'gauge', labels: [], read: () => single(value(counts())) };
  };
  const counter = (name: string, help: string, value: (of: ClusterNumbers) => number): Family => {
    return { ...gauge(name, help, value), kind: 'counter' };
  };
  return [
    gauge('hub_cluster_members', 'Hubs in the cluster, this one included.', ({ members }) => members.length),
    gauge('hub_cluster_owner', 'Whether this hub owns objects.', ({ isOwner }) => (isOwner ? 1 : 0)),
    gauge('hub_cluster_partitions', 'How many of the 256 partitions it owns.', ({ partitions }) => partitions),
    gauge('hub_cluster_applied_sequence', 'The last configuration record that is applied.', ({ applied }) => applied),
    counter('hub_cluster_appends_total', 'Appends to the journal that were kept.', ({ appends }) => appends.count),
    counter(
      'hub_cluster_append_seconds_total',
      'Time that appends have waited until they were kept, all together.',
      ({ appends }) => appends.ms / 1000,
    ),
    gauge('hub_cluster_held_bytes', 'What waits to be kept in the journal.', ({ heldBytes }) => heldBytes),
    counter(
      'hub_cluster_forwarded_total',
      'Locations that came in here and were processed elsewhere.',
      ({ forwarded }) => forwarded,
    ),
    counter('hub_cluster_moved_total', 'Requests to a hub that was not the owner any more.', ({ moved }) => moved),
    counter('hub_cluster_takeovers_total', 'How often this hub has taken over.', ({ takeovers }) => takeovers),
    gauge(
      'hub_cluster_takeover_seconds',
      'How long the last takeover of this hub has taken.',
      ({ lastTakeoverMs }) => lastTakeoverMs / 1000,
    ),
    counter('hub_cluster_expelled_total', 'Hubs that were expelled.', ({ expelled }) => expelled),
    counter(
      'hub_cluster_frames_lost_total',
      'How often events of other hubs were lost, and subscriptions to them ended.',
      ({ framesLost }) => framesLost,
    ),
    counter(
      'hub_cluster_rpc_refused_total',
      'Messages of other hubs about remote procedure calls that were refused.',
      ({ rpcProtocolErrors }) => rpcProtocolErrors,
    ),
    {
      name: 'hub_cluster_clock_difference_ms',
      help: 'By how much the clock of another hub is ahead of the clock of this one.',
      kind: 'gauge',
      labels: ['hub'],
      read: () => labelled('hub', differences(counts())),
    },
  ];
}

function differences({ members }: ClusterNumbers): [name: string, ms: number][] {
  return members.flatMap(({ name, isSelf, aheadMs }) => (isSelf || aheadMs === undefined ? [] : [[name, aheadMs]]));
}
