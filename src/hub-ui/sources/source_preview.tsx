import { useEffect, useState } from 'preact/hooks';
import type { SourcePreview } from '../../model/source.ts';
import { Link } from '../controls/link.tsx';
import typography from '../controls/typography.module.css';
import { problemError, request } from '../hub/rest.ts';
import { t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
import { errorText } from '../problems/sentences.ts';
import styles from './sources.module.css';

const PATIENCE_MS = 300;
const SHOWN_MAX = 5;

interface PreviewProps {
  /** The source as JSON; undefined if it is not valid JSON. */
  readonly source: object | undefined;
  readonly payload: string;
  readonly topic: string;
}

/** Shows the locations that a source would make of a sample, while the user types. */
export function SourcePreviewSection({ source, payload, topic }: PreviewProps) {
  const [found, setFound] = useState<SourcePreview>();
  const [error, setError] = useState<unknown>();
  const text =
    source === undefined || payload === '' ? undefined : JSON.stringify({ source, payload, ...(topic && { topic }) });
  useEffect(() => {
    if (text === undefined) return;
    const asking = new AbortController();
    const timer = setTimeout(() => {
      request<SourcePreview>('POST', '/sources/preview', { body: JSON.parse(text), signal: asking.signal }).then(
        (preview) => {
          if (asking.signal.aborted) return;
          setFound(preview);
          setError(undefined);
        },
        (problem: unknown) => {
          if (!asking.signal.aborted) setError(problem);
        },
      );
    }, PATIENCE_MS);
    return () => {
      clearTimeout(timer);
      asking.abort();
    };
  }, [text]);
  return (
    <section class={styles.preview} aria-label={t('Preview')} aria-live="polite">
      <h3 class={typography.caption}>{t('Preview')}</h3>
      {text === undefined && <p>{t('Paste a payload to see its locations.')}</p>}
      {text !== undefined && error !== undefined && <p class={styles.error}>{errorText(error)}</p>}
      {text !== undefined && error === undefined && found !== undefined && <Found preview={found} />}
    </section>
  );
}

function Found({ preview: { items, problems, count, skipped } }: { readonly preview: SourcePreview }) {
  return (
    <>
      <p>
        {t('{count} mapped, {skipped} skipped, {refused} rejected', {
          count: countText(count),
          skipped: countText(skipped),
          refused: countText(problems.length),
        })}
      </p>
      <ul class={styles.items}>
        {items.slice(0, SHOWN_MAX).map(({ at, location, proximity, position, problem, warnings }) => (
          <li key={at}>
            <code class={styles.json}>{JSON.stringify(location ?? proximity)}</code>
            {position !== undefined && (
              <Link href={`/?at=${position.join(',')}&z=19`}>
                {t('Show {position} on the map', { position: position.join(', ') })}
              </Link>
            )}
            {warnings.map((warning) => (
              <p key={warning.reason} class={styles.warning}>
                {errorText(problemError(warning))}
              </p>
            ))}
            {problem !== undefined && <p class={styles.error}>{errorText(problemError(problem))}</p>}
          </li>
        ))}
        {problems.slice(0, SHOWN_MAX).map((problem) => (
          <li key={problem.message} class={styles.error}>
            {errorText(problemError(problem))}
          </li>
        ))}
      </ul>
    </>
  );
}
