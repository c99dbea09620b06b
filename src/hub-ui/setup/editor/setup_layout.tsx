import type { ComponentChildren } from 'preact';
import pageStyles from '../../controls/page.module.css';
import styles from './setup_layout.module.css';

/** Layout with a list or form next to a map; centered without a map. */
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
