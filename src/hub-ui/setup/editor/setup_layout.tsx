import type { ComponentChildren } from 'preact';
import pageStyles from '../../controls/page.module.css';
import styles from './setup_layout.module.css';

/** A list or a form beside its map; in the middle of the page where there is no map. */
export function SetupLayout({
  label,
  map,
  children,
}: {
  readonly label: string;
  readonly map: ComponentChildren | undefined;
  readonly children: ComponentChildren;
}) {
  if (map === undefined) return <div class={styles.page}>{children}</div>;
  return (
    <div class={`${pageStyles.full} ${styles.split}`}>
      <div class={styles.map}>{map}</div>
      <section class={styles.panel} aria-label={label}>
        {children}
      </section>
    </div>
  );
}
