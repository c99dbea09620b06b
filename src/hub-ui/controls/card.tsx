import type { ComponentChildren } from 'preact';
import styles from './card.module.css';

/** A panel with a heading. `flush` where a table fills it to its edges; `look` for one that holds a chart alone. */
export function Card({
  title,
  actions,
  flush = false,
  look,
  children,
}: {
  readonly title?: string;
  readonly actions?: ComponentChildren;
  readonly flush?: boolean;
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
      <div class={flush ? `${styles.body} ${styles.flush}` : styles.body}>{children}</div>
    </section>
  );
}
