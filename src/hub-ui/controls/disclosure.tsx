import type { ComponentChildren } from 'preact';
import styles from './disclosure.module.css';

/** Content that is shown on request. */
export function Disclosure({
  title,
  isOpen = false,
  children,
}: {
  readonly title: ComponentChildren;
  readonly isOpen?: boolean | undefined;
  readonly children: ComponentChildren;
}) {
  return (
    <details class={styles.disclosure} open={isOpen}>
      <summary>{title}</summary>
      {children}
    </details>
  );
}
