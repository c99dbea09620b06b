import type { ComponentChildren } from 'preact';
import styles from './expression_field.module.css';
import { TextField } from './field.tsx';

/** Text input for an expression of the locating rules, which is repeated with a mark at its error. */
export function ExpressionField({
  expression,
  column,
  example,
  ...field
}: {
  readonly label: string;
  readonly help?: ComponentChildren;
  readonly error: string | undefined;
  /** Column of the error, from 1. */
  readonly column: number | undefined;
  readonly example: string;
  readonly expression: string;
  readonly onInput: (expression: string) => void;
}) {
  return (
    <>
      <TextField
        {...field}
        spellcheck={false}
        autocapitalize="off"
        autocomplete="off"
        placeholder={example}
        value={expression}
      />
      {column !== undefined && (
        <code class={styles.place} aria-hidden="true">
          {expression.slice(0, column - 1)}
          <mark>{expression.slice(column - 1, column) || '\u00a0'}</mark>
          {expression.slice(column)}
        </code>
      )}
    </>
  );
}
