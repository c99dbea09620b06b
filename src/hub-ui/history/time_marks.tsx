import { useMemo } from 'preact/hooks';
import type { Alert } from '../../model/alert.ts';
import { alerts } from '../alerts/alert_store.ts';
import { useNow } from '../controls/time.ts';
import typography from '../controls/typography.module.css';
import { t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
import { useEventDensity } from './event_density.ts';
import type { Range } from './history_api.ts';
import { rangeFromUrl } from './past.ts';
import styles from './time_marks.module.css';

/** Maximum number of ticks, the newest ones: more could not be distinguished. */
const TICKS_MAX = 200;

/** Marks on the time bar: bars for entries into fences, and ticks for alerts in the colors of their severities. */
export function TimeMarks() {
  const range = rangeFromUrl(useNow(60_000));
  const bars = useEventDensity(range);
  const all = alerts.value;
  const raised = useMemo(() => alertsIn(all.values(), range), [all, range.fromMs, range.toMs]);
  const most = Math.max(1, ...bars.map(({ entries }) => entries));
  const total = bars.reduce((sum, { entries }) => sum + entries, 0);
  const percent = (atMs: number): number =>
    Math.min(100, Math.max(0, ((atMs - range.fromMs) / (range.toMs - range.fromMs)) * 100));
  return (
    <>
      <p class={typography.hidden} data-marks>
        {t('Entries into fences: {entries}, alerts: {alerts}', {
          entries: countText(total),
          alerts: countText(raised.length),
        })}
      </p>
      <div class={styles.marks} aria-hidden="true">
        {bars
          .filter(({ entries }) => entries > 0)
          .map(({ fromMs, toMs, entries }) => (
            <span
              key={fromMs}
              class={styles.bar}
              style={{
                left: `${percent(fromMs)}%`,
                width: `${percent(toMs) - percent(fromMs)}%`,
                height: `${(100 * entries) / most}%`,
              }}
            />
          ))}
        {raised.slice(-TICKS_MAX).map(({ id, severity, raised_at: at }) => (
          <span key={id} class={styles.tick} data-severity={severity} style={{ left: `${percent(Date.parse(at))}%` }} />
        ))}
      </div>
    </>
  );
}

/** Alerts that were raised in a range, in chronological order. */
function alertsIn(all: Iterable<Alert>, { fromMs, toMs }: Range): readonly Alert[] {
  return [...all]
    .filter(({ raised_at: at }) => Date.parse(at) >= fromMs && Date.parse(at) < toMs)
    .sort((a, b) => Date.parse(a.raised_at) - Date.parse(b.raised_at));
}
