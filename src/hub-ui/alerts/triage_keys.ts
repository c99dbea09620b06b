import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

/** Row of the list that has or had the focus: its key, and its index. */
interface FocusedRow {
  readonly key: string;
  readonly at: number;
}

/**
 * Keys of a list of alerts: J and K focus the next and the previous row, A acknowledges the focused row and goes on to the
 * next. S, M and C open the dialog of the focused row to snooze it, to assign it, and to comment on it. Elements with `data-row` are rows; the group of one is in the same `li`.
 *
 * Rows move and disappear as alerts change, and a browser then drops the focus. The row of the same key gets it again, or else
 * the row that is now at its place.
 */
export function useTriageKeys(list: RefObject<HTMLElement>): void {
  const last = useRef<FocusedRow>();
  // Runs before the first paint, because the user may press a key at once.
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const rows = rowsOf(list.current);
      const at = indexIn(rows, last.current);
      const key = event.key.toLowerCase();
      if (key === 'j') focus(rows[Math.min(at + 1, rows.length - 1)]);
      else if (key === 'k') focus(rows[Math.max(at - 1, 0)]);
      else if (key === 'a') acknowledge(rows, at);
      else if (HANDLE_KEYS.has(key)) handle(rows[at], event);
    };
    const focused = ({ target }: FocusEvent): void => {
      if (!(target instanceof Element) || target.closest('dialog') !== null) return;
      const rows = rowsOf(list.current);
      const row = target.closest<HTMLElement>('[data-row]');
      const at = row === null ? -1 : rows.indexOf(row);
      last.current = at < 0 ? undefined : { key: rows[at]?.dataset['row'] ?? '', at };
    };
    // A press outside of the list takes the focus away from it, even if nothing there can have it.
    const pressed = ({ target }: PointerEvent): void => {
      if (target instanceof Node && list.current?.contains(target) !== true) last.current = undefined;
    };
    addEventListener('keydown', press);
    addEventListener('focusin', focused);
    addEventListener('pointerdown', pressed);
    return () => {
      removeEventListener('keydown', press);
      removeEventListener('focusin', focused);
      removeEventListener('pointerdown', pressed);
    };
  }, [list]);
  useLayoutEffect(() => {
    if (last.current === undefined || document.activeElement !== document.body) return;
    const rows = rowsOf(list.current);
    focus(rows[indexIn(rows, last.current)]);
  });
}

function rowsOf(list: HTMLElement | null): readonly HTMLElement[] {
  return [...(list?.querySelectorAll<HTMLElement>('[data-row]') ?? [])];
}

/** Index of a row, or of the row at its place if it has disappeared. -1 without rows. */
function indexIn(rows: readonly HTMLElement[], wanted: FocusedRow | undefined): number {
  if (wanted === undefined) return -1;
  const at = rows.findIndex(({ dataset }) => dataset['row'] === wanted.key);
  return at < 0 ? Math.min(wanted.at, rows.length - 1) : at;
}

function focus(row: HTMLElement | undefined): void {
  // The header of a group has a button that opens it.
  (row?.querySelector<HTMLElement>('[aria-expanded]') ?? row)?.focus();
}

/** Keys that open the dialog of a row. The button of the row learns from `data-key` which one was pressed. */
const HANDLE_KEYS: ReadonlySet<string> = new Set(['s', 'm', 'c']);

function handle(row: HTMLElement | undefined, event: KeyboardEvent): void {
  const button = row?.querySelector<HTMLButtonElement>('[data-handle]');
  if (button == null) return;
  // The key must not be typed into the dialog.
  event.preventDefault();
  button.dataset['key'] = event.key.toLowerCase();
  button.click();
}

function acknowledge(rows: readonly HTMLElement[], at: number): void {
  const row = rows[at];
  const button = row?.querySelector<HTMLButtonElement>('[data-acknowledge]');
  if (row === undefined || button == null) return;
  button.click();
  const whole = row.closest('li');
  focus(rows.slice(at + 1).find((other) => whole?.contains(other) !== true));
}

/** Whether a key belongs to a field or a dialog. */
function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('input, textarea, select, dialog, [contenteditable]') !== null;
}
