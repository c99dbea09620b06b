import { Field } from './field.tsx';
import fieldStyles from './field.module.css';

/** Input of hours and minutes, in the notation of the browser: 12 or 24 hours. */
export function TimeOfDay({
  label,
  value,
  onInput,
}: {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
}) {
  return (
    <Field label={label}>
      {(ids) => (
        <input
          {...ids}
          class={fieldStyles.input}
          type="time"
          value={value}
          onInput={(event) => onInput(event.currentTarget.value.slice(0, 5))}
        />
      )}
    </Field>
  );
}
