import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Icon, type IconName } from './icons.tsx';

/** The frame of a page that is not a map: its title, a sentence, its actions, and what it shows. */
export function Page({
  title,
  lead,
  actions,
  children,
}: {
  readonly title: string;
  readonly lead?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children?: ComponentChildren;
}) {
  useTitle(title);
  return (
    <div class="page">
      <header class="page-head">
        <div>
          <h1>{title}</h1>
          {lead !== undefined && <p class="page-lead">{lead}</p>}
        </div>
        {actions !== undefined && <div class="row">{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** Names the browser's tab after what it shows. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Location hub`;
  }, [title]);
}

/** A panel with a heading. `flush` where a table fills it to its edges. */
export function Card({
  title,
  actions,
  flush = false,
  children,
}: {
  readonly title?: string;
  readonly actions?: ComponentChildren;
  readonly flush?: boolean;
  readonly children: ComponentChildren;
}) {
  return (
    <section class="card" aria-label={title}>
      {title !== undefined && (
        <div class="card-head">
          <h2>{title}</h2>
          {actions}
        </div>
      )}
      <div class={flush ? 'card-body flush' : 'card-body'}>{children}</div>
    </section>
  );
}

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
    <span class="badge" data-tone={tone}>
      {dot && <span class="dot" />}
      {children}
    </span>
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

/** Names and values in two columns; rows without a value are left out. */
export function Facts({ rows }: { readonly rows: readonly (readonly [string, ComponentChildren | undefined])[] }) {
  return (
    <dl class="facts">
      {rows
        .filter(([, value]) => value !== undefined && value !== null && value !== '')
        .map(([name, value]) => (
          <>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </>
        ))}
    </dl>
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

/** Headings of views that share one place. */
export function Tabs<T extends string>(props: {
  readonly label: string;
  readonly value: T;
  readonly options: readonly { readonly value: T; readonly label: ComponentChildren }[];
  readonly onChange: (value: T) => void;
}) {
  const { options, value, onChange } = props;
  const list = useRef<HTMLDivElement>(null);
  // On a narrow screen the chosen one may be beyond the edge.
  useEffect(() => {
    const chosen = list.current?.querySelector('[aria-selected=true]');
    chosen?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [value]);
  const step = (event: KeyboardEvent): void => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by === undefined) return;
    const at = options.findIndex((option) => option.value === value);
    const next = options[(at + by + options.length) % options.length];
    if (next === undefined) return;
    onChange(next.value);
    const tabs = (event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('[role=tab]');
    tabs[(at + by + options.length) % options.length]?.focus();
  };
  return (
    <div ref={list} class="tabs" role="tablist" aria-label={props.label} onKeyDown={step}>
      {options.map((option) => (
        <button
          type="button"
          role="tab"
          key={option.value}
          aria-selected={option.value === value}
          tabIndex={option.value === value ? 0 : -1}
          onClick={() => onChange(option.value)}
        >
          {option.label}
        </button>
      ))}
    </div>
  );
}
