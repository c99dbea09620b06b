import { isLeftBehind } from '../core/fence/fence_plane.ts';
import type { EntityMap, Kind } from '../entities/known.ts';
import { type KeptFence, shownFence } from '../model/fence.ts';
import { parseKeeping } from '../model/keep_numbers.ts';
import { keptInData } from '../model/kept_number.ts';
import { fenceIn } from './fence_view.ts';
import { patched } from './json_patch.ts';
import { isSame } from './json_tree.ts';
import { seenText } from './naming.ts';
import type { ApiDeps, Call } from './route.ts';

/** What the JSON Patch of a call makes of an entity as its token is shown it. Throws HUB_BAD_REQUEST naming what cannot be carried out. */
export function patchedEntity<K extends Kind>(kind: K, entity: EntityMap[K], call: Call, hub: ApiDeps): unknown {
  const patch = call.body;
  if (kind === 'fence') return keptInData(patchedFence(entity as KeptFence, patch, hub));
  return keptInData(patched(seenBy(call, kind, patchable(kind, entity, hub)), patch));
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

/** A patch can copy and test what it names, so it works on nothing else than what its sender is shown. */
function seenBy(call: Call, kind: Kind, entity: object): object {
  return call.sight === undefined ? entity : (parseKeeping(seenText(kind, JSON.stringify(entity), call)) as object);
}

/** The entity as clients see it: an operation on its children, which are read-only, changes nothing and is no mistake. */
function patchable(kind: Kind, entity: { readonly id: string }, { entities }: ApiDeps): object {
  if (kind !== 'trackable' && kind !== 'zone') return entity;
  return { ...entity, children: entities.childrenOf(kind, entity.id) };
}
