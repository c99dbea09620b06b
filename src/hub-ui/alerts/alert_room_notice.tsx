import { Link } from '../controls/link.tsx';
import { Notice } from '../controls/notice.tsx';
import { t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
import { alertSummary } from './alert_store.ts';
import { SEVERITY_LOOKS } from './alert_text.ts';

const SEVEREST_FIRST = ['critical', 'warning', 'info'] as const;

/** Notice about conditions without an alert, because open alerts have reached the limit. */
export function AlertRoomNotice() {
  const summary = alertSummary.value;
  const missing = SEVEREST_FIRST.filter((severity) => (summary?.not_raised[severity] ?? 0) > 0);
  if (summary === undefined || missing.length === 0) return null;
  const { open, not_raised: notRaised } = summary;
  return (
    <Notice tone="danger">
      {t('Not raised because too many alerts are open ({open}): {counts}. Clear alerts to make room.', {
        open: countText(open.info + open.warning + open.critical),
        counts: missing
          .map((severity) => `${SEVERITY_LOOKS[severity].label} ${countText(notRaised[severity])}`)
          .join(', '),
      })}
    </Notice>
  );
}

/** Banner on every page while warnings or critical alerts are missing, with a link to the alerts. */
export function AlertRoomBanner() {
  const summary = alertSummary.value;
  const missing = (summary?.not_raised.critical ?? 0) + (summary?.not_raised.warning ?? 0);
  if (missing === 0) return null;
  return (
    <Notice tone="danger">
      {t('{count} conditions hold without an alert because too many alerts are open.', { count: countText(missing) })}{' '}
      <Link href="/alerts">{t('Open the alerts')}</Link>
    </Notice>
  );
}
