import type { ComponentChildren } from 'preact';
import styles from './card.module.css';
import flow from './flow.module.css';

/**
 * Panel with a heading. `flush` lets a table fill it to its edges, `stack` puts space between its parts; `look` is for a
 * single chart.
 */
export function Card({
  title,
  actions,
  flush = false,
  stack = false,
  look,
  children,
}: {
  readonly title?: string;
  readonly actions?: ComponentChildren;
  readonly flush?: boolean;
  readonly stack?: boolean;
  readonly look?: 'chart';
  readonly children: ComponentChildren;
}) {
  return (
    <section class={styles.card} data-look={look} aria-label={title}>
      {title !== undefined && (
        <div class={styles.head}>
          <h2>{title}</h2>
          {actions}
        </div>
      )}
      <div class={`${styles.body} ${flush ? styles.flush : stack ? flow.stack : ''}`}>{children}</div>
    </section>
  );
}
