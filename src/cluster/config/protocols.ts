/**
 * Versions of the protocol between hubs. Each hub states in its `join` which it reads and writes. A cluster begins with the
 * first; once all members have the next, the first member appends a record, and all hubs write that version from then on.
 *
 * There is no way back: the record that raises the version is written in the new one, and a hub that cannot read a record or
 * a snapshot does not start, and does not stay. So a hub without the new version finds that record, or a snapshot after it,
 * before it joins; or it has joined before the record, which is then not written.
 */
export const PROTOCOLS: readonly number[] = [1];
