import { Button } from '../controls/button.tsx';
import { Card } from '../controls/card.tsx';
import { download } from '../controls/download.ts';
import flow from '../controls/flow.module.css';
import { Empty } from '../controls/notice.tsx';
import { Page } from '../controls/page.tsx';
import { type Column, Table } from '../controls/table.tsx';
import { useNow } from '../controls/time.ts';
import { quoted } from '../../model/csv.ts';
import { labelOf } from '../hub/entity_kinds.ts';
import { settings } from '../hub/settings.ts';
import { useEntities } from '../hub/stores.ts';
import { fetchUse, type Range } from '../history/history_api.ts';
import { rangeFromUrl } from '../history/past.ts';
import { QueryResult, useHistoryQuery } from '../history/query.tsx';
import { SpanSelect } from '../history/span_select.tsx';
import { UntilField } from '../history/until_field.tsx';
import { t, tParts } from '../languages/language.ts';
import { countText, fixedText, percentText } from '../languages/numbers.ts';
import { inputText, lengthOfTime, rangeText } from '../languages/times.ts';
import styles from './reports.module.css';
import { type FenceUse, fenceUses } from './fence_use.ts';

/** Printable report of the use of fences: visits, dwell times and utilization. */
export function ReportsPage() {
  return (
    <Page title={t('Reports')} lead={t('Visits, dwell times and utilization of fences, to print or to save.')}>
      {settings.value.history ? (
        <Report />
      ) : (
        <Empty icon="clock" title={t('This hub records no history')}>
          <p>{tParts('Set {setting} to start recording.', { setting: <code>history: true</code> })}</p>
        </Empty>
      )}
    </Page>
  );
}

function Report() {
  const fences = useEntities('fences');
  const range = rangeFromUrl(useNow(60_000));
  const { fromMs, toMs } = range;
  const query = useHistoryQuery(JSON.stringify([fromMs, toMs]), (signal) => fetchUse(range, signal));
  const nameOf = (id: string): string => {
    const fence = fences.get(id);
    return fence === undefined ? id : labelOf(fence);
  };
  return (
    <>
      <div class={`${flow.row} ${styles.screenOnly}`}>
        <SpanSelect />
        <UntilField toMs={toMs} />
      </div>
      <p>{rangeText(range)}</p>
      <QueryResult
        query={query}
        isEmpty={({ dwell }) => dwell.fences.length === 0}
        emptyMessage={t('No visits of fences during this time.')}
      >
        {(use) => <Uses uses={fenceUses(use, range)} nameOf={nameOf} range={range} />}
      </QueryResult>
    </>
  );
}

function Uses({
  uses,
  nameOf,
  range,
}: {
  readonly uses: readonly FenceUse[];
  readonly nameOf: (id: string) => string;
  readonly range: Range;
}) {
  const rows = [...uses].sort((one, other) => nameOf(one.fenceId).localeCompare(nameOf(other.fenceId)));
  const columns = columnsOf(nameOf);
  const save = (): void => {
    const lines = [
      ['fence_id', 'name', 'visits', 'entries', 'objects', 'median_ms', 'p95_ms', 'total_ms', 'mean', 'most', 'used'],
      ...rows.map((use) => [
        ...[use.fenceId, nameOf(use.fenceId), use.visits, use.entries, use.objects],
        ...[use.medianMs ?? '', use.p95Ms ?? '', use.totalMs, use.mean.toFixed(3), use.most, use.usedShare.toFixed(4)],
      ]),
    ];
    const text = lines.map((line) => line.map((value) => quoted(String(value))).join(',')).join('\r\n');
    const [from, to] = [range.fromMs, range.toMs].map((atMs) => inputText(atMs).replaceAll(':', ''));
    download(`${text}\r\n`, `use-of-fences-${from}-${to}.csv`, 'text/csv');
  };
  return (
    <>
      <div class={`${flow.row} ${styles.screenOnly}`}>
        <Button onClick={() => print()}>{t('Print')}</Button>
        <Button icon="download" onClick={save}>
          {t('Save as CSV')}
        </Button>
      </div>
      <Card flush>
        <Table label={t('Use of fences')} columns={columns} rows={rows} keyOf={({ fenceId }) => fenceId} />
      </Card>
    </>
  );
}

function columnsOf(nameOf: (id: string) => string): readonly Column<FenceUse>[] {
  const duration = (ms: number | undefined): string => (ms === undefined ? '–' : lengthOfTime(ms));
  return [
    { key: 'name', title: t('Fence'), isHeading: true, cell: ({ fenceId }) => nameOf(fenceId) },
    { key: 'visits', title: t('Visits'), isNumber: true, cell: ({ visits }) => countText(visits) },
    { key: 'objects', title: t('Objects'), isNumber: true, cell: ({ objects }) => countText(objects) },
    { key: 'median', title: t('Median stay'), isNumber: true, cell: ({ medianMs }) => duration(medianMs) },
    { key: 'p95', title: t('95th percentile'), isNumber: true, cell: ({ p95Ms }) => duration(p95Ms) },
    { key: 'total', title: t('Total time'), isNumber: true, cell: ({ totalMs }) => duration(totalMs) },
    { key: 'mean', title: t('Inside on average'), isNumber: true, cell: ({ mean }) => fixedText(mean, 1) },
    { key: 'most', title: t('Maximum at once'), isNumber: true, cell: ({ most }) => countText(most) },
    { key: 'used', title: t('Utilization'), isNumber: true, cell: ({ usedShare }) => percentText(usedShare * 100) },
  ];
}
