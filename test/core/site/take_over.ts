import type { Item } from '../../../src/core/item.ts';
import type { ShardCommand } from '../../support/shard_harness.ts';

type TakeOver = Item & { kind: 'takeOver' };

/**
 * Command that takes over objects from another hub. By default, nothing has changed in the meantime, and nothing is
 * held.
 */
export function takeOver(some: Pick<TakeOver, 'objects'> & Partial<TakeOver>): ShardCommand {
  const since = { zones: [], fences: [], rules: false };
  return { kind: 'takeOver', id: 1, rows: [], steps: [], heldUntilMs: 0, since, ...some };
}
