import { useLocation } from 'wouter-preact';
import type { WalkResult, WalkTest } from '../../model/walk_test.ts';
import { Button } from '../controls/button.tsx';
import { Card } from '../controls/card.tsx';
import { confirm } from '../controls/dialog.tsx';
import { download } from '../controls/download.ts';
import { Facts } from '../controls/facts.tsx';
import { Link } from '../controls/link.tsx';
import { Spinner } from '../controls/notice.tsx';
import { Page } from '../controls/page.tsx';
import { type Column, Table } from '../controls/table.tsx';
import { toast, toastError } from '../controls/toasts.tsx';
import { can } from '../hub/access.ts';
import { API_PATH } from '../hub/api_path.ts';
import { getText, request } from '../hub/rest.ts';
import { t } from '../languages/language.ts';
import { countText, metersText, millisecondsText, percentText, rateText } from '../languages/numbers.ts';
import { wholeText } from '../languages/times.ts';
import { ProblemNotice, usePolled } from '../operations/polled.tsx';
import styles from './walk_tests.module.css';

const EVERY_MS = 3_000;

type MeasuredPass = WalkResult['passes'][number];

/** One walk test: its points to mark, and its figures. */
export function WalkTestPage({ id }: { readonly id: string }) {
  const path = `/walk_tests/${encodeURIComponent(id)}`;
  const test = usePolled<WalkTest>(path, EVERY_MS);
  const result = usePolled<WalkResult>(`${path}/result`, EVERY_MS);
  const stored = test.value;
  const back = <Link href="/walk-tests">{t('All walk tests')}</Link>;
  if (stored === undefined) {
    return (
      <Page title={t('Walk test')} lead={back}>
        {test.problem === undefined ? <Spinner /> : <ProblemNotice problem={test.problem} />}
      </Page>
    );
  }
  const refresh = (): void => {
    test.refresh();
    result.refresh();
  };
  return (
    <Page title={stored.name} lead={back} actions={<Actions test={stored} path={path} onActed={refresh} />}>
      <ProblemNotice problem={test.problem ?? result.problem} />
      {stored.ended_at == null && can('UPDATE', '/walk_tests') && (
        <Points test={stored} path={path} onMarked={refresh} />
      )}
      {result.value !== undefined && <Figures test={stored} result={result.value} />}
    </Page>
  );
}

function Actions({
  test,
  path,
  onActed,
}: {
  readonly test: WalkTest;
  readonly path: string;
  readonly onActed: () => void;
}) {
  const [, go] = useLocation();
  const finish = (): void => void request('POST', `${path}/finish`).then(onActed, toastError);
  const save = (): void =>
    void getText(`${API_PATH}${path}/result?format=csv`).then(
      (text) => download(text, `${test.name}.csv`, 'text/csv'),
      toastError,
    );
  const remove = async (): Promise<void> => {
    const question = {
      title: t('Delete the walk test {name}?', { name: test.name }),
      text: t('This deletes its marks. The recorded positions remain.'),
      action: t('Delete walk test'),
    };
    if (!(await confirm(question))) return;
    try {
      await request('DELETE', path);
      go('/walk-tests');
    } catch (error) {
      toastError(error);
    }
  };
  return (
    <div class={styles.actions}>
      {test.ended_at == null && can('UPDATE', '/walk_tests') && (
        <Button kind="main" onClick={finish}>
          {t('Finish')}
        </Button>
      )}
      <Button onClick={() => print()}>{t('Print')}</Button>
      <Button icon="download" onClick={save}>
        {t('Save as CSV')}
      </Button>
      {can('DELETE', '/walk_tests') && (
        <Button icon="trash" onClick={() => void remove()}>
          {t('Delete')}
        </Button>
      )}
    </div>
  );
}

/** A button for each point, large enough for a thumb. */
function Points({
  test,
  path,
  onMarked,
}: {
  readonly test: WalkTest;
  readonly path: string;
  readonly onMarked: () => void;
}) {
  const counts = new Map<string, number>();
  for (const { point_id: id } of test.passes ?? []) counts.set(id, (counts.get(id) ?? 0) + 1);
  const mark = async (pointId: string): Promise<void> => {
    // The time of the click, not of the receipt: a phone may be slow to connect.
    const time = new Date().toISOString();
    try {
      await request('POST', `${path}/pass`, { body: { point_id: pointId, time } });
      toast(t('{name} is marked', { name: pointId }));
    } catch (error) {
      toastError(error);
    }
    onMarked();
  };
  return (
    <div class={styles.screenOnly}>
      <Card stack title={t('I am at this point now')}>
        <div class={styles.points}>
          {(test.points ?? []).map(({ id }) => (
            <button key={id} type="button" class={styles.point} onClick={() => void mark(id)}>
              <b>{id}</b>
              <span>{counts.has(id) ? t('{count}× marked', { count: countText(counts.get(id) ?? 0) }) : '–'}</span>
            </button>
          ))}
        </div>
      </Card>
    </div>
  );
}

function Figures({ test, result }: { readonly test: WalkTest; readonly result: WalkResult }) {
  const meters = (value: number | null) => (value === null ? '–' : metersText(value));
  const percent = (value: number | null) => (value === null ? '–' : percentText(100 * value));
  return (
    <>
      <Card stack title={t('Result')}>
        <Facts
          rows={[
            [t('Carried tag'), test.object_id],
            [t('Time'), `${wholeText(Date.parse(result.from))} – ${wholeText(Date.parse(result.to))}`],
            [t('Positions'), countText(result.positions)],
            [t('Mean error'), meters(result.mean)],
            [t('Median error (CE50)'), meters(result.ce50)],
            [t('95 % of errors below (CE95)'), meters(result.ce95)],
            [t('95 % of height errors below (VE95)'), meters(result.ve95)],
            [t('Right floor'), percent(result.floor_hit_rate)],
            [t('Latency, 95 %'), result.latency_p95 === null ? '–' : millisecondsText(result.latency_p95)],
            [t('Update rate'), result.update_rate === null ? '–' : rateText(result.update_rate)],
            [t('Availability'), percent(result.availability)],
            ...result.zones.map(
              ({ source, availability }) =>
                [t('Availability in {name}', { name: source }), percentText(100 * availability)] as const,
            ),
            [t('Missed points'), result.missed.join(', ')],
          ]}
        />
      </Card>
      {result.passes.length > 0 && (
        <Card flush>
          <Table
            label={t('Passes')}
            columns={COLUMNS}
            rows={result.passes}
            keyOf={({ point_id: id, time }) => `${id} ${time}`}
          />
        </Card>
      )}
    </>
  );
}

const COLUMNS: readonly Column<MeasuredPass>[] = [
  { key: 'point', title: t('Point'), isHeading: true, cell: ({ point_id: id }) => id },
  { key: 'time', title: t('Time'), cell: ({ time }) => wholeText(Date.parse(time)) },
  { key: 'by', title: t('Passed by'), cell: ({ marked }) => (marked ? t('Mark') : t('Nearest approach')) },
  {
    key: 'error',
    title: t('Error'),
    isNumber: true,
    cell: ({ horizontal_error: error }) => (error === null ? '–' : metersText(error)),
  },
];
