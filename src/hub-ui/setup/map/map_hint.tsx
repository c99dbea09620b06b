import type { ComponentChildren } from 'preact';
import styles from './map_hint.module.css';

/** What to do on the map below. */
export function MapHint({ children }: { readonly children: ComponentChildren }) {
  return (
    <p class={styles.hint} role="status">
      {children}
    </p>
  );
}
