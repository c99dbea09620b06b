import type { ComponentChildren } from 'preact';
import styles from './badge.module.css';

export type Tone = 'neutral' | 'ok' | 'warn' | 'danger' | 'info' | 'accent';

export function Badge({
  tone = 'neutral',
  dot = false,
  children,
}: {
  readonly tone?: Tone;
  readonly dot?: boolean;
  readonly children: ComponentChildren;
}) {
  return (
    <span class={styles.badge} data-tone={tone}>
      {dot && <span class={styles.dot} />}
      {children}
    </span>
  );
}
