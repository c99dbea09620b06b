import { useReducer, useRef } from 'preact/hooks';
import { equal } from '../json/equal.ts';

/** Formatter and parser of a value. The parser returns undefined for incomplete or invalid input. */
export interface Notation<T> {
  readonly write: (value: T) => string;
  readonly read: (text: string) => T | undefined;
}

/**
 * Input string of a value that is stored elsewhere, and its input handler. Input is incomplete for many keystrokes: `-`,
 * `-0` and `-0.0` before -0.05, `{` before an object. So it stays as typed, and is reformatted only if the value changes
 * to something else than the input means, for example by an undo.
 */
export function useTyped<T>(
  value: T,
  { write, read }: Notation<T>,
): readonly [text: string, type: (text: string) => void] {
  const typed = useRef<{ text: string; value: T }>();
  typed.current ??= { text: write(value), value };
  const current = typed.current;
  if (!equal(current.value, value)) {
    if (!equal(read(current.text), value)) current.text = write(value);
    current.value = value;
  }
  const [, redraw] = useReducer((count: number, _: undefined) => count + 1, 0);
  const type = (text: string): void => {
    current.text = text;
    redraw(undefined);
  };
  return [current.text, type];
}
