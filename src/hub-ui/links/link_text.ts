import type { Link, LinkState, LinkStatus } from '../../model/link.ts';
import { ago, durationText } from '../controls/time.ts';
import { t } from '../languages/language.ts';
import { wholeText } from '../languages/times.ts';
import { failureText } from '../problems/sentences.ts';

/** A link in replies of the hub. */
export type LinkWithState = Link & { readonly state?: LinkState };

export const STATUS_LOOKS = {
  connected: { label: t('Connected'), tone: 'ok' },
  connecting: { label: t('Connecting'), tone: 'warn' },
  waiting: { label: t('Down'), tone: 'danger' },
  disabled: { label: t('Paused'), tone: 'neutral' },
  self: { label: t('Leads to this hub'), tone: 'danger' },
  elsewhere: { label: t('At another hub'), tone: 'info' },
} as const satisfies Readonly<Record<LinkStatus, object>>;

/** API path of a link, without the version. */
export function linkPath(id: string): string {
  return `/links/${encodeURIComponent(id)}`;
}

/** Status of a link. */
export function statusOf({ enabled, state }: LinkWithState): LinkStatus {
  return enabled === false ? 'disabled' : (state?.status ?? 'connecting');
}

/** Explains the status in a sentence. */
export function meaningOf(link: LinkWithState, nowMs: number): string {
  const { down_from: downFrom, hub_name: name } = link.state ?? {};
  const status = statusOf(link);
  switch (status) {
    case 'connected':
      return name == null ? t('Events arrive.') : t('Events of {hub} arrive.', { hub: name });
    case 'connecting':
      return t('The connection is being established.');
    case 'waiting':
      return downFrom == null
        ? t('The hub retries every few seconds.')
        : t('Down since {time}, {ago}. The hub retries every few seconds.', {
            time: wholeText(Date.parse(downFrom)),
            ago: ago(Math.max(0, nowMs - Date.parse(downFrom))),
          });
    case 'disabled':
      return t('Nothing is received until it is resumed.');
    case 'self':
      return t('The URL leads to this hub itself, so the link does nothing.');
    case 'elsewhere':
      return t('Another hub of the cluster runs this link.');
  }
}

/** Since when a link has been down, and why; for a list. */
export function problemText(link: LinkWithState, nowMs: number): string {
  const { down_from: from, last_error: error, ...failure } = link.state ?? {};
  if (statusOf(link) !== 'waiting' || from == null) return meaningOf(link, nowMs);
  const long = durationText(Math.max(0, nowMs - Date.parse(from)));
  return t('Down for {long}: {why}', { long, why: failureText(error, failure) ?? t('the reason is unknown') });
}

/** The last outage that is over; undefined without one. */
export function outageText({ down_from: from, down_to: to }: LinkState): string | undefined {
  if (from == null || to == null) return undefined;
  return t('{from} to {to}', { from: wholeText(Date.parse(from)), to: wholeText(Date.parse(to)) });
}
