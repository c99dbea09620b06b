import type { ComponentChildren, JSX } from 'preact';
import { useId } from 'preact/hooks';
import styles from './field.module.css';
import { NumberInput } from './number_input.tsx';
import { Select, type SelectProps } from './select.tsx';

interface FieldFrame {
  readonly label: string;
  /** Help text below the input. */
  readonly help?: ComponentChildren;
  /** Validation error of the value, announced to screen readers. */
  readonly error?: string | undefined;
}

interface InputIds {
  readonly id: string;
  readonly 'aria-invalid': boolean;
  readonly 'aria-describedby': string | undefined;
}

/** Label, input, and a help text or error below. `children` renders the input with the given ids. */
export function Field({
  label,
  help,
  error,
  children,
}: FieldFrame & { readonly children: (ids: InputIds) => ComponentChildren }) {
  const id = useId();
  const noteId = `${id}-note`;
  const hasNote = error !== undefined || help !== undefined;
  return (
    <div class={styles.field}>
      <label htmlFor={id}>{label}</label>
      {children({ id, 'aria-invalid': error !== undefined, 'aria-describedby': hasNote ? noteId : undefined })}
      <FieldError id={noteId} text={error} />
      {error === undefined && help !== undefined && (
        <p id={noteId} class={styles.help}>
          {help}
        </p>
      )}
    </div>
  );
}

/** Error sentence of an input, announced to screen readers; nothing without one. */
export function FieldError({ text, id }: { readonly text: string | undefined; readonly id?: string }) {
  if (text === undefined) return null;
  return (
    <p id={id} class={styles.error} role="alert">
      {text}
    </p>
  );
}

type InputProps = Omit<
  JSX.InputHTMLAttributes<HTMLInputElement>,
  'label' | 'class' | 'value' | 'onChange' | 'onInput' | 'onBlur'
>;

export function TextField({
  label,
  help,
  error,
  value,
  onInput,
  ...rest
}: FieldFrame & InputProps & { readonly value: string; readonly onInput: (value: string) => void }) {
  return (
    <Field label={label} help={help} error={error}>
      {(ids) => (
        <input {...rest} {...ids} class={styles.input} value={value} onInput={(e) => onInput(e.currentTarget.value)} />
      )}
    </Field>
  );
}

/** Input for a number; undefined if empty. `unit` is shown at the end of the input. */
export function NumberField({
  label,
  help,
  error,
  value,
  onInput,
  unit,
  ...rest
}: FieldFrame &
  InputProps & {
    readonly value: number | undefined;
    readonly onInput: (value: number | undefined) => void;
    readonly unit?: string;
  }) {
  return (
    <Field label={label} help={help} error={error}>
      {(ids) => (
        <div class={unit === undefined ? '' : styles.unit}>
          <NumberInput {...rest} {...ids} value={value} onInput={onInput} />
          {unit !== undefined && <span>{unit}</span>}
        </div>
      )}
    </Field>
  );
}

/** Input in seconds for a duration in milliseconds; undefined if empty. `min` and `max` are in seconds. */
export function SecondsField({
  value,
  onInput,
  ...rest
}: FieldFrame &
  InputProps & { readonly value: number | undefined; readonly onInput: (value: number | undefined) => void }) {
  return (
    <NumberField
      unit="s"
      min={0}
      {...rest}
      value={value === undefined ? undefined : value / 1_000}
      onInput={(seconds) => onInput(seconds === undefined ? undefined : Math.round(seconds * 1_000))}
    />
  );
}

export function SelectField<T extends string>({ label, help, error, ...select }: FieldFrame & SelectProps<T>) {
  return (
    <Field label={label} help={help} error={error}>
      {(ids) => <Select {...select} {...ids} />}
    </Field>
  );
}

/** Multiline text input. `mono` is for JSON and other code. */
export function AreaField({
  label,
  help,
  error,
  value,
  onInput,
  mono = false,
  rows = 4,
}: FieldFrame & {
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly mono?: boolean;
  readonly rows?: number;
}) {
  return (
    <Field label={label} help={help} error={error}>
      {(ids) => (
        <textarea
          {...ids}
          class={mono ? `${styles.input} ${styles.code}` : styles.input}
          rows={rows}
          spellcheck={!mono}
          value={value}
          onInput={(e) => onInput(e.currentTarget.value)}
        />
      )}
    </Field>
  );
}

/** Group of check boxes for a list of values. Errors of the list are announced. */
export function Checks<T extends string>({
  label,
  help,
  error,
  options,
  values,
  onChange,
}: FieldFrame & {
  readonly options: readonly { readonly value: T; readonly label: ComponentChildren }[];
  readonly values: readonly T[];
  readonly onChange: (values: T[]) => void;
}) {
  return (
    <fieldset class={styles.checks}>
      <legend class={styles.legend}>{label}</legend>
      <div>
        {options.map(({ value, label: name }) => (
          <Check
            key={value}
            label={name}
            checked={values.includes(value)}
            onChange={(isOn) => onChange(isOn ? [...values, value] : values.filter((each) => each !== value))}
          />
        ))}
      </div>
      <FieldError text={error} />
      {error === undefined && help !== undefined && <p class={styles.help}>{help}</p>}
    </fieldset>
  );
}

export function Check({
  label,
  checked,
  onChange,
  disabled = false,
}: {
  readonly label: ComponentChildren;
  readonly checked: boolean;
  readonly onChange: (checked: boolean) => void;
  readonly disabled?: boolean;
}) {
  return (
    <label class={styles.check}>
      <input
        type="checkbox"
        checked={checked}
        disabled={disabled}
        onChange={(e) => onChange(e.currentTarget.checked)}
      />
      <span>{label}</span>
    </label>
  );
}
