import fieldStyles from '../controls/field.module.css';
import { Field } from '../controls/field.tsx';
import { setUrlParams } from '../controls/url_state.ts';
import { t } from '../languages/language.ts';
import { inputText, inputTime, zoneText } from '../languages/times.ts';
import { timeParam } from './past.ts';

/** Input for the end of a range, which is in a parameter of the URL; empty means now. */
export function UntilField({ toMs, param = 'until' }: { readonly toMs: number; readonly param?: 'until' | 'versus' }) {
  return (
    <Field label={t('Until ({zone})', { zone: zoneText(toMs) })}>
      {(ids) => (
        <input
          {...ids}
          class={fieldStyles.input}
          type="datetime-local"
          value={inputText(toMs).slice(0, 16)}
          onChange={({ currentTarget: { value } }) => {
            const atMs = inputTime(value);
            setUrlParams({ [param]: Number.isFinite(atMs) && atMs < Date.now() ? timeParam(atMs) : undefined });
          }}
        />
      )}
    </Field>
  );
}
