import type { SinkTest } from '../../model/sink.ts';
import { Notice } from '../controls/notice.tsx';
import { t } from '../languages/language.ts';
import { millisecondsText } from '../languages/numbers.ts';
import { failureText } from '../problems/sentences.ts';

/** API path of a sink, without the version. */
export function sinkPath(id: string): string {
  return `/sinks/${encodeURIComponent(id)}`;
}

/** Result of a test delivery, announced to screen readers. */
export function TestNotice({ result: { delivered, duration, error, ...failure } }: { readonly result: SinkTest }) {
  const long = millisecondsText(duration);
  return delivered ? (
    <div role="status">
      <Notice>{t('The target accepted the test event after {long}.', { long })}</Notice>
    </div>
  ) : (
    <Notice tone="danger">
      {t('The target did not accept the test event, after {long}: {why}', {
        long,
        why: failureText(error, failure) ?? '',
      })}
    </Notice>
  );
}
