import { useEffect, useState } from 'preact/hooks';
import { Button } from '../controls/button.tsx';
import { Icon } from '../controls/icons.tsx';
import { durationText, useNow } from '../controls/time.ts';
import { connection, reconnect, wasConnected } from '../hub/live.ts';
import { t } from '../languages/language.ts';
import styles from './lost_banner.module.css';

/** Delay before the banner appears, because short interruptions, such as a proxy restart, do not matter. */
const PATIENCE_MS = 2_000;

/** Banner that reports an unreachable hub; the page shows its last state. */
export function LostBanner() {
  const isLost = useIsLost();
  return <div role="alert">{isLost && <Lost />}</div>;
}

function Lost() {
  const { state, sinceMs, retryAtMs } = connection.value;
  const nowMs = useNow(1_000);
  const wait = retryAtMs === undefined ? 0 : Math.ceil((retryAtMs - nowMs) / 1_000);
  const seen = wasConnected.value
    ? t('What you see is {long} old.', { long: durationText(Math.max(0, nowMs - sinceMs)) })
    : t('No data yet.');
  return (
    <div class={styles.banner} data-lost>
      <Icon name="warning" />
      <p>
        <strong>{state === 'stale' ? t('The hub is not responding.') : t('The hub cannot be reached.')}</strong>{' '}
        {/* Hidden from screen readers, which would announce it every second. */}
        <span aria-hidden="true">{seen}</span>{' '}
        <span aria-hidden="true">{wait > 0 ? t('Next attempt in {wait} s.', { wait }) : t('Trying again …')}</span>
      </p>
      <Button onClick={reconnect}>{t('Try now')}</Button>
    </div>
  );
}

function useIsLost(): boolean {
  const { state, sinceMs } = connection.value;
  const isUnreachable = state === 'reconnecting' || state === 'stale';
  const [isLost, setLost] = useState(false);
  useEffect(() => {
    setLost(false);
    if (!isUnreachable) return;
    const timer = setTimeout(() => setLost(true), Math.max(0, sinceMs + PATIENCE_MS - Date.now()));
    return () => clearTimeout(timer);
  }, [isUnreachable]);
  return isUnreachable && isLost;
}
