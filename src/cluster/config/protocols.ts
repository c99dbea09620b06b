/**
 * Protocol versions of messages between hubs. The `join` of a hub lists the versions that it reads and writes. A cluster starts
 * with version 1. As soon as all members support the next version, the first member appends a record that switches to it.
 *
 *   version   adds
 *   -------   ------------------------------------------------------------------------------------------------------
 *   1         one member owns everything
 *   2         several members own partitions, and hand them over: `regroup`, `arrived`, and snapshots that include both
 *
 * A cluster never goes back to an older version. The record that raises the version is written in the new one, as is
 * everything that older hubs cannot read. A hub that cannot read a record or a snapshot does not start, or leaves. So a hub
 * of a release with only version 1 never joins a cluster with several owners: before it joins it finds that record, or a later
 * snapshot. If it joined before that record, the record is not written.
 */
export const PROTOCOLS: readonly number[] = [1, 2];

/** From this version on several members may own partitions. */
export const SEVERAL_OWNERS = 2;
