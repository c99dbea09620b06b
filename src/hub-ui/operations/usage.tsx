import type { Consumption, UsageStatistics } from '../../model/usage.ts';
import { Button } from '../controls/button.tsx';
import { Card } from '../controls/card.tsx';
import { copyText } from '../controls/clipboard.ts';
import { Facts } from '../controls/facts.tsx';
import { Spinner } from '../controls/notice.tsx';
import { type Column, Table } from '../controls/table.tsx';
import { durationText } from '../controls/time.ts';
import typography from '../controls/typography.module.css';
import { setUrlParams, urlParam } from '../controls/url_state.ts';
import { t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
import { monthText } from '../languages/times.ts';
import columnStyles from './columns.module.css';
import { ProblemNotice, usePolled } from './polled.tsx';
import styles from './usage.module.css';

const COUNTED: readonly (readonly [string, string])[] = [
  [t('Locations'), 'locationupdates'],
  [t('Proximities'), 'proximityupdates'],
  [t('Motions of trackables'), 'trackablemotions'],
  [t('Entries'), 'fenceevents_entry'],
  [t('Exits'), 'fenceevents_exit'],
  [t('Collisions begun'), 'collisions_start'],
  [t('Collisions going on'), 'collisions_colliding'],
  [t('Collisions ended'), 'collisions_end'],
];

/** Monthly usage. */
export function Usage() {
  const { value: months, problem } = usePolled<readonly Consumption[]>('/stats/consumption/summary', 10_000);
  if (months === undefined) return problem === undefined ? <Spinner /> : <ProblemNotice problem={problem} />;
  const month = months.find((each) => nameOf(each) === urlParam('month')) ?? months.at(-1);
  if (month === undefined) return null;
  return (
    <>
      <ProblemNotice problem={problem} />
      <Months months={months} selected={month} />
      <MonthCards month={month} />
    </>
  );
}

/** Bar chart of locations per month; selects a month. */
function Months({ months, selected }: { readonly months: readonly Consumption[]; readonly selected: Consumption }) {
  const most = Math.max(1, ...months.map(({ statistics }) => statistics.locationupdates_processed));
  return (
    <Card title={t('Locations by month')}>
      <div class={styles.months}>
        {months.map((month) => {
          const count = month.statistics.locationupdates_processed;
          return (
            <button
              type="button"
              key={nameOf(month)}
              class={styles.month}
              aria-pressed={month === selected}
              onClick={() => setUrlParams({ month: nameOf(month) })}
            >
              <span>{countText(count)}</span>
              <span class={styles.bar} style={{ height: `${Math.max(2, (count / most) * 72)}px` }} />
              <span>{monthText(month)}</span>
            </button>
          );
        })}
      </div>
    </Card>
  );
}

function MonthCards({ month }: { readonly month: Consumption }) {
  const { config, statistics } = month;
  return (
    <div class={columnStyles.columns}>
      <Card
        title={t('Counted in {month}', { month: monthText(month) })}
        flush
        actions={
          <Button icon="copy" onClick={() => void copyText(JSON.stringify(month, undefined, 2), 'JSON')}>
            {t('Copy as JSON')}
          </Button>
        }
      >
        <Table
          label={t('Counted')}
          columns={COLUMNS}
          rows={COUNTED.map((row) => rowOf(row, statistics))}
          keyOf={({ name }) => name}
        />
      </Card>
      <Card title={t('Configured')}>
        <Facts
          rows={[
            [t('Zones'), countText(config.zones.length)],
            [t('Area of zones'), areaText(config.zones.reduce((sum, { sqm }) => sum + Math.abs(sqm), 0))],
            [t('Fences'), countText(config.fences.length)],
            [
              t('Trackables'),
              t('{count}, {active} active', {
                count: countText(config.trackables_no),
                active: countText(config.trackables_no_active),
              }),
            ],
            [
              t('Providers'),
              t('{count}, {active} active', {
                count: countText(config.locationproviders_no),
                active: countText(config.locationproviders_no_active),
              }),
            ],
            [t('Uptime'), durationText(statistics.uptime * 1_000)],
            [t('Hub id'), <code key="id">{statistics.instance_id}</code>],
          ]}
        />
      </Card>
    </div>
  );
}

interface Row {
  readonly name: string;
  readonly processed: number | undefined;
  readonly sent: number | undefined;
  readonly geojson: number | undefined;
}

function rowOf([name, counter]: readonly [string, string], statistics: UsageStatistics): Row {
  const counts = statistics as unknown as Readonly<Record<string, number | undefined>>;
  return {
    name,
    processed: counts[`${counter}_processed`],
    sent: counts[`${counter}_sent`],
    geojson: counts[`${counter}_geojson_sent`],
  };
}

const shown = (value: number | undefined) =>
  value === undefined ? <span class={typography.faint}>–</span> : countText(value);

const COLUMNS: readonly Column<Row>[] = [
  { key: 'name', title: t('What'), cell: ({ name }) => name },
  { key: 'processed', title: t('Processed'), isNumber: true, cell: ({ processed }) => shown(processed) },
  { key: 'sent', title: t('Sent'), isNumber: true, cell: ({ sent }) => shown(sent) },
  { key: 'geojson', title: t('As GeoJSON'), isNumber: true, cell: ({ geojson }) => shown(geojson) },
];

function nameOf({ year, month }: Consumption): string {
  return `${year}-${String(month).padStart(2, '0')}`;
}

function areaText(squareMeters: number): string {
  return `${countText(Math.round(squareMeters))} m²`;
}
