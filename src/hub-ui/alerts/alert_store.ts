import { computed, effect, signal } from '@preact/signals';
import type { Alert, AlertChangeEvent, AlertSummary } from '../../model/alert.ts';
import { toastError } from '../controls/toasts.tsx';
import { can } from '../hub/access.ts';
import { subscribe } from '../hub/live.ts';
import { get, request } from '../hub/rest.ts';
import { syncedItems } from '../hub/synced_items.ts';
import { t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';

const synced = syncedItems<Alert>();

/** Alerts of the hub, synchronized while the page is open. */
export const alerts = synced.items;

/** `waiting` until the first list has arrived; `refused` if the user may not read alerts. */
export const alertsState = signal<'waiting' | 'ready' | 'refused'>('waiting');

/** Last summary of the open alerts and their limit; undefined until loaded. */
export const alertSummary = signal<AlertSummary | undefined>(undefined);

/** Minimum interval between reads of the summary, which follow changes and repeat while the limit is nearly reached. */
const SUMMARY_MS = 5_000;
const NEARLY_USED_UP = 0.4;
let isSummaryDue = false;

/** The time by which snoozes are judged. It advances when the next snooze ends. */
const snoozeTime = signal(Date.now());
/** Maximum delay of the timer, after which it is set again. */
const TIMER_MOST_MS = 3_600_000;

effect(() => {
  const nowMs = snoozeTime.value;
  const ends = [...alerts.value.values()].flatMap(({ snoozed_until: until }) =>
    until == null ? [] : [Date.parse(until)],
  );
  const nextMs = Math.min(...ends.filter((endMs) => endMs > nowMs));
  if (nextMs === Number.POSITIVE_INFINITY) return undefined;
  const delayMs = Math.min(Math.max(nextMs - Date.now(), 0), TIMER_MOST_MS);
  const timer = setTimeout(() => {
    snoozeTime.value = Date.now();
  }, delayMs + 1);
  return () => clearTimeout(timer);
});

/** Whether an alert is snoozed now. */
export function isSnoozed({ state, snoozed_until: until }: Alert): boolean {
  return state !== 'cleared' && until != null && Date.parse(until) > snoozeTime.value;
}

/** Number of unacknowledged alerts, without snoozed ones. */
export const raisedCount = computed(() => count('raised'));

type AlarmSeverity = Exclude<Alert['severity'], 'info'>;
export type Alarms = ReadonlyMap<string, AlarmSeverity>;

/** Highest severity of the raised alerts of each object and fence, for the map. Alerts for information are not on it. */
export const alarmed = computed((): Readonly<Record<'trackables' | 'providers' | 'fences', Alarms>> => {
  const trackables = new Map<string, AlarmSeverity>();
  const providers = new Map<string, AlarmSeverity>();
  const fences = new Map<string, AlarmSeverity>();
  for (const alert of alerts.value.values()) {
    const { severity } = alert;
    if (alert.state !== 'raised' || severity === 'info' || isSnoozed(alert)) continue;
    const put = (alarms: Map<string, AlarmSeverity>, id: string | null | undefined): void => {
      if (id != null && alarms.get(id) !== 'critical') alarms.set(id, severity);
    };
    put(fences, alert.fence_id);
    put(providers, alert.provider_id);
    put(trackables, alert.trackable_id);
    put(trackables, alert.other_trackable_id);
  }
  return { trackables, providers, fences };
});

/** Number of alerts in a state, without snoozed ones. */
export function count(state: Alert['state']): number {
  let found = 0;
  for (const alert of alerts.value.values()) if (alert.state === state && !isSnoozed(alert)) found++;
  return found;
}

/** Result of the last `changeAlerts`, for screen readers. */
export const lastChange = signal('');

/** Acknowledges or clears alerts in one request. Shows an error if it fails. */
export async function changeAlerts(verb: 'acknowledge' | 'clear', concerned: readonly Alert[]): Promise<void> {
  try {
    await request('POST', `/alerts/${verb}`, { body: { ids: concerned.map(({ id }) => id) } });
    const changed = { count: countText(concerned.length) };
    lastChange.value =
      verb === 'clear' ? t('Cleared alerts: {count}', changed) : t('Acknowledged alerts: {count}', changed);
  } catch (error) {
    toastError(error);
  }
}

/** Callback for each alert that is raised, or raised again, while the page is open. */
export type AlertListener = (alert: Alert) => void;

/** Subscribes to the alerts of the hub. Call it once, at the start of the page. */
export function followAlerts(receive: AlertListener): void {
  if (!can('READ', '/alerts')) {
    alertsState.value = 'refused';
    return;
  }
  const load = async (): Promise<void> => {
    try {
      if (!(await synced.load(() => get<readonly Alert[]>('/alerts')))) return;
      alertsState.value = 'ready';
      void readSummary();
    } catch {
      // The next subscription requests the list again.
    }
  };
  subscribe(
    'alert_changes',
    {},
    {
      subscribed: () => void load(),
      rejected: () => void load(),
      events(changes: readonly AlertChangeEvent[]) {
        readSummaryLater();
        for (const change of changes) {
          const before = synced.latest(change.id);
          synced.receive([change]);
          if (change.event_type !== 'delete' && isNewlyRaised(change.object, before)) receive(change.object);
        }
      },
    },
  );
}

function readSummaryLater(): void {
  if (isSummaryDue) return;
  isSummaryDue = true;
  setTimeout(() => {
    isSummaryDue = false;
    void readSummary();
  }, SUMMARY_MS);
}

async function readSummary(): Promise<void> {
  try {
    alertSummary.value = await get<AlertSummary>('/alerts/summary');
  } catch {
    // The last summary stays, and the next change requests it again.
  }
  const { max, open } = alertSummary.value ?? { max: 1, open: { info: 0, warning: 0, critical: 0 } };
  if (open.info + open.warning + open.critical > NEARLY_USED_UP * max) readSummaryLater();
}

function isNewlyRaised(alert: Alert, before: Alert | undefined): boolean {
  if (alert.state !== 'raised' || alert.over_at != null || isSnoozed(alert)) return false;
  return before === undefined || alert.times > before.times;
}
