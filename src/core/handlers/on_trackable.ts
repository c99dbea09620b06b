import type { Trackable } from '../../model/trackable.ts';
import { isDetached, link, namingTrackables, unlink } from '../assignments.ts';
import { type Moment, momentOf, type ShardContext } from '../context.ts';
import { sameTiming, timingOfObject, UNSET } from '../fence/timing.ts';
import type { Item } from '../item.ts';
import { motionIn } from '../motion/motion_json.ts';
import { compileRules } from '../rules/evaluate.ts';
import { CHANGED_MEMBERS, type ShardState, type TrackableState, touch } from '../state.ts';
import { collides, extentAt, moveTrackable, reportRemoved, moveTo } from './move.ts';
import { noteFilter } from './filter_location.ts';
import { isFused } from './fuse.ts';
import { loseMotion, reevaluateTrackable } from './reevaluate_trackable.ts';
import { fireSuppressed } from './on_deadline.ts';
import { inheritedTimings, retime, retimeChanged } from './retime.ts';
import { type Sources, significantFix } from './significant_fix.ts';

const WGS84 = { crs: 'EPSG:4326' };

/**
 * Handles a trackable that was created, changed or deleted.
 *
 * Changed rules and a removed parent apply to the existing locations, a changed extent to the current position, changed
 * timing to the memberships. When a provider is removed, a setting of the hub decides whether the trackable stays at
 * its last position or is treated as if its parent was removed. Other changes apply from the next location or, with
 * `force`, immediately: then the trackable moves if its motion would differ.
 */
export function onTrackable(context: ShardContext, item: Item & { kind: 'trackable' }): void {
  const { state } = context;
  const moment = momentOf(context, item);
  const before = state.trackables.get(item.id);
  if (item.entity === undefined) {
    if (before === undefined) return;
    const chains = inheritedTimings(state, providersOf(before.entity));
    loseMotion(context, before, moment);
    unlink(state, before);
    state.trackables.delete(item.id);
    retimeChanged(context, chains, moment.nowMs);
    return;
  }
  const was = before?.entity;
  const timing = before?.timing ?? UNSET;
  const chains = inheritedTimings(state, providersOf(was, item.entity));
  const motionBefore = before === undefined || item.force !== true ? undefined : motionIn(before, WGS84, context.zones);
  const trackable = setTrackable(state, item.entity);
  if (!collides(context, trackable)) reportRemoved(context, trackable, moment);
  retimeChanged(context, chains, moment.nowMs);
  if (!sameTiming(timing, trackable.timing)) retime(context, trackable, moment.nowMs);
  if (item.force === true) {
    forceUpdate(context, trackable, motionBefore, moment);
    return;
  }
  if (was === undefined || trackable.fix === undefined) return;
  if (mayBeElsewhere(context, was, trackable.entity)) {
    const hasMoved = reevaluateTrackable(context, trackable, moment, { sources: sourcesInBoth(was, trackable.entity) });
    if (hasMoved) return;
  }
  if (isDetached(state, trackable)) keepOwnFix(state, trackable);
  if (extentOf(was) !== extentOf(trackable.entity)) showExtent(context, trackable, moment);
}

function providersOf(...entities: readonly (Trackable | undefined)[]): Set<string> {
  return new Set(entities.flatMap((entity) => entity?.location_providers ?? []));
}

/** Whether a trackable has lost a source that its position depends on, or its rules have changed. */
function mayBeElsewhere({ options }: ShardContext, before: Trackable, after: Trackable): boolean {
  if (before.parent != null && before.parent !== after.parent) return true;
  const assigned = new Set(after.location_providers);
  const isDetachedNow = before.location_providers?.some((id) => !assigned.has(id)) === true;
  if (isDetachedNow && !options.detachedStay) return true;
  return JSON.stringify(before.locating_rules ?? []) !== JSON.stringify(after.locating_rules ?? []);
}

/** Returns the sources that both entities name. A new source counts from its next location. */
function sourcesInBoth(before: Trackable, after: Trackable): Sources {
  const named = new Set(before.location_providers);
  return {
    location_providers: after.location_providers?.filter((id) => named.has(id)) ?? [],
    parent: before.parent === after.parent ? (after.parent ?? null) : null,
  };
}

/**
 * Returns the members that define the extent of a trackable, as a comparable string. With a radius, the geometry has no
 * effect.
 */
function extentOf({ radius, geometry, extrusion }: Trackable): string {
  const shape = (radius ?? 0) > 0 ? radius : (geometry ?? null);
  return JSON.stringify([shape, extrusion ?? null]);
}

/** Observes the trackable at its position after its extent has changed. */
function showExtent(context: ShardContext, trackable: TrackableState, moment: Moment): void {
  fireSuppressed(context, trackable, moment.nowMs);
  if (trackable.fix === undefined) return;
  const fix = namingTrackables(context.state, trackable.fix, trackable);
  moveTo(context, trackable, { fix, eventTimeMs: moment.eventNowMs, moment });
}

/** Gives a detached trackable a copy of its fix, so that later changes of the provider's timing do not affect it. */
function keepOwnFix(state: ShardState, trackable: TrackableState): void {
  const { fix } = trackable;
  if (fix === undefined || fix.holders === 1) return;
  state.fixes.put(trackable, state.fixes.renamed(fix, fix.trackables));
  // Not an observation.
  trackable.changes |= CHANGED_MEMBERS;
  touch(state, trackable);
}

/** Adds or replaces a trackable in the state. If it has a fix, its extent is updated there, without events. */
export function setTrackable(state: ShardState, entity: Trackable): TrackableState {
  let trackable = state.trackables.get(entity.id);
  if (trackable === undefined) {
    trackable = newTrackable(entity);
    state.trackables.set(entity.id, trackable);
  } else unlink(state, trackable);
  trackable.entity = entity;
  trackable.timing = timingOfObject(entity);
  noteFilter(state, entity);
  trackable.rules = entity.locating_rules?.length ? compileRules(entity.locating_rules) : undefined;
  trackable.json = undefined;
  link(state, trackable);
  if (trackable.fix !== undefined) trackable.footprint = extentAt(trackable, trackable.fix);
  return trackable;
}

function newTrackable(entity: Trackable): TrackableState {
  return {
    kind: 'trackable',
    id: entity.id,
    entity,
    timing: UNSET,
    rules: undefined,
    fix: undefined,
    hasHadFix: false,
    footprint: undefined,
    filter: undefined,
    members: [],
    nearby: undefined,
    suppressUntilMs: 0,
    heapIndex: -1,
    changes: 0,
    colliding: false,
    json: undefined,
  };
}

/** `motionBefore` is the motion as JSON before the change; an unchanged motion is not published again. */
function forceUpdate(
  context: ShardContext,
  trackable: TrackableState,
  motionBefore: string | undefined,
  moment: Moment,
): void {
  const found = isFused(context, trackable) ? trackable.fix : significantFix(context, trackable, moment.nowMs);
  if (found === undefined) {
    if (trackable.fix !== undefined) loseMotion(context, trackable, moment);
    return;
  }
  const fix = namingTrackables(context.state, found, trackable);
  if (motionIn({ ...trackable, fix, footprint: extentAt(trackable, fix) }, WGS84, context.zones) === motionBefore)
    return;
  fireSuppressed(context, trackable, moment.nowMs);
  moveTrackable(context, trackable, { fix, eventTimeMs: moment.eventNowMs, moment });
}
