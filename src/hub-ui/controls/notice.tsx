import type { ComponentChildren } from 'preact';
import { t } from '../languages/language.ts';
import flow from './flow.module.css';
import { Icon, type IconName } from './icons.tsx';
import styles from './notice.module.css';
import typography from './typography.module.css';

export function Notice({
  tone = 'info',
  children,
}: {
  readonly tone?: 'info' | 'warn' | 'danger';
  readonly children: ComponentChildren;
}) {
  return (
    <div class={styles.notice} data-tone={tone} role={tone === 'danger' ? 'alert' : undefined}>
      <Icon name={tone === 'info' ? 'info' : 'warning'} />
      <div>{children}</div>
    </div>
  );
}

/** Message of an empty list, with the next step. */
export function Empty({
  icon,
  title,
  children,
}: {
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ComponentChildren;
}) {
  return (
    <div class={styles.empty}>
      <Icon name={icon} />
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function Spinner({ label = t('Loading') }: { readonly label?: string }) {
  return (
    <div class={flow.row} role="status">
      <span class={styles.spinner} />
      <span class={typography.soft}>{label}</span>
    </div>
  );
}
