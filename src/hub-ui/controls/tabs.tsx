import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { useLocation, useRoute } from 'wouter-preact';
import type { Option } from './select.tsx';
import styles from './tabs.module.css';

/** View of a page that the URL names below a path, or the first one; and the way to another. */
export function useView<T extends string>(
  path: string,
  views: readonly [Option<T>, ...(readonly Option<T>[])],
): readonly [view: T, show: (view: T) => void] {
  const [, params] = useRoute(`${path}/:view`);
  const [, navigate] = useLocation();
  const [first] = views;
  const { value: view } = views.find(({ value }) => value === params?.['view']) ?? first;
  return [view, (next) => navigate(next === first.value ? path : `${path}/${next}`)];
}

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
