import type { ComponentChildren } from 'preact';
import styles from './facts.module.css';

/** Names and values in two columns; rows without a value are left out. */
export function Facts({ rows }: { readonly rows: readonly (readonly [string, ComponentChildren | undefined])[] }) {
  return (
    <dl class={styles.facts}>
      {rows
        .filter(([, value]) => value !== undefined && value !== null && value !== '')
        .map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </>
        ))}
    </dl>
  );
}
