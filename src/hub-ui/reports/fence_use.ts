import type { Static } from 'typebox';
import type { DwellReply, OccupancyReply } from '../../model/history_replies.ts';

/** Use of a fence in a time range. */
export interface FenceUse {
  readonly fenceId: string;
  /** Visits that overlap the range, with an exit or without. */
  readonly visits: number;
  /** Visits that began in the range. */
  readonly entries: number;
  readonly objects: number;
  /** Undefined without a visit that has ended. */
  readonly medianMs: number | undefined;
  readonly p95Ms: number | undefined;
  /** Time of all visits within the range. */
  readonly totalMs: number;
  /** Mean number of objects inside. */
  readonly mean: number;
  /** Highest number of objects in any sample. */
  readonly most: number;
  /** Share of the samples with an object inside, 0 to 1. */
  readonly usedShare: number;
}

/** Answers of the hub about the same range. */
export interface UseAnswers {
  readonly dwell: Static<typeof DwellReply>;
  readonly occupancy: Static<typeof OccupancyReply>;
}

/** Combines dwell times and samples of occupancy per fence. */
export function fenceUses(
  { dwell, occupancy }: UseAnswers,
  { fromMs, toMs }: { readonly fromMs: number; readonly toMs: number },
): readonly FenceUse[] {
  const samples = new Map(occupancy.fences.map(({ fence_id: id, samples: each }) => [id, each]));
  return dwell.fences.map((fence): FenceUse => {
    const counts = (samples.get(fence.fence_id) ?? []).map(({ count }) => count);
    const totalMs = fence.total_ms + fence.open_ms;
    return {
      fenceId: fence.fence_id,
      visits: fence.visits + fence.open_visits,
      entries: fence.entries,
      objects: fence.objects,
      medianMs: fence.median_ms ?? undefined,
      p95Ms: fence.p95_ms ?? undefined,
      totalMs,
      mean: toMs > fromMs ? totalMs / (toMs - fromMs) : 0,
      most: Math.max(0, ...counts),
      usedShare: counts.length === 0 ? 0 : counts.filter((count) => count > 0).length / counts.length,
    };
  });
}
