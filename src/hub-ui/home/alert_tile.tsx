import { useMemo } from 'preact/hooks';
import { SEVERITIES } from '../../model/alert.ts';
import { alerts, alertsState } from '../alerts/alert_store.ts';
import { SEVERITY_LOOKS } from '../alerts/alert_text.ts';
import { useNow } from '../controls/time.ts';
import { t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
import { openAlertSteps, sampledRange } from './samples.ts';
import { Tile } from './tile.tsx';

/** Tile with the open alerts, by severity. */
export function AlertTile() {
  const nowMs = useNow(60_000);
  const all = alerts.value;
  const { fromMs } = sampledRange(nowMs);
  const steps = useMemo(() => openAlertSteps(all.values(), fromMs), [all, fromMs]);
  if (alertsState.value === 'refused') return null;
  const open = [...all.values()].filter(({ state }) => state !== 'cleared');
  const counts = SEVERITIES.toReversed()
    .map((severity) => ({ severity, count: open.filter((alert) => alert.severity === severity).length }))
    .filter(({ count }) => count > 0);
  const [highest] = counts;
  return (
    <Tile
      name={t('Open alerts')}
      value={alertsState.value === 'waiting' ? undefined : countText(open.length)}
      about={
        counts.length === 0
          ? t('none')
          : counts.map(({ severity, count }) => `${SEVERITY_LOOKS[severity].label} ${countText(count)}`).join(' · ')
      }
      href="/alerts"
      tone={highest?.severity === 'critical' ? 'danger' : highest?.severity === 'warning' ? 'warn' : undefined}
      steps={steps}
      range={[fromMs, nowMs]}
    />
  );
}
