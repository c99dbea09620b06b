import type { Range, Visit } from './history_api.ts';

/** A visit as a piece of a strip. */
interface Piece extends Range {
  readonly visit: Visit;
  /** Which line it is on: fences may lie in each other, so that one is in several at once. */
  readonly lane: number;
}

/** Puts visits that overlap into lanes below each other, cut to a range. */
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

/** A color for a fence, the same each time: a hue by its id, of a lightness that stands out in both themes. */
export function colorOf(fenceId: string): string {
  let hash = 0;
  for (let i = 0; i < fenceId.length; i++) hash = (Math.imul(hash, 31) + fenceId.charCodeAt(i)) >>> 0;
  return `oklch(0.58 0.13 ${Math.round((hash * 137.508) % 360)})`;
}
