import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import styles from './tabs.module.css';

/** Tabs for views of which one is visible. */
export function Tabs<T extends string>(props: {
  readonly label: string;
  readonly value: T;
  readonly options: readonly { readonly value: T; readonly label: ComponentChildren }[];
  readonly onChange: (value: T) => void;
}) {
  const { options, value, onChange } = props;
  const list = useRef<HTMLDivElement>(null);
  // On a narrow screen the selected tab may be out of view.
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
    <div ref={list} class={styles.tabs} role="tablist" aria-label={props.label} onKeyDown={step}>
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
