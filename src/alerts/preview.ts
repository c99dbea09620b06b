import type { AlertMatch, AlertPreview, AlertRule } from '../model/alert.ts';
import { formatTime } from '../model/time.ts';
import type { Moving } from './alert_state.ts';
import {
  FENCE_KINDS,
  type Heard,
  heardAt,
  isAbout,
  isIn,
  type KnownObjects,
  objectsFor,
  type Stay,
  type Watched,
  watched,
} from './watch.ts';

/** Matches that are shown. */
const SHOWN_MAX = 100;

/** What is known at a moment. */
export interface Now {
  readonly nowMs: number;
  /** What has to be added to such a time for a time of day. */
  readonly toDayMs: number;
  readonly stays: readonly Stay[];
  readonly heard: Heard;
  readonly known: KnownObjects;
}

/**
 * What a rule would alert of at this moment. For entries and exits that is who is inside: whose entry it would have alerted
 * of, and whose exit it will. Collisions last for a moment, and are not looked for.
 */
export function previewOf(rule: AlertRule, now: Now): AlertPreview {
  const each = watched(rule);
  const matches = matchesOf(each, now);
  let about = 0;
  for (const object of objectsFor(each, now.known)) if (isAbout(each, object, now.known)) about++;
  return { watched: about, matches: matches.slice(0, SHOWN_MAX), total: matches.length };
}

function matchesOf(each: Watched, now: Now): readonly AlertMatch[] {
  const { kind, longer_than: longerMs = 0 } = each.rule;
  const timeOf = (atMs: number): string => formatTime(atMs + now.toDayMs);
  if (FENCE_KINDS.has(kind)) {
    const stays = now.stays.filter((stay) => isIn(each, stay.fenceId) && isAbout(each, stay, now.known));
    if (kind === 'more_inside') return crowds(stays, each.rule.more_than ?? 0);
    const leastMs = kind === 'inside_longer' ? (longerMs ?? 0) : 0;
    return stays
      .filter(({ sinceMs }) => now.nowMs - sinceMs >= leastMs)
      .sort((one, other) => one.sinceMs - other.sinceMs)
      .map((stay) => ({ fence_id: stay.fenceId, ...idOf(stay), since: timeOf(stay.sinceMs) }));
  }
  if (kind === 'collision') return [];
  return [...objectsFor(each, now.known)]
    .map((object) => ({ object, heardMs: heardAt(now.heard, object) ?? Number.POSITIVE_INFINITY }))
    .filter(({ object, heardMs }) => now.nowMs - heardMs > (longerMs ?? 0) && isAbout(each, object, now.known))
    .sort((one, other) => one.heardMs - other.heardMs)
    .map(({ object, heardMs }) => ({ ...idOf(object), since: timeOf(heardMs) }));
}

function idOf({ trackableId, providerId }: Moving): Pick<AlertMatch, 'trackable_id' | 'provider_id'> {
  return providerId === undefined ? { trackable_id: trackableId ?? null } : { provider_id: providerId };
}

function crowds(stays: readonly Stay[], moreThan: number): readonly AlertMatch[] {
  return [...Map.groupBy(stays, ({ fenceId }) => fenceId)]
    .filter(([, inside]) => inside.length > moreThan)
    .map(([fenceId, inside]) => ({ fence_id: fenceId, count: inside.length }))
    .sort((one, other) => other.count - one.count);
}
