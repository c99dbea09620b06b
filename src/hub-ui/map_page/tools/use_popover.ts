import { type MutableRef, useLayoutEffect, useRef } from 'preact/hooks';

/** Closes a popover on Escape, or on a pointer press outside of it. Returns the ref for its box. */
export function usePopover(isOpen: boolean, close: () => void): MutableRef<HTMLDivElement | null> {
  const box = useRef<HTMLDivElement>(null);
  // Runs before the first paint, because the user may press Escape at once.
  useLayoutEffect(() => {
    if (!isOpen) return;
    const end = (event: Event): void => {
      const isEscape = event instanceof KeyboardEvent && event.key === 'Escape';
      if (event instanceof KeyboardEvent ? !isEscape : box.current?.contains(event.target as Node)) return;
      // Escape closes only the popover.
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
