import { useState } from 'preact/hooks';
import { IconButton } from '../controls/button.tsx';
import { useNow } from '../controls/time.ts';
import typography from '../controls/typography.module.css';
import { labelOf } from '../hub/entity_kinds.ts';
import { useEntities } from '../hub/stores.ts';
import { t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
import { clockText, dayText, endOfDay, lengthOfTime, startOfDay, zoneText } from '../languages/times.ts';
import { pastFromUrl } from '../map/view/map_url.ts';
import { fetchVisits, type Range, type Visit } from './history_api.ts';
import styles from './object_day.module.css';
import { goTo } from './past.ts';
import { playback } from './playback.ts';
import { QueryResult, useHistoryQuery } from './query.tsx';
import { colorOf, lanesOf } from './strip.ts';

const VISITS_MAX = 5_000;
const LISTED_MAX = 50;

/** Fence visits of a trackable on one day; pressing a visit seeks to its entry. */
export function ObjectDay({ id }: { readonly id: string }) {
  const nowMs = useNow(60_000);
  const [selectedMs, setSelectedMs] = useState<number>();
  const dayMs = startOfDay(selectedMs ?? pastFromUrl() ?? nowMs);
  const range: Range = { fromMs: dayMs, toMs: endOfDay(dayMs) };
  // Today grows: query again every minute.
  const key = JSON.stringify([id, dayMs, range.toMs > nowMs ? nowMs : 0]);
  const query = useHistoryQuery(key, (signal) =>
    fetchVisits({ ...range, toMs: Math.min(range.toMs, nowMs), kind: 'trackables', id, limit: VISITS_MAX }, signal),
  );
  return (
    <section class={styles.day} aria-label={t('Day')}>
      <div class={styles.head}>
        <IconButton icon="left" label={t('Day before')} onClick={() => setSelectedMs(startOfDay(dayMs - 1))} />
        <h3>{`${dayText(dayMs)}, ${zoneText(dayMs)}`}</h3>
        <IconButton
          icon="right"
          label={t('Day after')}
          disabled={range.toMs > nowMs}
          onClick={() => setSelectedMs(range.toMs)}
        />
      </div>
      <QueryResult
        query={query}
        isEmpty={({ visits }) => visits.length === 0}
        emptyMessage={t('It was in no fence on this day.')}
      >
        {({ visits, next_cursor: more }) => <Strip visits={visits} hasMore={more !== null} range={range} />}
      </QueryResult>
    </section>
  );
}

function Strip({
  visits,
  hasMore,
  range,
}: {
  readonly visits: readonly Visit[];
  /** Whether the list is truncated. */
  readonly hasMore: boolean;
  readonly range: Range;
}) {
  const fences = useEntities('fences');
  const nameOf = (id: string): string => {
    const fence = fences.get(id);
    return fence === undefined ? id : labelOf(fence);
  };
  const lanes = lanesOf(visits, range);
  const atMs = playback.atMs.value;
  const percent = (ms: number): number => ((ms - range.fromMs) / (range.toMs - range.fromMs)) * 100;
  const go = (ms: number): void => {
    playback.seek(ms);
    goTo(ms, Date.now());
  };
  return (
    <>
      <div class={styles.strip} aria-hidden="true" style={{ height: `${Math.max(1, lanes.count) * 16}px` }}>
        {lanes.pieces.map(({ visit, lane, fromMs, toMs }) => (
          <span
            key={visit.id}
            title={`${nameOf(visit.fence_id)}, ${lengthOfTime(visit.duration_ms)}`}
            style={{
              left: `${percent(fromMs)}%`,
              width: `max(2px, ${percent(toMs) - percent(fromMs)}%)`,
              top: `${lane * 16}px`,
              background: colorOf(visit.fence_id),
            }}
          />
        ))}
        {atMs !== undefined && atMs >= range.fromMs && atMs < range.toMs && (
          <i class={styles.now} style={{ left: `${percent(atMs)}%` }} />
        )}
      </div>
      <div class={styles.hours} aria-hidden="true">
        {[0, 6, 12, 18, 24].map((hour) => (
          <span key={hour}>{hour}</span>
        ))}
      </div>
      <ol class={styles.visits}>
        {visits.slice(0, LISTED_MAX).map((visit) => (
          <li key={visit.id}>
            <button type="button" onClick={() => go(Math.max(range.fromMs, Date.parse(visit.entry_time)))}>
              <span class={styles.swatch} style={{ background: colorOf(visit.fence_id) }} />
              <span class={styles.name}>{nameOf(visit.fence_id)}</span>
              <span>{clockText(Date.parse(visit.entry_time))}</span>
              <span class={styles.length}>
                {visit.still_inside
                  ? t('{long} so far', { long: lengthOfTime(visit.duration_ms) })
                  : lengthOfTime(visit.duration_ms)}
              </span>
            </button>
          </li>
        ))}
      </ol>
      {visits.length > LISTED_MAX && (
        <p class={typography.soft}>
          {t(
            hasMore
              ? 'The list shows the first {listed} of more than {visits} visits. Later ones are missing in the strip, too.'
              : 'The list shows the first {listed} of {visits} visits.',
            { listed: LISTED_MAX, visits: countText(visits.length) },
          )}
        </p>
      )}
    </>
  );
}
