import type { Fence } from '../../model/fence.ts';
import type { Entities, Kind } from './entity_kinds.ts';
import { listEntities, listExactly } from './rest.ts';

/** Lists the entities of a kind as they can be written back, with lossless numbers in properties. */
export async function listWritable<K extends Kind>(kind: K): Promise<readonly Entities[K][]> {
  const listed = await listExactly(kind);
  if (kind !== 'fences') return listed.map(withoutRead);
  return (await inTheirZones(listed as readonly Fence[])) as readonly Entities[K][];
}

/** Reads an entity as it can be written back. */
export async function readWritable<K extends Kind>(kind: K, entity: Entities[K]): Promise<Entities[K]> {
  if (kind !== 'fences') return withoutRead(entity);
  return (await inTheirZones([entity as Fence]))[0] as Entities[K];
}

/** Removes read-only members: `children` derives from the parents of other entities. */
function withoutRead<E extends Entities[Kind]>(entity: E): E {
  const { children: _children, ...rest } = entity as E & { readonly children?: unknown };
  return rest as E;
}

/** Returns fences in their stored coordinates. The hub returns local coordinates only on request, zone by zone. */
async function inTheirZones(fences: readonly Fence[]): Promise<readonly Fence[]> {
  const named = new Set(fences.flatMap(({ zone_id: id }) => id ?? []));
  if (named.size === 0) return fences;
  const zones = await listEntities('zones');
  const local = new Map<string, Fence>();
  for (const zone of zones.filter(({ id, foreign_id: foreignId }) => named.has(id) || named.has(foreignId ?? ''))) {
    const isIts = ({ zone_id: id }: Fence): boolean => id === zone.id || (id != null && id === zone.foreign_id);
    const shown = await listExactly('fences', { crs: 'local', zone_id: zone.id });
    const its = new Set(fences.filter(isIts).map(({ id }) => id));
    for (const fence of shown) if (its.has(fence.id)) local.set(fence.id, fence);
  }
  return fences.map((fence) => local.get(fence.id) ?? fence);
}
