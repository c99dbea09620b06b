import { useReducer, useRef } from 'preact/hooks';
import { equal } from '../json/equal.ts';

/** How a value is written as text, and read back; undefined for a text that stands for no value (yet). */
export interface Notation<T> {
  readonly write: (value: T) => string;
  readonly read: (text: string) => T | undefined;
}

/**
 * The text of an input whose value is kept elsewhere, and what to call when somebody types. A text is on its way to a
 * value for many key strokes: `-`, `-0` and `-0.0` on the way to -0.05, `{` on the way to an object. So it stays as it
 * was typed, and is written anew only when the value has become another than the text says: by an undo, say.
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
