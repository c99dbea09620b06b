import type { LinkState } from '../model/link.ts';
import { formatTime } from '../model/time.ts';
import type { Inflow } from './inflow.ts';
import type { LinkEvents } from './link_events.ts';
import type { LinkConnection, LinkPhase } from './link_machine.ts';
import type { MirrorCounts } from './mirror.ts';
import type { Passage, PassageCounts } from './passage.ts';

/** Parts of a link whose state is shown. */
export interface ShownLink {
  readonly connection: LinkConnection;
  readonly passage: Passage | undefined;
  readonly inflow: Inflow;
  readonly events: LinkEvents;
  readonly mirrored: (MirrorCounts & { readonly atMs: number }) | undefined;
  readonly last: { readonly receivedMs: number; readonly lagMs: number } | undefined;
  /** Messages that are not of the protocol. */
  readonly malformed: number;
}

interface Clock {
  /** Monotonic time. */
  now(): number;
  wallClockTime(monotonicMs: number): number;
}

const STATUS: Readonly<Record<LinkPhase['at'], LinkState['status']>> = {
  stopped: 'elsewhere',
  self: 'self',
  identifying: 'connecting',
  opening: 'connecting',
  subscribing: 'connecting',
  live: 'connected',
  waiting: 'waiting',
};
const NONE: PassageCounts = { received: 0, duplicates: 0, looped: 0, superseded: 0, malformed: 0, originChanges: 0 };

/** Returns the state of a link as clients see it. */
export function stateOf(
  { connection, passage, inflow, events, mirrored, last, malformed }: ShownLink,
  { now, wallClockTime }: Clock,
): LinkState {
  const { phase, sinceMs, peer, error, outage, readMs } = connection;
  const time = (ms: number | undefined) => (ms === undefined ? undefined : formatTime(Math.floor(wallClockTime(ms))));
  const isDown = outage !== undefined && outage.toMs === undefined;
  const items = passage?.counts ?? NONE;
  const { counts, passed, gaps } = events;
  return withoutUndefined({
    status: STATUS[phase.at],
    since: time(sinceMs),
    hub_id: peer?.hubId,
    hub_name: peer?.hubName,
    last_error: error?.why,
    reason: error?.problem?.reason,
    params: error?.problem?.params,
    last_error_at: time(error?.atMs),
    down_from: time(outage?.fromMs),
    down_to: time(outage?.toMs),
    read_at: time(readMs),
    mirrored_at: time(mirrored?.atMs),
    mirrored: mirrored?.mirrored,
    not_mirrored: mirrored?.notMirrored,
    last_received: time(last?.receivedMs),
    lag_ms: isDown ? Math.round(now() - outage.fromMs) : last?.lagMs,
    received: items.received + passed.received,
    accepted: inflow.counts.accepted + counts.accepted,
    duplicates: items.duplicates + passed.duplicates,
    looped: items.looped + passed.looped,
    superseded: items.superseded + inflow.counts.superseded,
    rejected: inflow.counts.rejected + counts.rejected,
    dropped: inflow.counts.dropped + counts.dropped,
    queued: inflow.size + (passage?.held ?? 0) + events.size,
    malformed: malformed + items.malformed + passed.malformed,
    origin_changes: items.originChanges,
    event_gaps: gaps.count,
    event_gap_at: time(gaps.lastMs),
  });
}

function withoutUndefined<T extends object>(value: { readonly [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined)) as T;
}
