import { t } from '../languages/language.ts';
import { pastFromUrl } from '../map/map_url.ts';
import { setUrlParams, urlParam } from '../shell/url_state.ts';
import type { Range } from './history_api.ts';

/**
 * Which piece of the past is looked at, in the address: `t` is the time on the map, `span` the length of what the time
 * bar shows in seconds, `until` its end where that is not now, `speed` how fast it is played.
 */

interface Span {
  readonly seconds: number;
  readonly label: string;
  /** What a press of an arrow key moves. */
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

/** What is nearer to now than this is now. */
const LIVE_MS = 2_000;

export function spanFromUrl(): Span {
  return SPANS.find(({ seconds }) => String(seconds) === urlParam('span')) ?? USUAL_SPAN;
}

export function speedFromUrl(): number {
  return SPEEDS.find((speed) => String(speed) === urlParam('speed')) ?? USUAL_SPEED;
}

/** What the time bar shows: the time that is looked at is in it. */
export function rangeFromUrl(nowMs: number): Range {
  const spanMs = spanFromUrl().seconds * 1_000;
  const asked = Date.parse(urlParam('until') ?? '');
  const untilMs = Number.isFinite(asked) && asked < nowMs ? asked : nowMs;
  const atMs = pastFromUrl() ?? untilMs;
  const isIn = atMs >= untilMs - spanMs && atMs <= untilMs;
  const toMs = isIn ? untilMs : Math.min(nowMs, atMs + spanMs / 2);
  return { fromMs: toMs - spanMs, toMs };
}

/** Goes to a time, with what the bar shows around it. A step of the browser's history, unless it only goes on. */
export function goTo(atMs: number, nowMs: number, { replace = false }: { readonly replace?: boolean } = {}): void {
  if (atMs >= nowMs - LIVE_MS) {
    goLive();
    return;
  }
  written = timeParam(atMs);
  setUrlParams({ t: written, until: untilFor(atMs, nowMs) }, { replace });
}

/** Whether the time of the address comes from `goTo`, and not from a link or a step back. */
export function isWritten(): boolean {
  return written !== undefined && urlParam('t') === written;
}

let written: string | undefined;

export function goLive(): void {
  setUrlParams({ t: undefined, until: undefined }, { replace: pastFromUrl() === undefined });
}

/** Shows another length of time, with the time that is looked at in it. */
export function showSpan(seconds: number, nowMs: number): void {
  const atMs = pastFromUrl();
  setUrlParams({ span: seconds });
  if (atMs !== undefined) setUrlParams({ until: untilFor(atMs, nowMs) });
}

/** The end of the bar that has a time in it: as it is, else now, else half of the bar after the time. */
function untilFor(atMs: number, nowMs: number): string | undefined {
  const { fromMs, toMs } = rangeFromUrl(nowMs);
  if (atMs >= fromMs && atMs <= toMs) return toMs === nowMs ? undefined : timeParam(toMs);
  const spanMs = toMs - fromMs;
  if (atMs >= nowMs - spanMs) return undefined;
  return timeParam(atMs + spanMs / 2);
}

/** A time in the address: as short as its seconds allow. */
export function timeParam(atMs: number): string {
  return `${new Date(atMs).toISOString().slice(0, 19)}Z`;
}
