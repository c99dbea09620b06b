import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Trackable } from '../../model/trackable.ts';
import { carriers } from '../hub/carriers.ts';
import type { Entities, Kind } from '../hub/kinds.ts';
import { subscribeHeard } from '../hub/live.ts';
import { batteryText } from '../map/battery.ts';
import { HeardTags } from './heard_tags.ts';

/**
 * What is seen of tags at a glance: when each was heard last, how often it is heard, its battery, and what it belongs to.
 * A trackable is heard of whenever one of its providers is.
 */

const tags = new HeardTags();
/** Rises whenever something was heard. */
const heardTimes = signal(0);
/** Whether the hub has said when each was heard: before that nobody knows who is silent. */
export const isHeardKnown = signal(false);
/** Why the hub tells nothing; undefined while it does. */
export const heardProblem = signal<string | undefined>(undefined);

/** Listens to all providers while the component is there and `isOn`; it is drawn again when something was heard. */
export function useHeard(isOn: boolean): number {
  useEffect(() => {
    if (!isOn) return;
    heardProblem.value = undefined;
    isHeardKnown.value = false;
    return subscribeHeard(
      (batch) => {
        tags.take(batch, Date.now());
        isHeardKnown.value = true;
        heardTimes.value++;
      },
      (description) => {
        heardProblem.value = description;
      },
    );
  }, [isOn]);
  return heardTimes.value;
}

export type HeardKind = 'trackables' | 'providers';

type Tag = Entities[HeardKind];

/** Whether entities of a kind are heard of. */
export function isHeard(kind: Kind): kind is HeardKind {
  return kind === 'trackables' || kind === 'providers';
}

/** When it was heard last; undefined where never. */
export function lastHeardMs(kind: HeardKind, tag: Tag): number | undefined {
  const times = sourcesOf(kind, tag).flatMap((id) => tags.lastMs(id) ?? []);
  return times.length === 0 ? undefined : Math.max(...times);
}

/** Locations a second. */
export function rateOf(kind: HeardKind, tag: Tag, nowMs: number): number | undefined {
  const rates = sourcesOf(kind, tag).flatMap((id) => tags.rate(id, nowMs) ?? []);
  return rates.length === 0 ? undefined : rates.reduce((sum, rate) => sum + rate, 0);
}

/** What it says of its battery, or what was written of it. */
export function batteryOf(kind: HeardKind, tag: Tag): string | undefined {
  const told = sourcesOf(kind, tag).map((id) => tags.battery(id));
  return told.find((text) => text !== undefined) ?? batteryText(tag.properties);
}

/** Whether nothing belongs to it that it could be found by, or nothing that could be found. */
export function isUnassigned(kind: HeardKind, tag: Tag): boolean {
  return kind === 'trackables' ? sourcesOf(kind, tag).length === 0 : !carriers.value.has(tag.id);
}

/** Whom it belongs to, in the words of whoever has set it up. */
export function ownerOf({ properties }: Tag): string | undefined {
  const found = Object.entries(properties ?? {}).find(
    ([name, value]) => OWNER.test(name) && (typeof value === 'string' || typeof value === 'number') && value !== '',
  );
  return found === undefined ? undefined : String(found[1]);
}

const OWNER = /^(owner|owned_?by|assignee|assigned_?to|responsible|driver|user)$/i;

/** Which tags are shown. */
export interface TagFilter {
  /** Those that have not been heard of for so long. */
  readonly silentMs: number | undefined;
  readonly isUnassigned: boolean;
}

/** The tags that a filter leaves, as they are now. */
export function filtered<K extends Kind>(
  kind: K,
  found: readonly Entities[K][],
  filter: TagFilter,
  nowMs: number,
): readonly Entities[K][] {
  const { silentMs } = filter;
  if (!isHeard(kind) || (silentMs === undefined && !filter.isUnassigned)) return found;
  return found.filter((entity) => {
    const tag = entity as Tag;
    if (filter.isUnassigned && !isUnassigned(kind, tag)) return false;
    return silentMs === undefined || nowMs - (lastHeardMs(kind, tag) ?? Number.NEGATIVE_INFINITY) > silentMs;
  });
}

function sourcesOf(kind: HeardKind, tag: Tag): readonly string[] {
  return kind === 'trackables' ? ((tag as Trackable).location_providers ?? []) : [tag.id];
}
