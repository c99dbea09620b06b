import { useMemo } from 'preact/hooks';
import { Chart, type Line, rangeOf } from '../charts/chart.tsx';
import { Choice } from '../controls/button.tsx';
import { Card } from '../controls/card.tsx';
import flow from '../controls/flow.module.css';
import { useNow } from '../controls/time.ts';
import typography from '../controls/typography.module.css';
import { setUrlParams, urlParam } from '../controls/url_state.ts';
import { traffic } from '../hub/live.ts';
import { t } from '../languages/language.ts';
import { bytesText, millisecondsText, percentText, rateText } from '../languages/numbers.ts';
import { labeled, levels, metricsProblem, rates, samples, sums, useMetrics } from './metrics.ts';
import { ProblemNotice } from './polled.tsx';
import styles from './rate_charts.module.css';

const WINDOWS = [
  { value: '1', label: t('1 min') },
  { value: '5', label: t('5 min') },
  { value: '15', label: t('15 min') },
] as const;

/** Charts of rates and latencies over the last minutes, since the page was opened. */
export function RateCharts() {
  useMetrics();
  const nowMs = useNow(1_000);
  const minutes = WINDOWS.find(({ value }) => value === urlParam('window'))?.value ?? '5';
  const firstMs = Math.min(samples.value[0]?.atMs ?? nowMs, traffic.value[0]?.atMs ?? nowMs);
  const [fromMs, toMs] = rangeOf(Number(minutes), nowMs, firstMs);
  const range = [fromMs / 1_000, toMs / 1_000] as const;
  return (
    <section class={flow.stack} aria-label={t('Rates and latencies')}>
      <div class={flow.row}>
        <h2 class={styles.title}>{t('Rates and latencies')}</h2>
        <Choice label={t('Time')} value={minutes} options={WINDOWS} onChange={(window) => setUrlParams({ window })} />
      </div>
      {samples.value.at(-1)?.values.has('hub_cluster_members') && (
        <p class={typography.soft}>{t('From one hub of the cluster, as long as it answers.')}</p>
      )}
      <ProblemNotice problem={metricsProblem.value} />
      <div class={styles.charts}>
        {metricsProblem.value?.isForbidden !== true && <MetricCharts range={range} />}
        <PageCharts range={range} />
      </div>
    </section>
  );
}

interface Ranged {
  readonly range: readonly [number, number];
}

function MetricCharts({ range }: Ranged) {
  const all = samples.value;
  const times = useMemo(() => all.slice(1).map(({ atMs }) => atMs / 1_000), [all]);
  const charts = useMemo(() => {
    const rate = (label: string, name: string): Line => ({ label, values: rates(all, name) });
    const event = (label: string, type: string): Line => rate(label, `hub_events_total{type="${type}"}`);
    const delay = (label: string, quantile: string): Line => {
      return { label, values: levels(all, `hub_event_loop_delay_seconds{quantile="${quantile}"}`, 1_000) };
    };
    const sumOf = (family: string, label: string, of: typeof rates): (number | null)[] => {
      return sums(labeled(all.at(-1), family, label).map(([, name]) => of(all, name)));
    };
    return {
      locations: [
        rate(t('Received'), 'hub_locations_received_total'),
        rate(t('Processed'), 'hub_locations_processed_total'),
        { label: t('Rejected'), values: sumOf('hub_locations_rejected_total', 'reason', rates) },
      ],
      events: [
        event(t('Entries'), 'region_entry'),
        event(t('Exits'), 'region_exit'),
        event(t('Collisions'), 'collision_start'),
      ],
      sent: [
        event(t('Motions'), 'trackable_motion'),
        { label: t('Sent to clients'), values: sumOf('hub_fanout_delivered_total', 'topic', rates) },
      ],
      delay: [delay(t('Median'), '0.5'), delay(t('99th percentile'), '0.99')],
      waiting: [{ label: t('Items'), values: sumOf('hub_lane_pending', 'lane', levels) }],
      busy: [
        { label: t('Main thread'), values: levels(all, 'hub_event_loop_busy_ratio', 100) },
        { label: t('All threads'), values: rates(all, 'process_cpu_seconds_total').map((each) => each && each * 100) },
      ],
      memory: [{ label: t('Whole process'), values: levels(all, 'process_resident_memory_bytes') }],
    } satisfies Record<string, Line[]>;
  }, [all]);
  const shared = { times, range };
  return (
    <>
      <ChartCard title={t('Locations')} {...shared} lines={charts.locations} format={rateText} />
      <ChartCard title={t('Events')} {...shared} lines={charts.events} format={rateText} />
      <ChartCard title={t('Motions and sent messages')} {...shared} lines={charts.sent} format={rateText} />
      <ChartCard title={t('Delay of the hub')} {...shared} lines={charts.delay} format={millisecondsText} />
      <ChartCard title={t('Queue')} {...shared} lines={charts.waiting} format={(each) => String(Math.round(each))} />
      <ChartCard title={t('Processor')} {...shared} lines={charts.busy} format={percentText} />
      <ChartCard title={t('Memory')} {...shared} lines={charts.memory} format={bytesText} />
    </>
  );
}

/** Charts of the traffic of this page. */
function PageCharts({ range }: Ranged) {
  const all = traffic.value;
  const { times, trip, bytes } = useMemo(
    () => ({
      times: all.map(({ atMs }) => atMs / 1_000),
      trip: [{ label: t('Round trip'), values: all.map(({ roundTripMs }) => roundTripMs ?? null) }],
      bytes: [{ label: t('Received'), values: all.map((each) => each.bytes) }],
    }),
    [all],
  );
  const perSecond = (value: number): string => `${bytesText(value)}/s`;
  return (
    <>
      <ChartCard
        title={t('Round-trip time to the hub')}
        times={times}
        range={range}
        lines={trip}
        format={millisecondsText}
      />
      <ChartCard title={t('Incoming to this page')} times={times} range={range} lines={bytes} format={perSecond} />
    </>
  );
}

function ChartCard({
  title,
  ...chart
}: {
  readonly title: string;
  readonly times: readonly number[];
  readonly range: readonly [number, number];
  readonly lines: readonly Line[];
  readonly format: (value: number) => string;
}) {
  return (
    <Card look="chart" title={title}>
      <Chart label={title} {...chart} />
    </Card>
  );
}
