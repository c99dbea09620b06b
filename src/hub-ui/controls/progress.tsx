import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { t } from '../languages/language.ts';
import { countText } from '../languages/numbers.ts';
import flow from './flow.module.css';
import { Notice } from './notice.tsx';
import styles from './progress.module.css';
import typography from './typography.module.css';

/** Progress bar with label and counts. */
export function Progress({
  label,
  done,
  total,
}: {
  readonly label: string;
  readonly done: number;
  readonly total: number;
}) {
  return (
    <div class={styles.progress}>
      <div class={flow.row}>
        <span class={styles.label}>{label}</span>
        <span class={typography.soft} aria-live="polite">
          {t('{done} of {total}', { done: countText(done), total: countText(total) })}
        </span>
      </div>
      <progress aria-label={label} value={done} max={Math.max(total, 1)} />
    </div>
  );
}

/** Notice with the first failures and their reasons. */
export function Failures({
  title,
  rows,
}: {
  readonly title: string;
  readonly rows: readonly (readonly [string, ComponentChildren])[];
}) {
  if (rows.length === 0) return null;
  return (
    <Notice tone="danger">
      <p>
        <strong>{title}</strong>
      </p>
      <ul class={styles.failures}>
        {rows.slice(0, 50).map(([name, reason], index) => (
          <li key={index}>
            <strong>{name}</strong> {reason}
          </li>
        ))}
      </ul>
      {rows.length > 50 && <p>{t('… and {count} more', { count: rows.length - 50 })}</p>}
    </Notice>
  );
}

/** Counter that renders at most ten times a second. */
export function useCount(): { readonly count: number; readonly add: () => void; readonly reset: () => void } {
  const [count, setCount] = useState(0);
  const [counter] = useState(() => ({ count: 0, timer: undefined as ReturnType<typeof setTimeout> | undefined }));
  useEffect(() => () => clearTimeout(counter.timer), [counter]);
  const show = (): void => {
    counter.timer = undefined;
    setCount(counter.count);
  };
  return {
    count,
    add() {
      counter.count++;
      counter.timer ??= setTimeout(show, 100);
    },
    reset() {
      counter.count = 0;
      show();
    },
  };
}
