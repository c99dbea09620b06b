import { useMemo } from 'preact/hooks';
import { sortedBy } from '../controls/sort_and_page.ts';
import { useNow } from '../controls/time.ts';
import { fetchDwell, fetchOccupancy, type HistoryAnswer, type Range } from '../history/history_api.ts';
import { useHistoryQuery } from '../history/query.tsx';
import { can } from '../hub/access.ts';
import { labelOf } from '../hub/entity_kinds.ts';
import { mapPath } from '../hub/page_paths.ts';
import { hasHistory } from '../hub/settings.ts';
import { useEntities } from '../hub/stores.ts';
import { t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
import { lengthOfTime } from '../languages/times.ts';
import { useInsideOf } from '../map_page/wall/fence_counts.ts';
import { HOUR_MS, SAMPLE_MS, type Sample, sampledRange } from './samples.ts';
import { Tile } from './tile.tsx';

type Occupancy = ReadonlyMap<string, readonly Sample[]>;
const NO_OCCUPANCY: Occupancy = new Map();

/** Tiles about the busiest fence: the objects inside it, and the median of their stays. */
export function FenceTiles() {
  const fences = useEntities('fences');
  const trackables = useEntities('trackables');
  const nowMs = useNow(60_000);
  const range = sampledRange(nowMs);
  const occupancy = useOccupancy(range);
  // On a large site, the hub counts the objects only in the first of these.
  const candidates = useMemo(() => {
    const last = (id: string): number => occupancy.get(id)?.at(-1)?.count ?? 0;
    return sortedBy([...fences.keys()], last, true);
  }, [fences, occupancy]);
  const inside = useInsideOf(candidates, trackables.size > 0 ? 'trackables' : 'providers');
  const [busiest] = sortedBy(
    [...inside].filter(([id]) => fences.has(id)),
    ([, ids]) => ids.size,
    true,
  );
  const [id, ids] = busiest ?? [];
  const fence = id === undefined ? undefined : fences.get(id);
  if (fences.size === 0) return null;
  // The history omits fences that were empty at every sample.
  const empty = hasHistory('/analytics/occupancy') ? [{ atMs: range.fromMs, count: 0 }] : [];
  return (
    <>
      <Tile
        name={t('Busiest fence')}
        value={fence && labelOf(fence)}
        about={t('inside: {count}', { count: countText(ids?.size ?? 0) })}
        href={fence === undefined ? '/events/occupancy' : mapPath('fences', fence.id)}
        steps={[...(occupancy.get(id ?? '') ?? empty), { atMs: nowMs, count: ids?.size ?? 0 }]}
        range={[range.fromMs, nowMs]}
      />
      {fence !== undefined && hasHistory('/analytics/dwell') && (
        <MedianStay fenceId={fence.id} name={labelOf(fence)} range={range} />
      )}
    </>
  );
}

/** Number of objects in each fence at the samples of a range; empty on a hub without history. */
function useOccupancy(range: Range): Occupancy {
  const isOn = hasHistory('/analytics/occupancy') && can('READ', '/fences/summary');
  const query = useHistoryQuery(`${isOn} ${range.toMs}`, async (signal): Promise<HistoryAnswer<Occupancy>> => {
    if (!isOn) return { value: NO_OCCUPANCY, isIncomplete: false };
    const { value, isIncomplete } = await fetchOccupancy({ ...range, fenceId: undefined, stepMs: SAMPLE_MS }, signal);
    const samplesOf = ({ fence_id: id, samples }: (typeof value.fences)[number]) =>
      [id, samples.map(({ time, count }) => ({ atMs: Date.parse(time), count }))] as const;
    return { value: new Map(value.fences.map(samplesOf)), isIncomplete };
  });
  return query.last?.value ?? NO_OCCUPANCY;
}

interface Stays {
  readonly medianMs: number | null;
  /** Median of each hour with visits, in milliseconds. */
  readonly hours: readonly Sample[];
}

function MedianStay({
  fenceId,
  name,
  range,
}: {
  readonly fenceId: string;
  readonly name: string;
  readonly range: Range;
}) {
  const query = useHistoryQuery(`${fenceId} ${range.toMs}`, (signal) => fetchStays(fenceId, range, signal));
  const stays = query.last?.value;
  return (
    <Tile
      name={t('Median stay')}
      value={query.problem !== undefined || stays?.medianMs === null ? '–' : stays && lengthOfTime(stays.medianMs ?? 0)}
      about={t('in {name}, last 6 h', { name })}
      href={mapPath('fences', fenceId)}
      steps={stays?.hours}
      range={[range.fromMs, range.toMs]}
    />
  );
}

async function fetchStays(fenceId: string, range: Range, signal: AbortSignal): Promise<HistoryAnswer<Stays>> {
  const { value, isIncomplete } = await fetchDwell({ ...range, fenceId, stepMs: HOUR_MS }, signal);
  const [dwell] = value.fences;
  const hours = (dwell?.steps ?? []).flatMap(({ from, median_ms: count }) =>
    count === null ? [] : { atMs: Date.parse(from), count },
  );
  return { value: { medianMs: dwell?.median_ms ?? null, hours }, isIncomplete };
}
