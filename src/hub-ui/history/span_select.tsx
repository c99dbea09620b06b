import { SelectField } from '../controls/field.tsx';
import { t } from '../languages/language.ts';
import { SPANS, showSpan, spanFromUrl } from './past.ts';

/** Select for the length of the time range, shared by all pages through the URL. */
export function SpanSelect() {
  return (
    <SelectField
      label={t('Period')}
      value={String(spanFromUrl().seconds)}
      options={SPANS.map((span) => ({ value: String(span.seconds), label: span.label }))}
      onChange={(seconds) => showSpan(Number(seconds), Date.now())}
    />
  );
}
