import { type Moment, momentOf, type ShardContext } from '../context.ts';
import type { Item } from '../item.ts';
import { compileRules } from '../rules/evaluate.ts';
import type { TrackableState } from '../state.ts';
import { reevaluateTrackable } from './reevaluate_trackable.ts';

/** Handles a change of the hub's locating rules: re-evaluates trackables without rules of their own. */
export function onRules(context: ShardContext, item: Item & { kind: 'rules' }): void {
  const { state } = context;
  state.rules = compileRules(item.rules);
  reevaluateUnruled(context, state.trackables.values(), momentOf(context, item));
}

/** Re-evaluates the trackables that have no rules of their own. */
export function reevaluateUnruled(context: ShardContext, trackables: Iterable<TrackableState>, moment: Moment): void {
  for (const trackable of trackables) {
    if (trackable.rules === undefined) reevaluateTrackable(context, trackable, moment);
  }
}
