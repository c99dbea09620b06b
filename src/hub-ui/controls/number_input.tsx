import type { JSX } from 'preact';
import { equal } from '../json/equal.ts';
import fieldStyles from './field.module.css';
import { type Notation, useTyped } from './use_typed.ts';

type Attributes = Omit<
  JSX.InputHTMLAttributes<HTMLInputElement>,
  'type' | 'class' | 'value' | 'onChange' | 'onInput' | 'onBlur'
>;

const NUMBER: Notation<number | undefined> = {
  write: (value) => (value === undefined ? '' : String(value)),
  read: (text) => (text === '' ? undefined : Number(text)),
};

/** Input for an optional number. On blur it shows the stored number again: incomplete and rejected input is discarded. */
export function NumberInput({
  value,
  onInput,
  class: own = '',
  ...attributes
}: Attributes & {
  readonly class?: string | undefined;
  readonly value: number | undefined;
  readonly onInput: (value: number | undefined) => void;
}) {
  const [text, type] = useTyped(value, NUMBER);
  return (
    <input
      step="any"
      {...attributes}
      class={`${fieldStyles.input} ${own}`}
      type="number"
      value={text}
      onInput={({ currentTarget: input }) => {
        type(input.value);
        // The browser reports a lone minus sign as bad input with an empty value; it is the start of a number.
        if (!input.validity.badInput) onInput(NUMBER.read(input.value));
      }}
      onBlur={({ currentTarget: input }) => {
        if (!input.validity.badInput && equal(NUMBER.read(text), value)) return;
        input.value = NUMBER.write(value);
        type(input.value);
      }}
    />
  );
}
