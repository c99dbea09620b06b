import { useEffect, useState } from 'preact/hooks';
import { t } from '../languages/language.ts';
import { countedText } from '../languages/numbers.ts';

/** Returns the current time and renders the component again at each interval. */
export function useNow(everyMs: number): number {
  const [nowMs, setNowMs] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return nowMs;
}

/** Formats the time since an event in words. */
export function ago(milliseconds: number): string {
  if (!Number.isFinite(milliseconds)) return t('at an unknown time');
  if (milliseconds < 2_000) return t('just now');
  return t('{long} ago', { long: durationText(milliseconds) });
}

/** Formats a duration in its largest unit. */
export function durationText(milliseconds: number): string {
  const seconds = Math.floor(milliseconds / 1_000);
  if (seconds < 90) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 90) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h` : countedText(Math.floor(hours / 24), 'day');
}
