import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icons.tsx';

export function Notice({
  tone = 'info',
  children,
}: {
  readonly tone?: 'info' | 'warn' | 'danger';
  readonly children: ComponentChildren;
}) {
  return (
    <div class="notice" data-tone={tone} role={tone === 'danger' ? 'alert' : undefined}>
      <Icon name={tone === 'info' ? 'info' : 'warning'} />
      <div>{children}</div>
    </div>
  );
}

/** What stands where there is nothing yet, and what to do about it. */
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
    <div class="empty">
      <Icon name={icon} />
      <h2>{title}</h2>
      {children}
    </div>
  );
}

export function Spinner({ label = 'Loading' }: { readonly label?: string }) {
  return (
    <div class="row" role="status">
      <span class="spinner" />
      <span class="soft">{label}</span>
    </div>
  );
}
