import { signal } from '@preact/signals';
import { errorText } from '../problems/sentences.ts';
import { Icon } from './icons.tsx';
import styles from './toasts.module.css';

type Tone = 'ok' | 'danger';

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: Tone;
}

const toasts = signal<readonly Toast[]>([]);
const SHOWN_MS: Readonly<Record<Tone, number>> = { ok: 4_000, danger: 12_000 };
let lastId = 0;

/** Says in a corner that something was done, or could not be. */
export function toast(text: string, tone: Tone = 'ok'): void {
  lastId++;
  const id = lastId;
  toasts.value = [...toasts.value.slice(-4), { id, text, tone }];
  setTimeout(() => dismiss(id), SHOWN_MS[tone]);
}

/** Says why something failed. */
export function toastError(error: unknown): void {
  toast(errorText(error), 'danger');
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((shown) => shown.id !== id);
}

export function Toasts() {
  return (
    <div class={styles.toasts} role="status" aria-live="polite">
      {toasts.value.map(({ id, text, tone }) => (
        <div class={styles.toast} data-tone={tone} key={id}>
          <Icon name={tone === 'ok' ? 'check' : 'warning'} />
          <span>{text}</span>
          <button type="button" aria-label="Dismiss" onClick={() => dismiss(id)}>
            <Icon name="close" width={14} height={14} />
          </button>
        </div>
      ))}
    </div>
  );
}
