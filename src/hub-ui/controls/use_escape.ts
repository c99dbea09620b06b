import { useLayoutEffect } from 'preact/hooks';

/** Closes a tool on Escape, unless a dialog is open. */
export function useEscape(close: () => void): void {
  // Runs before the first paint, because the user may press the key at once.
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && document.querySelector('dialog[open]') === null) close();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  });
}
