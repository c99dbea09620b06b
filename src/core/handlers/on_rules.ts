import { type Moment, momentOf, type ShardContext } from '../context.ts';
import type { Item } from '../item.ts';
import { compileRules } from '../rules/evaluate.ts';
import type { TrackableState } from '../state.ts';
import { observeAnew } from './observe_anew.ts';

/** The hub's locating rules have changed: trackables without rules of their own are observed anew. */
export function onRules(context: ShardContext, item: Item & { kind: 'rules' }): void {
  const { state } = context;
  state.rules = compileRules(item.rules);
  observeUnruled(context, state.trackables.values(), momentOf(context, item));
}

/** Observes those of the trackables anew that have no rules of their own. */
export function observeUnruled(context: ShardContext, trackables: Iterable<TrackableState>, moment: Moment): void {
  for (const trackable of trackables) {
    if (trackable.rules === undefined) observeAnew(context, trackable, moment);
  }
}
