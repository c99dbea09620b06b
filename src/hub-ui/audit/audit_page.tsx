import { AUDIT_KINDS, type AuditEntries, type AuditEntry } from '../../model/audit.ts';
import { Card } from '../controls/card.tsx';
import { SelectField, TextField } from '../controls/field.tsx';
import { Empty, Notice, Spinner } from '../controls/notice.tsx';
import { Page } from '../controls/page.tsx';
import { type Column, Table } from '../controls/table.tsx';
import { setUrlParams, urlParam } from '../controls/url_state.ts';
import { nothing } from '../exchange/exchange_list.tsx';
import { t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
import { inputText, inputTime, wholeText } from '../languages/times.ts';
import { ProblemNotice, usePolled } from '../operations/polled.tsx';
import styles from './audit_page.module.css';
import { Difference } from './difference.tsx';

const EVERY_MS = 10_000;
const DAY_MS = 86_400_000;
/** Maximum number of entries on the page. */
const LIMIT = 500;

/** The audit log: changes and reads of the history, selected by the parameters of the URL. */
export function AuditPage() {
  return (
    <Page title={t('Audit log')} lead={t('Who has changed what, when and from where, and who has read the history.')}>
      <Filters />
      <Entries />
    </Page>
  );
}

/** A day ago when the page was opened, so that the range does not move below the reader. */
const openedMs = Date.now() - DAY_MS;

function Filters() {
  const param = (name: string) => urlParam(name) ?? '';
  const set = (name: string) => (value: string) => setUrlParams({ [name]: value === '' ? undefined : value });
  return (
    <div class={styles.filters}>
      <SelectField
        label={t('Kind')}
        value={param('kind')}
        options={[{ value: '', label: t('All kinds') }, ...AUDIT_KINDS.map((kind) => ({ value: kind, label: kind }))]}
        onChange={set('kind')}
      />
      <TextField label={t('Id')} value={param('id')} onInput={set('id')} />
      <TextField label={t('Subject of the token')} value={param('subject')} onInput={set('subject')} />
      <TextField
        label={t('From')}
        type="datetime-local"
        value={urlParam('from') ?? inputText(openedMs).slice(0, 16)}
        onInput={set('from')}
      />
      <TextField label={t('To')} type="datetime-local" value={param('to')} onInput={set('to')} />
    </div>
  );
}

function Entries() {
  const query = new URLSearchParams({ limit: String(LIMIT) });
  for (const name of ['kind', 'id', 'subject']) {
    const value = urlParam(name);
    if (value !== undefined) query.set(name, value);
  }
  const fromMs = inputTime(urlParam('from') ?? '');
  query.set('from', new Date(Number.isFinite(fromMs) ? fromMs : openedMs).toISOString());
  const toMs = inputTime(urlParam('to') ?? '');
  if (Number.isFinite(toMs)) query.set('to', new Date(toMs).toISOString());
  const address = `/audit?${query}`;
  // Another query is another component, so that it never displays the entries of the former one.
  return <Found key={address} address={address} />;
}

function Found({ address }: { readonly address: string }) {
  const { value, problem } = usePolled<AuditEntries>(address, EVERY_MS);
  return (
    <>
      <ProblemNotice problem={problem} />
      {value === undefined && problem === undefined && <Spinner />}
      {value?.has_more === true && (
        <Notice tone="info">
          {t('The range has more entries than the {count} oldest ones below. Choose a later start.', {
            count: countText(value.entries.length),
          })}
        </Notice>
      )}
      {value !== undefined && (
        <Card flush>
          {value.entries.length === 0 ? (
            <Empty icon="clock" title={t('No entries')}>
              <p>{t('Nothing in this range matches the filters.')}</p>
            </Empty>
          ) : (
            <Table
              label={t('Audit log')}
              columns={COLUMNS}
              rows={value.entries.toReversed()}
              keyOf={({ cursor }) => cursor}
            />
          )}
        </Card>
      )}
    </>
  );
}

const COLUMNS: readonly Column<AuditEntry>[] = [
  { key: 'time', title: t('Time'), cell: ({ time }) => wholeText(Date.parse(time)) },
  {
    key: 'who',
    title: t('Who'),
    cell: ({ subject, address, via }) => (
      <>
        {subject ?? nothing}
        <p class={styles.small}>{[address, via === 'rest' ? undefined : via].filter(Boolean).join(' · ')}</p>
      </>
    ),
  },
  {
    key: 'what',
    title: t('What'),
    cell: ({ kind, id, action }) => (
      <>
        {kind === action ? kind : `${action} ${kind}`}
        {id !== '' && <p class={styles.id}>{id}</p>}
      </>
    ),
  },
  { key: 'difference', title: t('Difference'), cell: (entry) => <Difference entry={entry} /> },
];
