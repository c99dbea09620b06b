import { useLoaded } from '../controls/use_loaded.ts';
import { hasHistory } from '../hub/settings.ts';
import { fetchDwell, type Range } from './history_api.ts';

/** Number of bars over the length of the time bar. */
const BARS = 24;

/** Entries into fences in a part of the time bar. */
export interface DensityBar extends Range {
  readonly entries: number;
}

/**
 * Parts of a range, aligned to multiples of their length, so that a range that moves on keeps most of them. The first and the
 * last may reach beyond the range.
 */
export function barsOf({ fromMs, toMs }: Range): readonly Range[] {
  const lengthMs = Math.ceil((toMs - fromMs) / BARS);
  const bars: Range[] = [];
  for (let atMs = Math.floor(fromMs / lengthMs) * lengthMs; atMs < toMs; atMs += lengthMs) {
    bars.push({ fromMs: atMs, toMs: atMs + lengthMs });
  }
  return bars;
}

const NO_BARS: readonly DensityBar[] = [];

/** Returns the density of entries into fences over a range, from the history. Empty without permission. */
export function useEventDensity(range: Range): readonly DensityBar[] {
  const isOn = hasHistory('/analytics/dwell');
  const parts = barsOf(range);
  const [fromMs, toMs] = [parts[0]?.fromMs ?? 0, parts.at(-1)?.toMs ?? 0];
  // Playback reports a hub that does not answer.
  const load = (signal: AbortSignal) => (isOn ? fetchBars(parts, signal) : undefined);
  return useLoaded(load, [isOn, fromMs, toMs]) ?? NO_BARS;
}

async function fetchBars(parts: readonly Range[], signal: AbortSignal): Promise<readonly DensityBar[]> {
  const [{ fromMs, toMs: endMs } = { fromMs: 0, toMs: 1 }] = parts;
  const toMs = parts.at(-1)?.toMs ?? endMs;
  const { value } = await fetchDwell({ fromMs, toMs, stepMs: endMs - fromMs, fenceId: undefined }, signal);
  const entries = new Map<number, number>();
  for (const step of value.fences.flatMap(({ steps = [] }) => steps)) {
    const atMs = Date.parse(step.from);
    entries.set(atMs, (entries.get(atMs) ?? 0) + step.entries);
  }
  return parts.map((part) => ({ ...part, entries: entries.get(part.fromMs) ?? 0 }));
}
