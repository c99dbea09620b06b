import { useEffect, useState } from 'preact/hooks';
import type { AlertPreview, AlertRate } from '../../model/alert.ts';
import { ago } from '../controls/time.ts';
import typography from '../controls/typography.module.css';
import { request } from '../hub/rest.ts';
import { locale, t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
import { lengthOfTime } from '../languages/times.ts';
import { nameOf, objectNameOf } from './alert_text.ts';
import styles from './rule_dialog.module.css';
import type { RuleDraft, RuleKind } from './rule_draft.ts';

const PATIENCE_MS = 300;

/** Lists the alerts that the rule would raise now. */
export function RulePreview({ body, missing }: { readonly body: RuleDraft; readonly missing: string | undefined }) {
  const [found, setFound] = useState<AlertPreview>();
  const text = JSON.stringify({ ...body, name: body.name || t('Preview') });
  useEffect(() => {
    setFound(undefined);
    if (missing !== undefined) return;
    const asking = new AbortController();
    const timer = setTimeout(() => {
      const options = { body: JSON.parse(text), signal: asking.signal };
      request<AlertPreview>('POST', '/alerts/rules/preview', options).then(
        (preview) => !asking.signal.aborted && setFound(preview),
        () => !asking.signal.aborted && setFound(undefined),
      );
    }, PATIENCE_MS);
    return () => {
      clearTimeout(timer);
      asking.abort();
    };
  }, [text, missing]);
  const nowMs = Date.now();
  return (
    <section class={styles.preview} aria-label={t('Preview')} aria-live="polite">
      <h3 class={typography.caption}>{t('At this moment')}</h3>
      <p>{found === undefined ? t('Complete the sentence to preview the rule.') : previewText(body.kind, found)}</p>
      {found?.rate !== undefined && <p data-rate>{rateText(found.rate)}</p>}
      {found !== undefined && found.matches.length > 0 && (
        <ul class={styles.matches}>
          {found.matches.slice(0, 8).map((match) => (
            <li key={[match.fence_id, match.trackable_id, match.other_trackable_id, match.provider_id].join(' ')}>
              <strong>{match.count == null ? objectNameOf(match) : nameOf('fences', match.fence_id)}</strong>
              {match.count == null && match.fence_id != null && <span>{nameOf('fences', match.fence_id)}</span>}
              {match.other_trackable_id != null && <span>{nameOf('trackables', match.other_trackable_id)}</span>}
              {match.count != null && <span>{countText(match.count)}</span>}
              {match.since != null && <span>{ago(nowMs - Date.parse(match.since))}</span>}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

const HOUR_MS = 3_600_000;

/** How often the rule would have been triggered in a recent span; per hour if the span is longer than an hour. */
function rateText({ from, to, times }: AlertRate): string {
  const spanMs = Date.parse(to) - Date.parse(from);
  const span = lengthOfTime(Math.round(spanMs / 60_000) * 60_000);
  const some = countText(times);
  if (spanMs <= HOUR_MS) return t('Would have triggered in the last {span}: {times}.', { span, times: some });
  const hourly = new Intl.NumberFormat(locale, { maximumSignificantDigits: 2 }).format(times / (spanMs / HOUR_MS));
  return t('Would have triggered in the last {span}: {times}, or {hourly} an hour.', { span, times: some, hourly });
}

/** Number of objects to which the rule applies, and what it would find now. */
function previewText(kind: RuleKind, { watched, total }: AlertPreview): string {
  const all = countText(watched);
  const watching = watched === 1 ? t('Watching 1 object.') : t('Watching {all} objects.', { all });
  return `${watching} ${nowText(kind, total)}`;
}

function nowText(kind: RuleKind, total: number): string {
  const some = countText(total);
  switch (kind) {
    case 'entry':
      if (total === 1) return t('1 object inside now would have triggered this.');
      return t('{some} objects inside now would have triggered this.', { some });
    case 'exit':
      if (total === 1) return t('1 object inside now will trigger this when it leaves.');
      return t('{some} objects inside now will trigger this when they leave.', { some });
    case 'inside_longer':
      return t('Inside for longer now: {some}.', { some });
    case 'more_inside':
      return t('Fences over the limit now: {some}.', { some });
    case 'silent':
      return t('Silent for longer now: {some}.', { some });
    case 'collision':
      return t('Each collision triggers this when it begins.');
    case 'count_below':
      return t('Fences below the minimum now: {some}.', { some });
    case 'gate':
      return t('Each crossing triggers this.');
    case 'speed':
      return t('Faster now: {some}.', { some });
    case 'separated':
      return t('Farther away now: {some}.', { some });
    case 'together':
      return t('Pairs closer now: {some}.', { some });
  }
}
