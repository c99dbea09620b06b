import type { ComponentChildren } from 'preact';
import styles from './facts.module.css';

export type FactRow = readonly [name: string, value: ComponentChildren | undefined];

/** Names and values in two columns; rows without a value are omitted. */
export function Facts({ rows }: { readonly rows: readonly FactRow[] }) {
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
