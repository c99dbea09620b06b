import type { ComponentChildren } from 'preact';
import styles from './disclosure.module.css';

/** Section that the user can expand. */
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
