import type { Range, Visit } from './history_api.ts';

/** Segment of the strip: one visit. */
interface Piece extends Range {
  readonly visit: Visit;
  /** Line of the strip, since visits of nested fences overlap. */
  readonly lane: number;
}

/** Distributes overlapping visits to lanes, clipped to a range. */
export function lanesOf(
  visits: readonly Visit[],
  { fromMs, toMs }: Range,
): { readonly pieces: readonly Piece[]; readonly count: number } {
  const endsMs: number[] = [];
  const pieces = visits
    .map((visit) => ({
      visit,
      fromMs: Math.max(fromMs, Date.parse(visit.entry_time)),
      toMs: Math.min(toMs, Date.parse(visit.entry_time) + visit.duration_ms),
    }))
    .filter((piece) => piece.toMs >= fromMs && piece.fromMs < toMs)
    .sort((a, b) => a.fromMs - b.fromMs)
    .map((piece) => {
      const free = endsMs.findIndex((endMs) => endMs <= piece.fromMs);
      const lane = free === -1 ? endsMs.length : free;
      endsMs[lane] = piece.toMs;
      return { ...piece, lane };
    });
  return { pieces, count: endsMs.length };
}

/** Stable color of a fence: hue from its id, lightness for contrast in both themes. */
export function colorOf(fenceId: string): string {
  let hash = 0;
  for (let i = 0; i < fenceId.length; i++) hash = (Math.imul(hash, 31) + fenceId.charCodeAt(i)) >>> 0;
  return `oklch(0.58 0.13 ${Math.round((hash * 137.508) % 360)})`;
}
