import fieldStyles from './field.module.css';
import styles from './search_input.module.css';

/** Search field. With `isInToolbar` it leaves room for other controls. */
export function SearchInput({
  label,
  hint,
  text,
  isInToolbar = false,
  onInput,
}: {
  readonly label: string;
  readonly hint: string;
  readonly text: string;
  readonly isInToolbar?: boolean;
  readonly onInput: (text: string) => void;
}) {
  return (
    <input
      class={isInToolbar ? `${fieldStyles.input} ${styles.toolbar}` : fieldStyles.input}
      type="search"
      aria-label={label}
      placeholder={hint}
      value={text}
      onInput={(event) => onInput(event.currentTarget.value)}
    />
  );
}
