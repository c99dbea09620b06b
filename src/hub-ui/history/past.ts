import { setUrlParams, urlParam } from '../controls/url_state.ts';
import { t } from '../languages/language.ts';
import { pastFromUrl } from '../map/view/map_url.ts';
import type { Range } from './history_api.ts';

/**
 * Playback state in the URL: `t` is the time on the map, `span` the length of the time bar in seconds, `until` its end if
 * not now, `versus` the other range of a comparison, `speed` the playback speed. A link with `play` starts playback once.
 */

interface Span {
  readonly seconds: number;
  readonly label: string;
  /** Step of an arrow key. */
  readonly stepSeconds: number;
}

export const SPANS: readonly Span[] = [
  { seconds: 600, label: t('10 minutes'), stepSeconds: 1 },
  { seconds: 3_600, label: t('1 hour'), stepSeconds: 5 },
  { seconds: 6 * 3_600, label: t('6 hours'), stepSeconds: 30 },
  { seconds: 24 * 3_600, label: t('1 day'), stepSeconds: 60 },
  { seconds: 7 * 24 * 3_600, label: t('1 week'), stepSeconds: 600 },
];

const USUAL_SPAN = { seconds: 3_600, label: t('1 hour'), stepSeconds: 5 };

export const SPEEDS: readonly number[] = [1, 5, 10, 30, 60, 120];
const USUAL_SPEED = 10;

/** Times closer to now than this count as now. */
const LIVE_MS = 2_000;

export function spanFromUrl(): Span {
  return SPANS.find(({ seconds }) => String(seconds) === urlParam('span')) ?? USUAL_SPAN;
}

export function speedFromUrl(): number {
  return SPEEDS.find((speed) => String(speed) === urlParam('speed')) ?? USUAL_SPEED;
}

/** Range of the time bar; contains the time on the map. */
export function rangeFromUrl(nowMs: number): Range {
  const spanMs = spanFromUrl().seconds * 1_000;
  const requestedMs = Date.parse(urlParam('until') ?? '');
  const untilMs = Number.isFinite(requestedMs) && requestedMs < nowMs ? requestedMs : nowMs;
  const atMs = pastFromUrl() ?? untilMs;
  const isIn = atMs >= untilMs - spanMs && atMs <= untilMs;
  const toMs = isIn ? untilMs : Math.min(nowMs, atMs + spanMs / 2);
  return { fromMs: toMs - spanMs, toMs };
}

/**
 * Range that a range is compared with, of the same length. In the URL, `versus` is the time between both in seconds, or the end of
 * the other range. Undefined without a comparison.
 */
export function versusFromUrl({ fromMs, toMs }: Range): Range | undefined {
  const versus = urlParam('versus') ?? '';
  const otherMs = /^\d+$/.test(versus) ? toMs - Number(versus) * 1_000 : Date.parse(versus);
  return Number.isFinite(otherMs) ? { fromMs: otherMs - (toMs - fromMs), toMs: otherMs } : undefined;
}

/** Seeks to a time and moves the bar around it. Adds an entry to the browser's history, unless `replace`. */
export function goTo(atMs: number, nowMs: number, { replace = false }: { readonly replace?: boolean } = {}): void {
  if (atMs >= nowMs - LIVE_MS) {
    goLive();
    return;
  }
  written = timeParam(atMs);
  setUrlParams({ t: written, until: untilFor(atMs, nowMs) }, { replace });
}

/** Returns whether `goTo` set the time in the URL, rather than a link or the back button. */
export function isWritten(): boolean {
  return written !== undefined && urlParam('t') === written;
}

let written: string | undefined;

export function goLive(): void {
  setUrlParams({ t: undefined, until: undefined }, { replace: pastFromUrl() === undefined });
}

/** Changes the length of the time bar; it still contains the time on the map. */
export function showSpan(seconds: number, nowMs: number): void {
  const atMs = pastFromUrl();
  setUrlParams({ span: seconds });
  if (atMs !== undefined) setUrlParams({ until: untilFor(atMs, nowMs) });
}

/** End of a time bar that contains a time: the current end if possible, else now, else half a bar after the time. */
function untilFor(atMs: number, nowMs: number): string | undefined {
  const { fromMs, toMs } = rangeFromUrl(nowMs);
  if (atMs >= fromMs && atMs <= toMs) return toMs === nowMs ? undefined : timeParam(toMs);
  const spanMs = toMs - fromMs;
  if (atMs >= nowMs - spanMs) return undefined;
  return timeParam(atMs + spanMs / 2);
}

/** Formats a time for the URL, without a zero fraction of seconds. */
export function timeParam(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}Z`;
}
