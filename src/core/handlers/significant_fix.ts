import { wallClockOfEventTime, wallClockTime } from '../../model/clock_steps.ts';
import type { Trackable } from '../../model/trackable.ts';
import type { ShardContext } from '../context.ts';
import type { Fix } from '../location/fix.ts';
import { type LocationCandidate, significant } from '../rules/evaluate.ts';
import type { ShardState, TrackableState } from '../state.ts';

/** Sources of a trackable's fix: its providers and its parent. */
export type Sources = Pick<Trackable, 'location_providers' | 'parent'>;

interface Choice {
  /** The fix that has just arrived; by default the one that the trackable has. */
  readonly arrived?: Fix | undefined;
  /** By default all sources that the entity names. */
  readonly sources?: Sources;
}

/**
 * Returns the significant fix of a trackable among the last fixes of its providers and the fix of its parent: the one
 * that the locating rules rank highest, otherwise the newest; among equals the one that has just arrived.
 */
export function significantFix(
  context: ShardContext,
  trackable: TrackableState,
  nowMs: number,
  { arrived = trackable.fix, sources = trackable.entity }: Choice = {},
): Fix | undefined {
  const { state } = context;
  const { location_providers: providers, parent: parentId } = sources;
  // Avoids allocating a list in the most frequent case.
  if (parentId == null && providers?.length === 1) return state.providers.get(providers[0] as string)?.fix;
  const fixes = fixesOf(state, sources);
  const parent = parentId == null ? undefined : state.trackables.get(parentId);
  if (parent?.fix !== undefined) fixes.push(parent.fix);
  if (fixes.length < 2) return fixes[0];
  const preferred = fixes.findIndex((fix) => fix.providerId === arrived?.providerId);
  if (preferred >= 0) fixes.push(...fixes.splice(preferred, 1));
  const ranking = trackable.rules ?? state.rules;
  const candidates = fixes.map((fix): LocationCandidate<Fix> => {
    return { facts: factsOf(context, fix, nowMs), eventTimeMs: fix.eventTimeMs, value: fix };
  });
  return significant(candidates, ranking);
}

/** Returns the last fixes of the providers, in the order in which the entity names them. */
export function fixesOf(state: ShardState, { location_providers: providers }: Sources): Fix[] {
  const fixes: Fix[] = [];
  for (const id of providers ?? []) {
    const fix = state.providers.get(id)?.fix;
    if (fix !== undefined) fixes.push(fix);
  }
  return fixes;
}

/** Returns the properties of a location for locating rules. */
export function factsOf({ clockSteps }: ShardContext, fix: Fix, nowMs: number): LocationCandidate<Fix>['facts'] {
  const { accuracy, providerId, providerType, source, floor, speed } = fix;
  return {
    timestamp_diff: wallClockTime(nowMs, clockSteps) - wallClockOfEventTime(fix.eventTimeMs, clockSteps),
    accuracy,
    provider_id: providerId,
    type: providerType,
    source,
    floor,
    speed,
  };
}
