import { type MutableRef, useLayoutEffect, useRef } from 'preact/hooks';

/** The box of something that is open until one presses Escape, or points elsewhere. */
export function usePopover(isOpen: boolean, close: () => void): MutableRef<HTMLDivElement | null> {
  const box = useRef<HTMLDivElement>(null);
  // Runs before the first paint, because the user may leave at once.
  useLayoutEffect(() => {
    if (!isOpen) return;
    const end = (event: Event): void => {
      const isEscape = event instanceof KeyboardEvent && event.key === 'Escape';
      if (event instanceof KeyboardEvent ? !isEscape : box.current?.contains(event.target as Node)) return;
      // It closes this alone.
      if (isEscape) event.preventDefault();
      close();
    };
    addEventListener('pointerdown', end);
    addEventListener('keydown', end, { capture: true });
    return () => {
      removeEventListener('pointerdown', end);
      removeEventListener('keydown', end, { capture: true });
    };
  }, [isOpen]);
  return box;
}
