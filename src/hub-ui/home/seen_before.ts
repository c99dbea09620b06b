import { useEffect, useState } from 'preact/hooks';
import { fetchSnapshot, type Range } from '../history/history_api.ts';
import { hasHistory } from '../hub/settings.ts';
import { SILENT_MS } from '../lists/fleet_summary.ts';
import { hoursIn } from './samples.ts';

/** Providers that were not silent, by the time of the sample in Unix milliseconds. */
export type SeenBefore = ReadonlyMap<number, ReadonlySet<string>>;

const NONE: SeenBefore = new Map();

/**
 * Returns the providers that were present at each full hour of a range, from the history: newest first, one query after the
 * other. A new range fetches only the hours that the previous one lacks.
 */
export function useSeenBefore(range: Range): SeenBefore {
  const [seen, setSeen] = useState(NONE);
  const isOn = hasHistory('/history/snapshot');
  useEffect(() => {
    if (!isOn) return;
    const controller = new AbortController();
    void load(range, { known: seen, signal: controller.signal, onLoaded: setSeen });
    return () => controller.abort();
  }, [range.toMs, isOn]);
  return seen;
}

async function load(
  range: Range,
  { known, signal, onLoaded }: { known: SeenBefore; signal: AbortSignal; onLoaded: (seen: SeenBefore) => void },
): Promise<void> {
  const times = hoursIn(range);
  let seen: SeenBefore = new Map(
    times.flatMap((atMs) => (known.has(atMs) ? [[atMs, known.get(atMs) ?? new Set()]] : [])),
  );
  for (const atMs of times.toReversed()) {
    if (seen.has(atMs)) continue;
    try {
      const { pages } = await fetchSnapshot({ kind: 'provider', atMs, maxAgeMs: SILENT_MS }, signal);
      if (signal.aborted) return;
      seen = new Map([...seen, [atMs, idsIn(pages)]]);
      onLoaded(seen);
    } catch {
      // The sparkline begins after the samples that are missing.
      return;
    }
  }
}

function idsIn(pages: readonly string[]): ReadonlySet<string> {
  return new Set(
    pages.flatMap((page) => (JSON.parse(page) as { objects: readonly { id: string }[] }).objects.map(({ id }) => id)),
  );
}
