import { eventTimeOfMonotonic } from '../../model/clock_steps.ts';
import { assignedTo } from '../assignments.ts';
import type { Moment, ShardContext } from '../context.ts';
import { locate } from '../location/locate.ts';
import type { ReceivedLocation } from '../location/received.ts';
import { CHANGED_MEMBERS, providerState, touch } from '../state.ts';
import { filterLocation } from './filter_location.ts';
import { fuse } from './fuse.ts';
import { hasFlag, OUTLIER } from '../tracking/track.ts';
import { follow, moveFollowers } from './move.ts';
import { fireSuppressed, schedule } from './on_deadline.ts';
import { dropFix } from './on_provider.ts';
import { publishLocation, publishProviderCrossings } from './publish.ts';
import { departureOf, observeMove, observeProvider } from './fence_observation.ts';
import { resolveProximity } from './resolve_proximity.ts';

/**
 * Handles a location, in this order: check that it is not older than the provider's last, decide which reader's zone a
 * proximity is in, locate and filter it, publish it, evaluate the fences of the provider, move its trackables. An
 * outlier is only published. A location in an untracked fence removes the location that the provider had.
 */
// hot
export function onLocation(context: ShardContext, sent: ReceivedLocation): void {
  const { state } = context;
  const { receivedMs, seq } = sent;
  const { counts } = context.draft;
  const provider = providerState(state, sent.providerId);
  const previous = provider.fix;
  const eventNowMs = eventTimeOfMonotonic(receivedMs, context.clockSteps);
  // The event time is never after the receipt. Otherwise, after a clock that ran ahead was corrected, all further
  // locations would count as outdated.
  const eventTimeMs = Math.min(sent.generatedMs, eventNowMs);
  if (previous !== undefined && eventTimeMs < previous.eventTimeMs) {
    counts.outdated++;
    return;
  }
  const location = sent.isProximity ? resolveProximity(context, provider, sent, eventTimeMs) : sent;
  const zone = state.zones.find(location.source);
  const derived = locate(location, zone, previous, eventTimeMs);
  if (derived === undefined) {
    counts.rejected++;
    return;
  }
  counts.processed++;
  const moment: Moment = { nowMs: receivedMs, eventNowMs, seq };
  const track = state.isFiltering ? filterLocation(context, provider, location, derived) : undefined;
  const isOutlier = track !== undefined && hasFlag(track, OUTLIER);
  if (!isOutlier) fireSuppressed(context, provider, receivedMs);
  const { id: providerId, timing } = provider;
  const assigned = assignedTo(state, providerId);
  const { source } = location;
  const isLocal = location.crs === 'local';
  const about = { providerId, source, zone, timing, trackables: assigned.ids, isLocal };
  // The memory of the last fix may be reused for the next one.
  const departure = departureOf(state, provider);
  const fix = state.fixes.renew(provider, location, derived, about, track);
  // Steps contain locations as sent, from which a replay cannot rebuild one that arbitration has moved.
  if (location !== sent) fix.isLocated = false;
  if (state.untracked.coverFix(fix)) {
    // Without a previous location, the provider has no memberships to leave.
    if (previous === undefined) state.fixes.put(provider, undefined);
    else dropFix(context, provider, { ...moment, eventNowMs: eventTimeMs });
    return;
  }
  touch(state, provider);
  publishLocation(context, fix);
  if (isOutlier) {
    counts.outliers++;
    // An outlier is not an observation, so the effect must contain the memberships.
    provider.changes |= CHANGED_MEMBERS;
    return;
  }
  const seen = observeProvider(state, provider, fix, moment.nowMs);
  const crossings = observeMove(context, provider, seen, departure);
  publishProviderCrossings(context, provider, crossings);
  schedule(state, provider);
  if (state.followers.any) moveFollowers(context, provider, fix, seq);
  const arrival = { fix, eventTimeMs, moment, isMove: true };
  for (const trackable of assigned.trackables) {
    if (!state.isFiltering || !fuse(context, trackable, arrival)) follow(context, trackable, arrival);
  }
}
