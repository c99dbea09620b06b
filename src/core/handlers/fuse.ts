import type { ShardContext } from '../context.ts';
import type { Fix } from '../location/fix.ts';
import { CHANGED_MEMBERS, type TrackableState, touch } from '../state.ts';
import { start, step, rebase } from '../tracking/filter.ts';
import type { FilterSettings } from '../tracking/filter_settings.ts';
import { emptyTrack, FLAGS, FUSED, OUTLIER, setFlag } from '../tracking/track.ts';
import { activeFilter, providerFilter, sightingOf } from './filter_location.ts';
import { type FixArrival, moveTrackable } from './move.ts';
import { fireSuppressed } from './on_deadline.ts';

/**
 * Fusion: the locations of all providers of a trackable feed one filter, each with the weight of its accuracy. The
 * state of that filter is part of the trackable's fix, which is the last accepted location.
 */

const track = emptyTrack();
/** A filter combines at least this many providers. */
const PROVIDERS_MIN = 2;

/**
 * Handles a location of a provider of a trackable. Returns false if the locations of the trackable are not fused, so
 * that the locating rules choose one.
 */
export function fuse(context: ShardContext, trackable: TrackableState, arrival: FixArrival): boolean {
  const settings = fusion(context, trackable);
  if (settings === undefined) return false;
  const { state } = context;
  const { fix: arrived, moment } = arrival;
  const sighting = sightingOf(arrived, arrived);
  if (!(sighting.accuracy > 0)) sighting.accuracy = defaultAccuracy(context, arrived) ?? sighting.accuracy;
  const { fix: last } = trackable;
  if (last === undefined || !isTracked(last)) {
    track[FLAGS] = FUSED;
    start(track, sighting, settings);
  } else {
    last.readTrack(track);
    const elapsedMs = arrived.eventTimeMs - last.eventTimeMs;
    const verdict = step(track, sighting, elapsedMs, settings);
    if (verdict === 'late') return true;
    if (verdict === 'outlier') {
      rebase(track, elapsedMs);
      setFlag(track, OUTLIER, false);
      last.writeTrack(track);
      context.draft.counts.outliers++;
      // An outlier is not an observation, so the effect must contain the memberships.
      trackable.changes |= CHANGED_MEMBERS;
      touch(state, trackable);
      return true;
    }
  }
  const fix = state.fixes.tracked(arrived, track);
  // The fused position is in an untracked fence, between its providers. The trackable stays until it is outside.
  if (state.untracked.coverFix(fix)) return true;
  fireSuppressed(context, trackable, moment.nowMs);
  moveTrackable(context, trackable, { ...arrival, fix });
  return true;
}

/** Whether the trackable is at a position that several providers determine. */
export function isFused(context: ShardContext, trackable: TrackableState): boolean {
  return trackable.fix !== undefined && isTracked(trackable.fix) && fusion(context, trackable) !== undefined;
}

function isTracked(fix: Fix): boolean {
  return fix.hasTrackFlag(FUSED);
}

/** Returns the settings of the filter that all providers of a trackable feed; undefined if they feed none. */
export function fusion({ state, options }: ShardContext, trackable: TrackableState): FilterSettings | undefined {
  const { filterVersion: version } = state;
  let found = trackable.filter;
  if (found?.version !== version) {
    const { filter, parent, location_providers: providers } = trackable.entity;
    const settings = activeFilter([filter, options.filters?.all]);
    const isFusing = settings?.fuse === true && parent == null && (providers?.length ?? 0) >= PROVIDERS_MIN;
    found = { version, type: '', settings: isFusing ? settings : undefined };
    trackable.filter = found;
  }
  return found.settings;
}

function defaultAccuracy(context: ShardContext, { providerId, providerType }: Fix): number | undefined {
  const provider = context.state.providers.get(providerId);
  return provider && providerFilter(context, provider, providerType)?.defaultAccuracyMeters;
}
