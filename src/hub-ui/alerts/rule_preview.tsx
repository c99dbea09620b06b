import { useEffect, useState } from 'preact/hooks';
import type { AlertPreview } from '../../model/alert.ts';
import { ago } from '../controls/time.ts';
import typography from '../controls/typography.module.css';
import { request } from '../hub/rest.ts';
import { t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
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
      <p>{found === undefined ? t('Complete the sentence to see what it is about.') : previewText(body.kind, found)}</p>
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

function previewText(kind: RuleKind, { watched, total }: AlertPreview): string {
  const all = countText(watched);
  const some = countText(total);
  switch (kind) {
    case 'entry':
      return t('Objects that are watched: {all}. Inside now, whose entries it would have alerted of: {some}.', {
        all,
        some,
      });
    case 'exit':
      return t('Objects that are watched: {all}. Inside now, whose exits it will alert of: {some}.', { all, some });
    case 'inside_longer':
      return t('Objects that are watched: {all}. Inside for longer than that: {some}.', { all, some });
    case 'more_inside':
      return t('Objects that are counted: {all}. Fences with more than that inside: {some}.', { all, some });
    case 'silent':
      return t('Objects that are watched: {all}. Silent for longer than that: {some}.', { all, some });
    case 'collision':
      return t('Objects that are watched: {all}. Collisions are alerted of as they begin.', { all });
    case 'count_below':
      return t('Objects that are counted: {all}. Fences with fewer than that inside: {some}.', { all, some });
    case 'gate':
      return t('Objects that are watched: {all}. Crossings are alerted of as they happen.', { all });
    case 'speed':
      return t('Objects that are watched: {all}. Faster than that: {some}.', { all, some });
    case 'separated':
      return t('Objects that are watched: {all}. Farther away than that: {some}.', { all, some });
    case 'together':
      return t('Objects that are watched: {all}. Pairs closer than that: {some}.', { all, some });
  }
}
