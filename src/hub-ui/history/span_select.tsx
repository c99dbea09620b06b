import { SelectField } from '../controls/field.tsx';
import { t } from '../languages/language.ts';
import { SPANS, showSpan, spanFromUrl } from './past.ts';

/** How much of the past is looked at; the same everywhere, since it stands in the address. */
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
