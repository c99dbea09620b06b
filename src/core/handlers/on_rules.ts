import type { ShardContext } from '../context.ts';
import type { Item } from '../item.ts';
import { compileRules } from '../rules/evaluate.ts';
import { observeAnew } from './observe_anew.ts';

/** The hub's locating rules have changed: trackables without rules of their own are observed anew. */
export function onRules(context: ShardContext, item: Item & { kind: 'rules' }): void {
  const { state } = context;
  state.rules = compileRules(item.rules);
  const moment = { nowMs: item.receivedMs, seq: item.seq };
  for (const trackable of state.trackables.values()) {
    if (trackable.rules === undefined) observeAnew(context, trackable, moment);
  }
}
