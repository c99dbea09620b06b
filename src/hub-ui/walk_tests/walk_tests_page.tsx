import { useLocation, useRoute } from 'wouter-preact';
import type { WalkTest } from '../../model/walk_test.ts';
import { Button } from '../controls/button.tsx';
import { Card } from '../controls/card.tsx';
import { Link } from '../controls/link.tsx';
import { Empty, Spinner } from '../controls/notice.tsx';
import { Page } from '../controls/page.tsx';
import { type Column, Table } from '../controls/table.tsx';
import { setUrlParams, urlParam } from '../controls/url_state.ts';
import { can } from '../hub/access.ts';
import { t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
import { wholeText } from '../languages/times.ts';
import { ProblemNotice, usePolled } from '../operations/polled.tsx';
import { WalkTestDialog } from './walk_test_dialog.tsx';
import { WalkTestPage } from './walk_test_page.tsx';

const EVERY_MS = 5_000;

/** The walk tests of the hub, or the one that the URL names. */
export function WalkTestsPage() {
  const [, params] = useRoute('/walk-tests/:id');
  const id = params?.['id'];
  return id === undefined ? <WalkTestList /> : <WalkTestPage key={id} id={decodeURIComponent(id)} />;
}

function WalkTestList() {
  const [, go] = useLocation();
  const { value: tests, problem } = usePolled<readonly WalkTest[]>('/walk_tests', EVERY_MS);
  return (
    <Page
      title={t('Walk tests')}
      lead={t('How accurate positions are: carry a tag past surveyed points.')}
      actions={
        can('CREATE', '/walk_tests') && (
          <Button kind="main" icon="plus" onClick={() => setUrlParams({ new: 1 })}>
            {t('New walk test')}
          </Button>
        )
      }
    >
      <ProblemNotice problem={problem} />
      {tests === undefined && problem === undefined && <Spinner />}
      {tests !== undefined && (
        <Card flush>
          {tests.length === 0 ? (
            <Empty icon="target" title={t('No walk tests yet')}>
              <p>{t('A walk test compares recorded positions with points whose place is known.')}</p>
            </Empty>
          ) : (
            <Table label={t('Walk tests')} columns={COLUMNS} rows={tests} keyOf={({ id }) => id} />
          )}
        </Card>
      )}
      {urlParam('new') !== undefined && (
        <WalkTestDialog
          onClose={() => setUrlParams({ new: undefined })}
          onStarted={({ id }) => go(`/walk-tests/${encodeURIComponent(id)}`)}
        />
      )}
    </Page>
  );
}

const COLUMNS: readonly Column<WalkTest>[] = [
  {
    key: 'name',
    title: t('Name'),
    isHeading: true,
    cell: ({ id, name }) => <Link href={`/walk-tests/${encodeURIComponent(id)}`}>{name}</Link>,
  },
  {
    key: 'start',
    title: t('Started'),
    cell: ({ started_at: at }) => (at == null ? '–' : wholeText(Date.parse(at))),
  },
  { key: 'state', title: t('State'), cell: ({ ended_at: at }) => (at == null ? t('Running') : t('Finished')) },
  {
    key: 'points',
    title: t('Points'),
    isNumber: true,
    cell: ({ points }) => countText(points?.length ?? 0),
  },
];
