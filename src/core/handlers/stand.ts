import type { ShardContext } from '../context.ts';
import type { Item } from '../item.ts';
import { reportStanding } from './move.ts';

/** Tells a new collision stage where the trackables are that the last one knew. */
export function onStand(context: ShardContext, item: Item & { kind: 'stand' }): void {
  for (const trackable of context.state.trackables.values()) {
    if (trackable.colliding) reportStanding(context, trackable, item.seq);
  }
  context.draft.answers.push([item.id, { ids: [] }]);
}
