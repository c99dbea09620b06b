/**
 * The versions of what hubs write to each other. Each hub says in its `join` which it reads and writes. A cluster begins with
 * the first; once all members have the next, the first of them says in the log that everybody writes that from now on.
 *
 *   version   what is new
 *   -------   ------------------------------------------------------------------------------------------------------
 *   1         one member owns everything
 *   2         several members own partitions, and hand them over: `regroup`, `arrived`, and snapshots that tell of both. Fence
 *             events are recorded with their steps, and announced again when their owner is gone
 *
 * There is no way back: the record that raises the version, and whatever older hubs would not understand, is written in the new
 * one, and who cannot read a record or a snapshot does not start, and does not stay. So a hub of a release that has only
 * version 1 never joins a cluster that has several owners: it finds that record, or a snapshot behind it, before it joins, or
 * it has joined before the record, which is then not written.
 */
export const PROTOCOLS: readonly number[] = [1, 2];

/** From this version on several members may own partitions. */
export const SEVERAL_OWNERS = 2;

/** From this version on owners record their fence events, so that these can be announced again. */
export const RECORDS_FENCE_EVENTS = 2;
