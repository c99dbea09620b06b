import { useEffect, useState } from 'preact/hooks';
import { connection, reconnect } from '../hub/live.ts';
import type { SocketState } from '../hub/live_socket.ts';
import { waitingReads } from '../hub/rest.ts';
import { t } from '../languages/language.ts';
import type { Tone } from './badge.tsx';
import styles from './connection_status.module.css';
import typography from './typography.module.css';

/** Label and tone of each connection state. */
export const STATES: Readonly<Record<SocketState, { readonly label: string; readonly tone: Tone }>> = {
  connecting: { label: t('Connecting'), tone: 'neutral' },
  connected: { label: t('Connected'), tone: 'ok' },
  stale: { label: t('Stale'), tone: 'warn' },
  reconnecting: { label: t('Reconnecting'), tone: 'danger' },
};

/** State while the connection is up, but requests are retried because no hub has answered them. */
const RETRYING = { label: t('Retrying'), tone: 'warn' } as const;

/** State of the connection; a click reconnects at once. */
export function Status() {
  const { state, retryAtMs } = connection.value;
  const isRetrying = state === 'connected' && waitingReads.value > 0;
  const { label, tone } = isRetrying ? RETRYING : STATES[state];
  const seconds = useCountdown(retryAtMs);
  const text = state === 'reconnecting' && seconds > 0 ? t('{label} in {seconds} s', { label, seconds }) : label;
  return (
    <button
      type="button"
      class={styles.status}
      data-tone={tone}
      data-state={state}
      title={
        isRetrying ? t('No hub has answered yet') : state === 'connected' ? t('The hub answers') : t('Try again now')
      }
      disabled={state === 'connected'}
      onClick={reconnect}
    >
      <span class={styles.dot} />
      <span data-text aria-live="polite">
        {text}
      </span>
      <span class={typography.hidden}>{text}</span>
    </button>
  );
}

function useCountdown(untilMs: number | undefined): number {
  const [nowMs, setNowMs] = useState(Date.now());
  useEffect(() => {
    if (untilMs === undefined) return;
    setNowMs(Date.now());
    const timer = setInterval(() => setNowMs(Date.now()), 500);
    return () => clearInterval(timer);
  }, [untilMs]);
  return untilMs === undefined ? 0 : Math.max(0, Math.ceil((untilMs - nowMs) / 1000));
}
