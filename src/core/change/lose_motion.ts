import type { Moment, ShardContext } from '../context.ts';
import { leaveAll } from '../fence/observe_fences.ts';
import { reportGone } from '../motion/move.ts';
import { publishTrackableCrossings } from '../publish.ts';
import type { ProviderState, TrackableState } from '../state.ts';

/** A trackable has no location any more: it leaves its fences and collisions, and its motion is gone. */
export function loseMotion(context: ShardContext, trackable: TrackableState, moment: Moment): void {
  publishTrackableCrossings(context, trackable, leaveAll(trackable, moment.nowMs));
  reportGone(context, trackable, moment);
  context.state.places.put(trackable, undefined);
  trackable.footprint = undefined;
  trackable.nearby = undefined;
  forgetRow(context, trackable);
}

/** An object without a place has no deadlines and nothing to keep. */
export function forgetRow({ state }: ShardContext, object: ProviderState | TrackableState): void {
  state.deadlines.remove(object);
  state.dirty.delete(object);
  state.urgent.delete(object);
  state.gone.set(`${object.kind} ${object.id}`, [object.kind, object.id]);
}
