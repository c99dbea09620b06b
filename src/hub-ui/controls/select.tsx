import type { JSX } from 'preact';
import fieldStyles from './field.module.css';

/** Option of a select. */
export interface Option<T extends string> {
  readonly value: T;
  readonly label: string;
}

export interface SelectProps<T extends string> {
  readonly value: T;
  readonly options: readonly Option<T>[];
  readonly onChange: (value: T) => void;
  readonly disabled?: boolean;
}

type Attributes = Omit<JSX.SelectHTMLAttributes<HTMLSelectElement>, 'value' | 'onChange' | 'class'>;

/** Select without a visible label. */
export function Select<T extends string>({
  value,
  options,
  onChange,
  class: own = '',
  ...attributes
}: SelectProps<T> & Attributes & { readonly class?: string | undefined }) {
  return (
    <select
      {...attributes}
      class={`${fieldStyles.input} ${own}`}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value as T)}
    >
      {options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
    </select>
  );
}
