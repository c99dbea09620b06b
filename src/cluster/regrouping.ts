import type { ConfigBody, EntityChange, ObjectMove } from './config_record.ts';
import { type ConfigState, isSettled } from './config_state.ts';
import type { ObjectPartitions } from './object_partitions.ts';
import { SEVERAL_OWNERS } from './protocols.ts';

/** What changes are made on: the configuration as it is. */
export interface Configured {
  readonly state: ConfigState;
  readonly partitions: ObjectPartitions;
}

/**
 * The record that makes changes: where they give objects to other owners it says which, so that these are on their way from it
 * on. Undefined while they have to wait: what is moved must have arrived before the next thing moves.
 */
export function changeRecord(
  by: string,
  changes: readonly EntityChange[],
  { state, partitions }: Configured,
): ConfigBody<'change' | 'regroup'> | undefined {
  const plain: ConfigBody<'change'> = { kind: 'change', by, changes };
  // Where no hub runs, whoever comes takes everything over as it is by then.
  if (state.protocol < SEVERAL_OWNERS || state.members.size === 0) return plain;
  const regrouped = partitions.preview(changes.map(([kind, id, text]) => ({ kind, id, text })));
  if (regrouped.length === 0) return plain;
  if (!isSettled(state)) return undefined;
  const owners = state.map?.owners ?? [];
  const objects = regrouped
    .filter(({ from, to }) => owners[from] !== owners[to])
    .map(({ kind, id, from, to }): ObjectMove => [kind, id, from, to]);
  return objects.length === 0 ? plain : { kind: 'regroup', by, changes, objects };
}
