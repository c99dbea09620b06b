import { sentenceOf } from '../problems/sentences.ts';
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Trackable } from '../../model/trackable.ts';
import { batteryPercent, batteryText, LOW_BATTERY_PERCENT } from '../hub/battery.ts';
import { trackablesByProvider } from '../hub/carriers.ts';
import type { Entities, Kind } from '../hub/entity_kinds.ts';
import { subscribeLastSeen } from '../hub/live.ts';
import { TagActivity } from './unassigned_tags.ts';

/**
 * Activity of tags: when each was last seen, how often it reports, its battery, and its owner. A trackable has the activity
 * of all its providers.
 */

const tags = new TagActivity();
/** Incremented with each batch of activity. */
const batchCount = signal(0);
/** Whether the hub has sent the initial activity. Before that, no tag counts as silent. */
export const isActivityLoaded = signal(false);
/** Why the subscription to activity failed; undefined if it works. */
export const activityProblem = signal<string | undefined>(undefined);

/** Subscribes to the activity of all providers while the component is mounted and `isOn`; each batch renders it again. */
export function useTagActivity(isOn: boolean): number {
  useEffect(() => {
    if (!isOn) return;
    activityProblem.value = undefined;
    isActivityLoaded.value = false;
    return subscribeLastSeen(
      (batch) => {
        tags.add(batch, Date.now());
        isActivityLoaded.value = true;
        batchCount.value++;
      },
      (error) => {
        activityProblem.value = sentenceOf(error);
      },
    );
  }, [isOn]);
  return batchCount.value;
}

export type TagKind = 'trackables' | 'providers';

type Tag = Entities[TagKind];

/** Whether entities of a kind have activity. */
export function isTagKind(kind: Kind): kind is TagKind {
  return kind === 'trackables' || kind === 'providers';
}

/** Time at which a tag was last seen; undefined if never. */
export function lastSeenMs(kind: TagKind, tag: Tag): number | undefined {
  const times = sourcesOf(kind, tag).flatMap((id) => tags.lastMs(id) ?? []);
  return times.length === 0 ? undefined : Math.max(...times);
}

/** Locations per second. */
export function rateOf(kind: TagKind, tag: Tag, nowMs: number): number | undefined {
  const rates = sourcesOf(kind, tag).flatMap((id) => tags.rate(id, nowMs) ?? []);
  return rates.length === 0 ? undefined : rates.reduce((sum, rate) => sum + rate, 0);
}

/** Battery level that the tag reports, or else the level in its properties. */
export function batteryOf(kind: TagKind, tag: Tag): string | undefined {
  const levels = sourcesOf(kind, tag).map((id) => tags.battery(id));
  return levels.find((text) => text !== undefined) ?? batteryText(tag.properties);
}

/** Battery level in percent if it is low; undefined otherwise, and if the tag reports no percentage. */
export function lowBatteryOf(kind: TagKind, tag: Tag): number | undefined {
  const percent = batteryPercent(batteryOf(kind, tag) ?? '');
  return percent !== undefined && percent <= LOW_BATTERY_PERCENT ? percent : undefined;
}

/** Whether a trackable has no providers, or a provider no trackable. */
export function isUnassigned(kind: TagKind, tag: Tag): boolean {
  return kind === 'trackables' ? sourcesOf(kind, tag).length === 0 : !trackablesByProvider.value.has(tag.id);
}

/** Owner of a tag, from the first property with an owner-like name. */
export function ownerOf({ properties }: Tag): string | undefined {
  const found = Object.entries(properties ?? {}).find(
    ([name, value]) => OWNER.test(name) && (typeof value === 'string' || typeof value === 'number') && value !== '',
  );
  return found === undefined ? undefined : String(found[1]);
}

const OWNER = /^(owner|owned_?by|assignee|assigned_?to|responsible|driver|user)$/i;

/** Filter of the lists of tags. */
export interface TagFilter {
  /** Minimum silence of a tag; undefined for all tags. */
  readonly silentMs: number | undefined;
  readonly isUnassigned: boolean;
  readonly isBatteryLow: boolean;
}

/** Silence after which a tag counts as absent, unless a list has another filter. */
export const SILENT_MS = 300_000;

/** Whether a tag has been silent for longer than `silentMs` at `nowMs`, or was never seen. */
export function isSilent(kind: TagKind, tag: Tag, silentMs: number, nowMs: number): boolean {
  return nowMs - (lastSeenMs(kind, tag) ?? Number.NEGATIVE_INFINITY) > silentMs;
}

/** Entities that pass a filter at `nowMs`. */
export function filtered<K extends Kind>(
  kind: K,
  found: readonly Entities[K][],
  filter: TagFilter,
  nowMs: number,
): readonly Entities[K][] {
  const { silentMs, isBatteryLow } = filter;
  if (!isTagKind(kind) || (silentMs === undefined && !filter.isUnassigned && !isBatteryLow)) return found;
  return found.filter((entity) => {
    const tag = entity as Tag;
    if (filter.isUnassigned && !isUnassigned(kind, tag)) return false;
    if (isBatteryLow && lowBatteryOf(kind, tag) === undefined) return false;
    return silentMs === undefined || isSilent(kind, tag, silentMs, nowMs);
  });
}

function sourcesOf(kind: TagKind, tag: Tag): readonly string[] {
  return kind === 'trackables' ? ((tag as Trackable).location_providers ?? []) : [tag.id];
}
