import type { ComponentChildren } from 'preact';
import styles from './card.module.css';
import flow from './flow.module.css';

/**
 * A panel with a heading. `flush` where a table fills it to its edges, `stack` for parts with space between them; `look`
 * for one that holds a chart alone.
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
