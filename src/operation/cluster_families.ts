import { type Family, metric, metricBy } from './metrics.ts';

/** Counters of a hub as a cluster member, since it joined. */
export interface ClusterNumbers {
  readonly isOwner: boolean;
  /** Number of object partitions that it owns. */
  readonly partitions: number;
  /** Sequence number of the last applied configuration record. */
  readonly applied: number;
  /** Committed appends to the journal, and their total latency. */
  readonly appends: { readonly count: number; readonly ms: number };
  /** Bytes waiting to be committed. */
  readonly heldBytes: number;
  /** Number of locations processed by another member. */
  readonly forwarded: number;
  /** Number of requests that were sent to a former owner. */
  readonly moved: number;
  readonly takeovers: number;
  readonly lastTakeoverMs: number;
  /** Number of expelled members. */
  readonly expelled: number;
  /** Number of times that events of other hubs were lost. */
  readonly framesLost: number;
  /** Number of malformed messages of other hubs. */
  readonly protocolErrors: number;
  readonly members: readonly {
    readonly name: string;
    readonly isSelf: boolean;
    readonly aheadMs: number | undefined;
  }[];
}

/** Returns the metrics of a cluster member. */
export function clusterFamilies(counts: () => ClusterNumbers): readonly Family[] {
  const own = (name: string, help: string, value: (of: ClusterNumbers) => number) =>
    metric(name, help, () => value(counts()));
  return [
    own('hub_cluster_members', 'Hubs in the cluster, this one included.', ({ members }) => members.length),
    own('hub_cluster_owner', 'Whether this hub owns objects.', ({ isOwner }) => (isOwner ? 1 : 0)),
    own('hub_cluster_partitions', 'How many of the 256 partitions it owns.', ({ partitions }) => partitions),
    own('hub_cluster_applied_sequence', 'The last configuration record that is applied.', ({ applied }) => applied),
    own('hub_cluster_appends_total', 'Committed appends to the journal.', ({ appends }) => appends.count),
    own(
      'hub_cluster_append_seconds_total',
      'Total time until appends were committed.',
      ({ appends }) => appends.ms / 1000,
    ),
    own('hub_cluster_held_bytes', 'Bytes waiting to be committed to the journal.', ({ heldBytes }) => heldBytes),
    own(
      'hub_cluster_forwarded_total',
      'Locations received here and processed by another hub.',
      ({ forwarded }) => forwarded,
    ),
    own('hub_cluster_moved_total', 'Requests to a former owner.', ({ moved }) => moved),
    own('hub_cluster_takeovers_total', 'Takeovers by this hub.', ({ takeovers }) => takeovers),
    own(
      'hub_cluster_takeover_seconds',
      'Duration of the last takeover by this hub.',
      ({ lastTakeoverMs }) => lastTakeoverMs / 1000,
    ),
    own('hub_cluster_expelled_total', 'Hubs that were expelled.', ({ expelled }) => expelled),
    own(
      'hub_cluster_frames_lost_total',
      'How often events of other hubs were lost, and subscriptions to them closed.',
      ({ framesLost }) => framesLost,
    ),
    own(
      'hub_cluster_protocol_errors_total',
      'Malformed messages of other hubs, which were skipped.',
      ({ protocolErrors }) => protocolErrors,
    ),
    metricBy(
      'hub',
      'hub_cluster_clock_difference_ms',
      'By how much the clock of another hub is ahead of the clock of this one.',
      () => differences(counts()),
    ),
  ];
}

function differences({ members }: ClusterNumbers): [name: string, ms: number][] {
  return members.flatMap(({ name, isSelf, aheadMs }) => (isSelf || aheadMs === undefined ? [] : [[name, aheadMs]]));
}
