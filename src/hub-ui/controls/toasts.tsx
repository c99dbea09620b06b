import { signal } from '@preact/signals';
import { t } from '../languages/language.ts';
import { errorText } from '../problems/sentences.ts';
import { Icon } from './icons.tsx';
import styles from './toasts.module.css';

type Tone = 'ok' | 'danger';

interface Toast {
  readonly id: number;
  readonly text: string;
  readonly tone: Tone;
  readonly action: ToastAction | undefined;
}

/** Follow-up action of a toast, such as undo. */
export interface ToastAction {
  readonly label: string;
  readonly act: () => void;
}

/** Action that undoes what the toast reports. */
export function undoBy(act: () => Promise<void>): ToastAction {
  return { label: t('Undo'), act: () => void act() };
}

const toasts = signal<readonly Toast[]>([]);
const SHOWN_MS: Readonly<Record<Tone, number>> = { ok: 4_000, danger: 12_000 };
/** Duration of a toast with an action. */
const WITH_ACTION_MS = 30_000;
let lastId = 0;

/** Shows a toast about a success or failure, with an optional action. */
export function toast(text: string, tone: Tone = 'ok', action?: ToastAction): void {
  lastId++;
  const id = lastId;
  toasts.value = [...toasts.value.slice(-4), { id, text, tone, action }];
  setTimeout(() => dismiss(id), action === undefined ? SHOWN_MS[tone] : WITH_ACTION_MS);
}

/** Shows a toast with the message of an error. */
export function toastError(error: unknown): void {
  toast(errorText(error), 'danger');
}

function dismiss(id: number): void {
  toasts.value = toasts.value.filter((shown) => shown.id !== id);
}

export function Toasts() {
  return (
    <div class={styles.toasts} role="status" aria-live="polite">
      {toasts.value.map(({ id, text, tone, action }) => (
        <div class={styles.toast} data-tone={tone} key={id}>
          <Icon name={tone === 'ok' ? 'check' : 'warning'} />
          <span>{text}</span>
          {action !== undefined && (
            <button
              type="button"
              class={styles.action}
              onClick={() => {
                dismiss(id);
                action.act();
              }}
            >
              {action.label}
            </button>
          )}
          <button type="button" aria-label={t('Dismiss')} onClick={() => dismiss(id)}>
            <Icon name="close" width={14} height={14} />
          </button>
        </div>
      ))}
    </div>
  );
}
