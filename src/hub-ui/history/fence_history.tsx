import { useMemo, useState } from 'preact/hooks';
import { Chart } from '../charts/chart.tsx';
import { Button } from '../controls/button.tsx';
import { Facts } from '../controls/facts.tsx';
import { type Column, Table } from '../controls/table.tsx';
import { useNow } from '../controls/time.ts';
import typography from '../controls/typography.module.css';
import { labelOf } from '../hub/entity_kinds.ts';
import { storeOf } from '../hub/stores.ts';
import { t } from '../languages/language.ts';
import { countedText, countText } from '../languages/numbers.ts';
import { lengthOfTime, rangeText, timeWithin } from '../languages/times.ts';
import { Chip } from '../map/view/selection_chip.tsx';
import styles from './fence_history.module.css';
import {
  type HistoryAnswer,
  type Dwell,
  fetchDwell,
  fetchOccupancy,
  fetchVisits,
  type Range,
  type Visit,
} from './history_api.ts';
import { rangeFromUrl } from './past.ts';
import { QueryResult, useHistoryQuery } from './query.tsx';
import { SpanSelect } from './span_select.tsx';

const SHOWN_STEP = 20;
const SAMPLES = 60;

interface FenceAnswer {
  readonly range: Range;
  readonly visits: readonly Visit[];
  readonly hasMore: boolean;
  readonly dwell: Dwell | undefined;
  readonly samples: readonly { readonly time: string; readonly count: number }[];
}

/** Visits, dwell times and occupancy of a fence in the range of the time bar. */
export function FenceHistory({ id }: { readonly id: string }) {
  const [most, setMost] = useState(SHOWN_STEP);
  const range = rangeFromUrl(useNow(60_000));
  const { fromMs, toMs } = range;
  const query = useHistoryQuery(JSON.stringify([id, fromMs, toMs, most]), (signal) =>
    fetchHistory({ id, range, most }, signal),
  );
  return (
    <section class={styles.history} aria-label={t('History of the fence')}>
      <h3>{t('History')}</h3>
      <SpanSelect />
      <p class={typography.faint}>{rangeText(range)}</p>
      <QueryResult
        query={query}
        isEmpty={({ visits }) => visits.length === 0}
        emptyMessage={t('Nothing was inside during this time.')}
      >
        {(answer) => <FenceVisits answer={answer} onMore={() => setMost(most + SHOWN_STEP)} />}
      </QueryResult>
    </section>
  );
}

async function fetchHistory(
  { id, range, most }: { readonly id: string; readonly range: Range; readonly most: number },
  signal: AbortSignal,
): Promise<HistoryAnswer<FenceAnswer>> {
  const stepMs = Math.ceil((range.toMs - range.fromMs) / SAMPLES);
  const [visits, dwell, occupancy] = await Promise.all([
    fetchVisits({ ...range, kind: 'fences', id, limit: most }, signal),
    fetchDwell({ ...range, fenceId: id }, signal),
    fetchOccupancy({ ...range, fenceId: id, stepMs }, signal),
  ]);
  return {
    isIncomplete: visits.isIncomplete || dwell.isIncomplete || occupancy.isIncomplete,
    value: {
      range,
      visits: visits.value.visits,
      hasMore: visits.value.next_cursor !== null,
      dwell: dwell.value.fences[0],
      samples: occupancy.value.fences[0]?.samples ?? [],
    },
  };
}

function FenceVisits({ answer, onMore }: { readonly answer: FenceAnswer; readonly onMore: () => void }) {
  const { range, visits, hasMore, dwell, samples } = answer;
  const spanMs = range.toMs - range.fromMs;
  const chart = useMemo(() => {
    const times = samples.map(({ time }) => Date.parse(time) / 1_000);
    return { times, lines: [{ label: t('Inside'), values: samples.map(({ count }) => count), isStepped: true }] };
  }, [samples]);
  const columns: readonly Column<Visit>[] = [
    { key: 'object', title: t('Who'), cell: ({ object }) => <Visitor object={object} /> },
    { key: 'entry', title: t('Entered'), cell: ({ entry_time: time }) => timeWithin(Date.parse(time), spanMs) },
    {
      key: 'stay',
      title: t('Stayed'),
      isNumber: true,
      cell: ({ duration_ms: ms, still_inside: isInside }) =>
        isInside ? t('{long} so far', { long: lengthOfTime(ms) }) : lengthOfTime(ms),
    },
  ];
  return (
    <>
      {dwell !== undefined && (
        <Facts
          rows={[
            [
              t('Visits'),
              t('{visits}, by {objects}', {
                visits: countText(dwell.visits),
                objects: countedText(dwell.objects, 'object'),
              }),
            ],
            [t('Median stay'), dwell.median_ms === null ? undefined : lengthOfTime(dwell.median_ms)],
            [
              t('95 % of stays'),
              dwell.p95_ms === null ? undefined : t('at most {long}', { long: lengthOfTime(dwell.p95_ms) }),
            ],
            [t('In total'), lengthOfTime(dwell.total_ms)],
            [
              t('Open visits'),
              dwell.open_visits === 0
                ? '0'
                : `${countText(dwell.open_visits)} (${t('{long} so far', { long: lengthOfTime(dwell.open_ms) })})`,
            ],
          ]}
        />
      )}
      {samples.length > 1 && (
        <Chart
          label={t('Inside, over time')}
          height={90}
          times={chart.times}
          lines={chart.lines}
          range={[range.fromMs / 1_000, range.toMs / 1_000]}
          format={(count) => (Number.isInteger(count) ? String(count) : '')}
        />
      )}
      <Table label={t('Visits')} columns={columns} rows={visits} keyOf={({ id }) => id} />
      {hasMore && (
        <Button kind="quiet" onClick={onMore}>
          {t('Show more visits')}
        </Button>
      )}
    </>
  );
}

function Visitor({ object: { type, id } }: { readonly object: Visit['object'] }) {
  const kind = type === 'trackable' ? 'trackables' : 'providers';
  const entity = storeOf(kind).items.value.get(id);
  return <Chip selection={{ kind, id }}>{entity === undefined ? id : labelOf(entity)}</Chip>;
}
