import { isLeftBehind } from '../core/fence/fence_plane.ts';
import type { EntityMap, Kind } from '../entities/known.ts';
import { type KeptFence, shownFence } from '../model/fence.ts';
import { keptInData } from '../model/kept_number.ts';
import { fenceIn } from './fence_view.ts';
import { patched } from './json_patch.ts';
import { isSame } from './json_tree.ts';
import type { ApiDeps } from './route.ts';

/** What a JSON Patch makes of an entity. Throws HUB_BAD_REQUEST naming what cannot be carried out. */
export function patchedEntity<K extends Kind>(kind: K, entity: EntityMap[K], patch: unknown, hub: ApiDeps): unknown {
  if (kind === 'fence') return keptInData(patchedFence(entity as KeptFence, patch, hub));
  return keptInData(patched(patchable(kind, entity, hub), patch));
}

/**
 * A fence is changed as it is kept. One whose zone is gone, in whose metres nobody can be shown it any more, is changed as
 * it is shown in EPSG:4326; unless that moves it, it stays as it is kept, for the zone may come back.
 */
function patchedFence(fence: KeptFence, patch: unknown, { entities }: ApiDeps): unknown {
  const zoneBy = (name: string) => entities.zoneBy(name);
  const shown = isLeftBehind(fence, zoneBy) ? fenceIn({ crs: 'EPSG:4326' }, fence, zoneBy) : undefined;
  if (shown === undefined) return patched(shownFence(fence), patch);
  const revised = patched(shown, patch);
  if (typeof revised !== 'object' || revised === null || !isSame(placeOf(revised), placeOf(shown))) return revised;
  return { ...revised, ...placeOf(fence) };
}

function placeOf({ region, crs, zone_id }: Partial<KeptFence>): object {
  return { region, crs, zone_id };
}

/** The entity as clients see it: an operation on its children, which are read-only, changes nothing and is no mistake. */
function patchable(kind: Kind, entity: { readonly id: string }, { entities }: ApiDeps): object {
  if (kind !== 'trackable' && kind !== 'zone') return entity;
  return { ...entity, children: entities.childrenOf(kind, entity.id) };
}
