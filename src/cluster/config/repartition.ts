import type { ConfigBody, EntityChange, ObjectMove } from './config_record.ts';
import { type ConfigState, serving } from './config_state.ts';
import type { ObjectPartitions, Repartitioned } from './object_partitions.ts';

/** Configuration that changes apply to. */
export interface Configured {
  readonly state: ConfigState;
  readonly partitions: ObjectPartitions;
}

/**
 * Record that makes some changes. If they move objects to other owners, it lists these, and they are migrating from it on.
 * Undefined while objects of an earlier record are migrating, or one of the partitions concerned has no owner with its state.
 * Other partitions may change their owners meanwhile: a hub that joins gets its share in many steps, one right after the other.
 */
export function changeRecord(
  by: string,
  changes: readonly EntityChange[],
  { state, partitions }: Configured,
): ConfigBody<'change' | 'regroup'> | undefined {
  const plain: ConfigBody<'change'> = { kind: 'change', by, changes };
  // Without running hubs, the next hub takes everything over in its final state.
  if (state.members.size === 0) return plain;
  const repartitioned = partitions.preview(changes.map(([kind, id, text]) => ({ kind, id, text })));
  if (repartitioned.length === 0) return plain;
  const { open } = serving(state);
  const isServed = ({ from, to }: Repartitioned): boolean => !open.has(from) && !open.has(to);
  if (state.map === undefined || state.migrating.length > 0 || !repartitioned.every(isServed)) return undefined;
  const { owners } = state.map;
  const objects = repartitioned
    .filter(({ from, to }) => owners[from] !== owners[to])
    .map(({ kind, id, from, to }): ObjectMove => [kind, id, from, to]);
  return objects.length === 0 ? plain : { kind: 'regroup', by, changes, objects };
}
