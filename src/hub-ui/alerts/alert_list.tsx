import { useMemo, useState } from 'preact/hooks';
import type { Alert } from '../../model/alert.ts';
import { Badge } from '../controls/badge.tsx';
import { Button, IconLink, ShowMore } from '../controls/button.tsx';
import { Card } from '../controls/card.tsx';
import { confirm } from '../controls/dialog.tsx';
import flow from '../controls/flow.module.css';
import { Link } from '../controls/link.tsx';
import { Empty, Spinner } from '../controls/notice.tsx';
import { SearchInput } from '../controls/search_input.tsx';
import { Select } from '../controls/select.tsx';
import { ago, useNow } from '../controls/time.ts';
import { toastError } from '../controls/toasts.tsx';
import { setUrlParams, urlParam } from '../controls/url_state.ts';
import { can } from '../hub/access.ts';
import { mapPath } from '../hub/page_paths.ts';
import { request } from '../hub/rest.ts';
import { t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
import { wholeText } from '../languages/times.ts';
import { AlertRoomNotice } from './alert_room_notice.tsx';
import { alerts, alertsState, count, newestFirst } from './alert_store.ts';
import { SEVERITY_LOOKS, STATE_LABELS, sentenceOf } from './alert_text.ts';
import styles from './alerts.module.css';

type Shown = Alert['state'] | 'open' | 'all';

const FILTERS: readonly (readonly [Shown, string])[] = [
  ['open', t('Open')],
  ['raised', t('Raised')],
  ['acknowledged', t('Acknowledged')],
  ['cleared', t('Cleared')],
  ['all', t('All')],
];

/** Number of alerts shown at a time. */
const SHOWN_STEP = 100;

/** List of the alerts of the hub, newest first. */
export function AlertList() {
  const [most, setMost] = useState(SHOWN_STEP);
  const shown = (urlParam('show') ?? 'open') as Shown;
  const severity = urlParam('severity') ?? '';
  const text = (urlParam('q') ?? '').toLowerCase();
  const all = alerts.value;
  const found = useMemo(
    () => newestFirst(all).filter((alert) => isWanted(alert, { shown, severity, text })),
    [all, shown, severity, text],
  );
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
      <Card flush>
        {found.length === 0 ? (
          <Nothing isFiltered={all.size > 0} />
        ) : (
          <ol class={styles.alerts} aria-label={t('Alerts')}>
            {found.slice(0, most).map((alert) => (
              <Row key={alert.id} alert={alert} mayChange={mayChange} />
            ))}
          </ol>
        )}
        {found.length > most && <ShowMore label={t('Show older')} onClick={() => setMost(most + SHOWN_STEP)} />}
      </Card>
    </>
  );
}

function isWanted(
  alert: Alert,
  { shown, severity, text }: { readonly shown: Shown; readonly severity: string; readonly text: string },
): boolean {
  const { state } = alert;
  if (shown === 'open' ? state === 'cleared' : shown !== 'all' && state !== shown) return false;
  if (severity !== '' && alert.severity !== severity) return false;
  return text === '' || `${alert.name} ${sentenceOf(alert)}`.toLowerCase().includes(text);
}

/** Buttons that act on all alerts that match the filter. */
function ActOnAll({ found }: { readonly found: readonly Alert[] }) {
  const raised = found.filter(({ state }) => state === 'raised');
  const open = found.filter(({ state }) => state !== 'cleared');
  const act = async (verb: 'acknowledge' | 'clear', concerned: readonly Alert[]): Promise<void> => {
    try {
      await request('POST', `/alerts/${verb}`, { body: { ids: concerned.map(({ id }) => id) } });
    } catch (error) {
      toastError(error);
    }
  };
  const clear = async (): Promise<void> => {
    const question = {
      title: t('Clear all alerts that are shown?'),
      text: t(
        'Clears {count} alerts for all users. A condition that still holds raises its next alert only after it has ended.',
        {
          count: countText(open.length),
        },
      ),
      action: t('Clear all'),
    };
    if (await confirm(question)) await act('clear', open);
  };
  return (
    <>
      <Button icon="check" disabled={raised.length === 0} onClick={() => void act('acknowledge', raised)}>
        {t('Acknowledge all')}
      </Button>
      <Button disabled={open.length === 0} onClick={() => void clear()}>
        {t('Clear all')}
      </Button>
    </>
  );
}

function Row({ alert, mayChange }: { readonly alert: Alert; readonly mayChange: boolean }) {
  const nowMs = useNow(10_000);
  const { label, tone } = SEVERITY_LOOKS[alert.severity];
  const at = new Date(alert.raised_at);
  const act = (verb: 'acknowledge' | 'clear'): void => {
    void request('POST', `/alerts/${encodeURIComponent(alert.id)}/${verb}`).catch(toastError);
  };
  return (
    <li class={styles.row} data-state={alert.state} data-severity={alert.severity}>
      <Badge tone={alert.state === 'cleared' ? 'neutral' : tone}>{label}</Badge>
      <div class={styles.text}>
        <strong>{sentenceOf(alert)}</strong>
        <span class={styles.facts}>
          <span>{alert.name}</span>
          <time dateTime={alert.raised_at} title={wholeText(at.getTime())}>
            {ago(nowMs - at.getTime())}
          </time>
          <span>{stateText(alert)}</span>
          {alert.times > 1 && <span>{t('raised {count} times', { count: countText(alert.times) })}</span>}
        </span>
      </div>
      <div class={styles.actions}>
        {placeOf(alert) !== undefined && (
          <IconLink
            href={placeOf(alert) ?? '/'}
            icon="map"
            label={t('Show on the map: {alert}', { alert: sentenceOf(alert) })}
            title={t('Show on the map')}
          />
        )}
        {mayChange && alert.state === 'raised' && (
          <Button
            icon="check"
            aria-label={t('Acknowledge: {alert}', { alert: sentenceOf(alert) })}
            onClick={() => act('acknowledge')}
          >
            {t('Acknowledge')}
          </Button>
        )}
        {mayChange && alert.state !== 'cleared' && (
          <Button
            kind="quiet"
            aria-label={t('Clear: {alert}', { alert: sentenceOf(alert) })}
            onClick={() => act('clear')}
          >
            {t('Clear')}
          </Button>
        )}
      </div>
    </li>
  );
}

function stateText({ state, over_at: over }: Alert): string {
  if (state === 'cleared') return STATE_LABELS.cleared;
  if (over != null) return t('It has ended, and is not acknowledged');
  return state === 'raised' ? t('Nobody has acknowledged it') : STATE_LABELS.acknowledged;
}

function placeOf({ trackable_id: trackable, provider_id: provider, fence_id: fence }: Alert): string | undefined {
  if (trackable != null) return mapPath('trackables', trackable, { isFollowed: true });
  if (provider != null) return mapPath('providers', provider, { isFollowed: true });
  return fence == null ? undefined : mapPath('fences', fence);
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
    <Empty icon="bell" title={t('Nothing to look at')}>
      <p>{t('Alerts appear here, and at the bell, as soon as one of your rules holds.')}</p>
      <p>
        <Link href="/alerts/rules">{t('Say what to alert of')}</Link>
      </p>
    </Empty>
  );
}
