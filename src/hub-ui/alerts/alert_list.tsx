import { useMemo, useRef, useState } from 'preact/hooks';
import type { Alert } from '../../model/alert.ts';
import { Button, ShowMore } from '../controls/button.tsx';
import { Card } from '../controls/card.tsx';
import flow from '../controls/flow.module.css';
import { Link } from '../controls/link.tsx';
import { Empty, Spinner } from '../controls/notice.tsx';
import { SearchInput } from '../controls/search_input.tsx';
import { Select } from '../controls/select.tsx';
import { useNow } from '../controls/time.ts';
import typography from '../controls/typography.module.css';
import { setUrlParams, urlParam } from '../controls/url_state.ts';
import { can } from '../hub/access.ts';
import { t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
import { groupAlerts } from './alert_groups.ts';
import { AlertRoomNotice } from './alert_room_notice.tsx';
import { confirmClearing, GroupItem } from './alert_rows.tsx';
import { alerts, alertsState, changeAlerts, count, isSnoozed, lastChange } from './alert_store.ts';
import { SEVERITY_LOOKS, sentenceOf } from './alert_text.ts';
import styles from './alerts.module.css';
import { HandleDialog, type Handled } from './handle_dialog.tsx';
import { useTriageKeys } from './triage_keys.ts';

type Shown = Alert['state'] | 'open' | 'snoozed' | 'all';

const FILTERS: readonly (readonly [Shown, string])[] = [
  ['open', t('Open')],
  ['raised', t('Raised')],
  ['acknowledged', t('Acknowledged')],
  ['snoozed', t('Snoozed')],
  ['cleared', t('Cleared')],
  ['all', t('All')],
];

/** Number of groups shown at a time. */
const SHOWN_STEP = 100;

/** Interval at which the ages of alerts change. */
const AGE_MS = 2_000;

/** List of the alerts of the hub in groups, the most severe first. */
export function AlertList() {
  const [most, setMost] = useState(SHOWN_STEP);
  const [handled, setHandled] = useState<Handled>();
  const nowMs = useNow(AGE_MS);
  const list = useRef<HTMLOListElement>(null);
  useTriageKeys(list);
  const shown = (urlParam('show') ?? 'open') as Shown;
  const severity = urlParam('severity') ?? '';
  const text = (urlParam('q') ?? '').toLowerCase();
  const all = alerts.value;
  const found = useMemo(
    () => [...all.values()].filter((alert) => isWanted(alert, { shown, severity, text })),
    [all, shown, severity, text],
  );
  const groups = useMemo(() => groupAlerts(found), [found]);
  const mayChange = can('UPDATE', '/alerts/clear');
  if (alertsState.value === 'waiting') return <Spinner />;
  return (
    <>
      <AlertRoomNotice />
      <div class={flow.row}>
        <SearchInput
          label={t('Search alerts')}
          hint={t('Search names')}
          text={urlParam('q') ?? ''}
          isInToolbar
          onInput={(q) => setUrlParams({ q })}
        />
        <fieldset class={`${flow.row} ${styles.filters}`} aria-label={t('Shown alerts')}>
          {FILTERS.map(([value, label]) => (
            <Button
              key={value}
              aria-pressed={value === shown}
              onClick={() => setUrlParams({ show: value === 'open' ? undefined : value })}
            >
              {label}
            </Button>
          ))}
        </fieldset>
        <Select
          class={styles.severity}
          aria-label={t('Severity')}
          value={severity}
          options={[
            { value: '', label: t('Any severity') },
            ...Object.entries(SEVERITY_LOOKS).map(([value, { label }]) => ({ value, label })),
          ]}
          onChange={(next) => setUrlParams({ severity: next })}
        />
        <span class={flow.space} />
        {mayChange && <ActOnAll found={found} />}
      </div>
      {found.length > 0 && (
        <div class={styles.summary}>
          <span>
            {t('Alerts: {alerts}, in groups: {groups}', {
              alerts: countText(found.length),
              groups: countText(groups.length),
            })}
          </span>
          <KeyHint mayChange={mayChange} />
        </div>
      )}
      <p class={typography.hidden} role="status">
        {lastChange.value}
      </p>
      <Card flush>
        {found.length === 0 ? (
          <Nothing isFiltered={all.size > 0} />
        ) : (
          <ol class={styles.alerts} aria-label={t('Alerts')} ref={list}>
            {groups.slice(0, most).map((group) => (
              <GroupItem key={group.key} group={group} nowMs={nowMs} mayChange={mayChange} onHandle={setHandled} />
            ))}
          </ol>
        )}
        {groups.length > most && (
          <ShowMore
            label={t('Show more ({count} left)', { count: countText(groups.length - most) })}
            onClick={() => setMost(most + SHOWN_STEP)}
          />
        )}
      </Card>
      {handled !== undefined && <HandleDialog {...handled} onClose={() => setHandled(undefined)} />}
    </>
  );
}

function isWanted(
  alert: Alert,
  { shown, severity, text }: { readonly shown: Shown; readonly severity: string; readonly text: string },
): boolean {
  const { state } = alert;
  if (shown === 'snoozed' ? !isSnoozed(alert) : shown !== 'all' && isSnoozed(alert)) return false;
  if (shown === 'open' ? state === 'cleared' : state !== shown && shown !== 'all' && shown !== 'snoozed') return false;
  if (severity !== '' && alert.severity !== severity) return false;
  return text === '' || `${alert.name} ${sentenceOf(alert)} ${alert.assignee ?? ''}`.toLowerCase().includes(text);
}

/** Buttons that act on all alerts that match the filter. */
function ActOnAll({ found }: { readonly found: readonly Alert[] }) {
  const raised = found.filter(({ state }) => state === 'raised');
  const open = found.filter(({ state }) => state !== 'cleared');
  const clear = async (): Promise<void> => {
    if (await confirmClearing(t('Clear all alerts that are shown?'), open)) await changeAlerts('clear', open);
  };
  return (
    <>
      <Button icon="check" disabled={raised.length === 0} onClick={() => void changeAlerts('acknowledge', raised)}>
        {t('Acknowledge all')}
      </Button>
      <Button disabled={open.length === 0} onClick={() => void clear()}>
        {t('Clear all')}
      </Button>
    </>
  );
}

const CHANGES = [
  ['A', t('acknowledge')],
  ['S', t('snooze')],
  ['M', t('assign')],
  ['C', t('comment')],
];

function KeyHint({ mayChange }: { readonly mayChange: boolean }) {
  const keys = [['J', t('next')], ['K', t('previous')], ...(mayChange ? CHANGES : [])];
  return (
    <span class={styles.keys} data-keys>
      {keys.map(([key, label]) => (
        <span key={key}>
          <kbd>{key}</kbd> {label}
        </span>
      ))}
    </span>
  );
}

function Nothing({ isFiltered }: { readonly isFiltered: boolean }) {
  const open = count('raised') + count('acknowledged');
  if (isFiltered && open > 0) {
    return (
      <Empty icon="filter" title={t('No alert matches')}>
        <Button onClick={() => setUrlParams({ q: undefined, severity: undefined, show: 'all' })}>
          {t('Show all alerts')}
        </Button>
      </Empty>
    );
  }
  return (
    <Empty icon="bell" title={t('No open alerts')}>
      <p>{t('Alerts appear here, and at the bell, as soon as one of your rules is triggered.')}</p>
      <p>
        <Link href="/alerts/rules">{t('Create an alert rule')}</Link>
      </p>
    </Empty>
  );
}
