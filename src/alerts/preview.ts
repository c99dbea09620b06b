import type { AlertMatch, AlertPreview, AlertRule } from '../model/alert.ts';
import { formatTime } from '../model/time.ts';
import { type MovingObject, objectKey } from './alert_state.ts';
import {
  type CompiledRule,
  compileRule,
  concernsFence,
  concernsObject,
  dependsOnStays,
  type EntityLookup,
  objectsFor,
} from './rule_match.ts';
import { sampledSubjects } from './sampled.ts';
import { type FenceStay, type LastSeen, lastSeenMs, type Sample } from './watch_state.ts';

/** Maximum number of matches returned. */
const MATCHES_MAX = 100;

/** Current state from which a preview is computed. */
export interface PreviewInput {
  readonly nowMs: number;
  /** Offset that converts monotonic time to wall-clock time. */
  readonly toWallClockMs: number;
  readonly stays: readonly FenceStay[];
  readonly lastSeen: LastSeen;
  /** Present for rules on speeds and distances. */
  readonly sample: Sample | undefined;
  readonly entities: EntityLookup;
}

/**
 * Returns a preview of the alerts that `rule` would have now. For rules on entries and exits, the matches are the
 * objects inside, because their entries would have raised alerts and their exits will. Collisions and crossings of gates
 * have no preview, since they are momentary. Schedules, and how long a speed, a distance or a low number has lasted, are
 * ignored.
 */
export function previewOf(rule: AlertRule, now: PreviewInput): AlertPreview {
  const each = compileRule(rule);
  const matches = matchesOf(each, now);
  let about = 0;
  for (const object of objectsFor(each, now.entities)) if (concernsObject(each, object, now.entities)) about++;
  return { watched: about, matches: matches.slice(0, MATCHES_MAX), total: matches.length };
}

function matchesOf(each: CompiledRule, now: PreviewInput): readonly AlertMatch[] {
  const { kind, longer_than: longerMs = 0 } = each.rule;
  const timeOf = (atMs: number): string => formatTime(atMs + now.toWallClockMs);
  if (kind === 'collision' || kind === 'gate') return [];
  if (now.sample !== undefined) return sampledMatches(each, now, now.sample);
  if (dependsOnStays(each.rule)) {
    const stays = now.stays.filter(
      (stay) => concernsFence(each, stay.fenceId) && concernsObject(each, stay, now.entities),
    );
    if (kind === 'more_inside') return crowds(stays, each.rule.more_than ?? 0);
    if (kind === 'count_below') return shortages(each, stays, now.entities);
    const leastMs = kind === 'inside_longer' ? (longerMs ?? 0) : 0;
    return stays
      .filter(({ sinceMs }) => now.nowMs - sinceMs >= leastMs)
      .sort((one, other) => one.sinceMs - other.sinceMs)
      .map((stay) => ({ fence_id: stay.fenceId, ...idOf(stay), since: timeOf(stay.sinceMs) }));
  }
  return [...objectsFor(each, now.entities)]
    .map((object) => ({ object, seenMs: lastSeenMs(now.lastSeen, object) ?? Number.POSITIVE_INFINITY }))
    .filter(({ object, seenMs }) => now.nowMs - seenMs > (longerMs ?? 0) && concernsObject(each, object, now.entities))
    .sort((one, other) => one.seenMs - other.seenMs)
    .map(({ object, seenMs }) => ({ ...idOf(object), since: timeOf(seenMs) }));
}

function idOf({ trackableId, providerId }: MovingObject): Pick<AlertMatch, 'trackable_id' | 'provider_id'> {
  return providerId === undefined ? { trackable_id: trackableId ?? null } : { provider_id: providerId };
}

function sampledMatches(each: CompiledRule, { stays, entities }: PreviewInput, sample: Sample): readonly AlertMatch[] {
  const inside = new Map(
    [...Map.groupBy(stays, ({ fenceId }) => fenceId)].map(([fenceId, within]) => {
      return [fenceId, new Map(within.map((stay) => [objectKey(stay), stay]))] as const;
    }),
  );
  return [...sampledSubjects(each, { sample, inside, entities }).values()].map(({ fenceId, otherId, ...object }) => ({
    ...(fenceId !== undefined && { fence_id: fenceId }),
    ...idOf(object),
    ...(otherId !== undefined && { other_trackable_id: otherId }),
  }));
}

function shortages(
  { rule: { fence_ids: fences, fewer_than: least } }: CompiledRule,
  stays: readonly FenceStay[],
  entities: EntityLookup,
): readonly AlertMatch[] {
  const inside = Map.groupBy(stays, ({ fenceId }) => fenceId);
  return [...new Set(fences?.flatMap((id) => entities.fence(id)?.id ?? []))]
    .map((fenceId) => ({ fence_id: fenceId, count: inside.get(fenceId)?.length ?? 0 }))
    .filter(({ count }) => count < (least ?? 1))
    .sort((one, other) => one.count - other.count);
}

function crowds(stays: readonly FenceStay[], moreThan: number): readonly AlertMatch[] {
  return [...Map.groupBy(stays, ({ fenceId }) => fenceId)]
    .filter(([, inside]) => inside.length > moreThan)
    .map(([fenceId, inside]) => ({ fence_id: fenceId, count: inside.length }))
    .sort((one, other) => other.count - one.count);
}
