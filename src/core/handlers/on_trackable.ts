import type { Trackable } from '../../model/trackable.ts';
import { isDetached, link, namingTrackables, unlink } from '../assignments.ts';
import { type Moment, momentOf, type ShardContext } from '../context.ts';
import { sameTiming, timingOfObject, UNSET } from '../fence/timing.ts';
import type { Item } from '../item.ts';
import { motionIn } from '../motion/text.ts';
import { compileRules } from '../rules/evaluate.ts';
import { CHANGED_MEMBERS, type ShardState, type TrackableState, touch } from '../state.ts';
import { collides, extentAt, moveTrackable, reportGone, showAt } from './move.ts';
import { loseMotion, observeAnew } from './observe_anew.ts';
import { fireHeld } from './on_deadline.ts';
import { chainsOf, retime, retimeChanged } from './retime.ts';
import { type Sources, significantFix } from './significant_fix.ts';

const WGS84 = { crs: 'EPSG:4326' };

/**
 * A trackable is created, changed or deleted.
 *
 * Changed rules and a removed parent are applied to the locations that are there, a changed extent to the trackable where
 * it is, changed timing to the memberships. A provider that is removed leaves the trackable at its last position, or
 * acts like a removed parent: a setting of the hub decides. Everything else acts from the next location on; with `force`
 * at once, and then the trackable moves if its motion would be another one.
 */
export function onTrackable(context: ShardContext, item: Item & { kind: 'trackable' }): void {
  const { state } = context;
  const moment = momentOf(context, item);
  const before = state.trackables.get(item.id);
  if (item.entity === undefined) {
    if (before === undefined) return;
    const chains = chainsOf(state, providersOf(before.entity));
    loseMotion(context, before, moment);
    unlink(state, before);
    state.trackables.delete(item.id);
    retimeChanged(context, chains, moment.nowMs);
    return;
  }
  const was = before?.entity;
  const timing = before?.timing ?? UNSET;
  const chains = chainsOf(state, providersOf(was, item.entity));
  const shown = before === undefined || item.force !== true ? undefined : motionIn(before, WGS84, context.zones);
  const trackable = setTrackable(state, item.entity);
  if (!collides(context, trackable)) reportGone(context, trackable, moment);
  retimeChanged(context, chains, moment.nowMs);
  if (!sameTiming(timing, trackable.timing)) retime(context, trackable, moment.nowMs);
  if (item.force === true) {
    forceUpdate(context, trackable, shown, moment);
    return;
  }
  if (was === undefined || trackable.fix === undefined) return;
  if (mayBeElsewhere(context, was, trackable.entity)) {
    const hasMoved = observeAnew(context, trackable, moment, { sources: sourcesInBoth(was, trackable.entity) });
    if (hasMoved) return;
  }
  if (isDetached(state, trackable)) keepOwnFix(state, trackable);
  if (extentOf(was) !== extentOf(trackable.entity)) showExtent(context, trackable, moment);
}

function providersOf(...entities: readonly (Trackable | undefined)[]): Set<string> {
  return new Set(entities.flatMap((entity) => entity?.location_providers ?? []));
}

/** Whether a trackable has lost a source whose loss moves it, or has other rules. */
function mayBeElsewhere({ options }: ShardContext, before: Trackable, after: Trackable): boolean {
  if (before.parent != null && before.parent !== after.parent) return true;
  const assigned = new Set(after.location_providers);
  const isDetachedNow = before.location_providers?.some((id) => !assigned.has(id)) === true;
  if (isDetachedNow && !options.detachedStay) return true;
  return JSON.stringify(before.locating_rules ?? []) !== JSON.stringify(after.locating_rules ?? []);
}

/** What is newly named acts from its next location on. */
function sourcesInBoth(before: Trackable, after: Trackable): Sources {
  const named = new Set(before.location_providers);
  return {
    location_providers: after.location_providers?.filter((id) => named.has(id)) ?? [],
    parent: before.parent === after.parent ? (after.parent ?? null) : null,
  };
}

/** The members that make the extent of a trackable, as a value to compare. A radius makes it round, whatever its geometry. */
function extentOf({ radius, geometry, extrusion }: Trackable): string {
  const shape = (radius ?? 0) > 0 ? radius : (geometry ?? null);
  return JSON.stringify([shape, extrusion ?? null]);
}

/** The extent has changed: the trackable is observed at this moment, where it is. */
function showExtent(context: ShardContext, trackable: TrackableState, moment: Moment): void {
  fireHeld(context, trackable, moment.nowMs);
  if (trackable.fix === undefined) return;
  const fix = namingTrackables(context.state, trackable.fix, trackable);
  showAt(context, trackable, { fix, eventTimeMs: moment.eventNowMs, moment });
}

/** A detached trackable is timed as when it was detached: later changes of that provider do not reach it. */
function keepOwnFix(state: ShardState, trackable: TrackableState): void {
  const { fix } = trackable;
  if (fix === undefined || fix.holders === 1) return;
  state.fixes.put(trackable, state.fixes.renamed(fix, fix.trackables));
  // Not by an observation.
  trackable.changes |= CHANGED_MEMBERS;
  touch(state, trackable);
}

/** Adds or replaces a trackable in the state. One that has a fix gets its new extent there, without events. */
export function setTrackable(state: ShardState, entity: Trackable): TrackableState {
  let trackable = state.trackables.get(entity.id);
  if (trackable === undefined) {
    trackable = newTrackable(entity);
    state.trackables.set(entity.id, trackable);
  } else unlink(state, trackable);
  trackable.entity = entity;
  trackable.timing = timingOfObject(entity);
  trackable.rules = entity.locating_rules?.length ? compileRules(entity.locating_rules) : undefined;
  trackable.texts = undefined;
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
    members: [],
    nearby: undefined,
    suppressUntilMs: 0,
    heapIndex: -1,
    changes: 0,
    colliding: false,
    texts: undefined,
  };
}

/** `shown` is the text of the motion before the change: what would look the same is not sent again. */
function forceUpdate(
  context: ShardContext,
  trackable: TrackableState,
  shown: string | undefined,
  moment: Moment,
): void {
  const found = significantFix(context, trackable, moment.nowMs);
  if (found === undefined) {
    if (trackable.fix !== undefined) loseMotion(context, trackable, moment);
    return;
  }
  const fix = namingTrackables(context.state, found, trackable);
  if (motionIn({ ...trackable, fix, footprint: extentAt(trackable, fix) }, WGS84, context.zones) === shown) return;
  fireHeld(context, trackable, moment.nowMs);
  moveTrackable(context, trackable, { fix, eventTimeMs: moment.eventNowMs, moment });
}
