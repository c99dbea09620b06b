import { useMemo } from 'preact/hooks';
import { Card } from '../controls/card.tsx';
import { Link } from '../controls/link.tsx';
import { Empty } from '../controls/notice.tsx';
import { Page } from '../controls/page.tsx';
import { useNow } from '../controls/time.ts';
import typography from '../controls/typography.module.css';
import { labelOf } from '../hub/entity_kinds.ts';
import { mapPath } from '../hub/page_paths.ts';
import { settings } from '../hub/settings.ts';
import { useEntities } from '../hub/stores.ts';
import { t, tParts } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
import { lengthOfTime, rangeText } from '../languages/times.ts';
import { type FlowMatrix, matrixOf } from './flow_matrix.ts';
import styles from './flows_page.module.css';
import { type Flow, fetchFlows } from './history_api.ts';
import { rangeFromUrl } from './past.ts';
import { QueryResult, useHistoryQuery } from './query.tsx';
import { SpanSelect } from './span_select.tsx';
import { UntilField } from './until_field.tsx';

/** Page with the flows between fences: counts and travel times. */
export function FlowsPage() {
  return (
    <Page title={t('Flows')} lead={t('Movements between fences: how many, and how long they took.')}>
      {settings.value.history ? <Flows /> : <NotRecorded />}
    </Page>
  );
}

function NotRecorded() {
  return (
    <Empty icon="clock" title={t('This hub records no history')}>
      <p>{tParts('Set {setting} to start recording.', { setting: <code>history: true</code> })}</p>
    </Empty>
  );
}

function Flows() {
  const fences = useEntities('fences');
  const range = rangeFromUrl(useNow(60_000));
  const { fromMs, toMs } = range;
  const query = useHistoryQuery(JSON.stringify([fromMs, toMs]), (signal) => fetchFlows(range, signal));
  return (
    <>
      <div class={styles.tools}>
        <SpanSelect />
        <UntilField toMs={toMs} />
        <p class={styles.range}>{rangeText(range)}</p>
      </div>
      <QueryResult
        query={query}
        isEmpty={({ flows }) => flows.length === 0}
        emptyMessage={t('No movements between fences during this time.')}
      >
        {({ flows }) => (
          <Matrix
            flows={flows}
            nameOf={(id) => {
              const fence = fences.get(id);
              return fence === undefined ? id : labelOf(fence);
            }}
          />
        )}
      </QueryResult>
    </>
  );
}

function Matrix({ flows, nameOf }: { readonly flows: readonly Flow[]; readonly nameOf: (id: string) => string }) {
  const matrix = useMemo(() => matrixOf(flows, nameOf), [flows, nameOf]);
  const { fences, flowOf, sumFrom, sumTo, total } = matrix;
  return (
    <Card title={t('From fence to fence')} flush>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region needs keyboard focus */}
      <section class={styles.box} aria-label={t('Flow matrix')} tabIndex={0}>
        <table class={styles.matrix}>
          <caption class={typography.hidden}>
            {t(
              'Rows are origins, columns are destinations. Each cell has the number of movements and their median duration.',
            )}
          </caption>
          <thead>
            <tr>
              <td>
                <span class={typography.faint}>{t('from ↓ to →')}</span>
              </td>
              {fences.map(({ id, name }) => (
                <th key={id} scope="col">
                  {name}
                </th>
              ))}
              <th scope="col">{t('All')}</th>
            </tr>
          </thead>
          <tbody>
            {fences.map((from) => (
              <tr key={from.id}>
                <th scope="row">
                  <Link href={mapPath('fences', from.id)}>{from.name}</Link>
                </th>
                {fences.map((to) => (
                  <Cell key={to.id} flow={flowOf(from.id, to.id)} matrix={matrix} />
                ))}
                <td class={styles.sum}>{countText(sumFrom(from.id))}</td>
              </tr>
            ))}
            <tr>
              <th scope="row">{t('All')}</th>
              {fences.map(({ id }) => (
                <td key={id} class={styles.sum}>
                  {countText(sumTo(id))}
                </td>
              ))}
              <td class={styles.sum}>{countText(total)}</td>
            </tr>
          </tbody>
        </table>
      </section>
    </Card>
  );
}

/** Shade of the largest count, in percent; less than half keeps the text readable. */
const SHADE_MAX = 45;

function Cell({ flow, matrix }: { readonly flow: Flow | undefined; readonly matrix: FlowMatrix }) {
  if (flow === undefined) return <td class={typography.faint}>–</td>;
  const shade = Math.round(6 + (flow.count / matrix.most) * (SHADE_MAX - 6));
  return (
    <td style={{ background: `color-mix(in srgb, var(--accent) ${shade}%, var(--surface))` }}>
      <strong>{countText(flow.count)}</strong>
      {flow.median_ms !== null && <span class={styles.time}>{lengthOfTime(flow.median_ms)}</span>}
    </td>
  );
}
