import type { ComponentChildren } from 'preact';
import styles from './map_hint.module.css';

/** Instruction above a map. */
export function MapHint({ children }: { readonly children: ComponentChildren }) {
  return (
    <p class={styles.hint} role="status">
      {children}
    </p>
  );
}
