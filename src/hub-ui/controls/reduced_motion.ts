const reduced = globalThis.matchMedia?.('(prefers-reduced-motion: reduce)');

/** Whether the user prefers pages without animations. */
export function prefersReducedMotion(): boolean {
  return reduced?.matches === true;
}
