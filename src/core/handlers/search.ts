import type { Fix } from '../location/fix.ts';
import { namingTrackables } from '../assignments.ts';
import type { ShardContext } from '../context.ts';
import type { QueryResult, SearchQuery } from '../item.ts';
import { locationIn } from '../location/location_json.ts';
import { motionIn } from '../motion/motion_json.ts';
import { compileExpression } from '../rules/evaluate.ts';
import { truth } from '../rules/operators.ts';
import { parseRule } from '../rules/parse.ts';
import { compileSearchRegion, distanceBound } from '../search/search_area.ts';
import {
  type FoundObject,
  nearestObjects,
  type SearchOrigin,
  searchList,
  searchSlice,
  type SearchTerms,
} from '../search/search_tree.ts';
import type { ProviderState, TrackableState } from '../state.ts';
import { factsOf } from './significant_fix.ts';

type Searched = ProviderState | TrackableState;

/** Numbers of objects that one slice of a search puts into the index, or evaluates: each takes one to three ms. */
const [PUT_MAX, EVALUATED_MAX] = [1000, 5000] as const;

/**
 * Answers one slice of a search. The answer has `next` if the search must continue from there. A search for the nearest
 * objects that would evaluate too many of them is repeated in slices.
 */
export function search(context: ShardContext, query: SearchQuery, nowMs: number): QueryResult {
  const { state, search: index } = context;
  const objects: ReadonlyMap<string, Searched> = query.kind === 'provider' ? state.providers : state.trackables;
  const terms = termsOf(context, query, { nowMs, exists: (object) => objects.get(object.id) === object });
  if (query.only !== undefined) {
    const listed = query.only.flatMap((id) => objects.get(id) ?? []);
    return answer(context, query, { found: searchList(listed, terms), next: undefined });
  }
  const tree = index.tree(query.kind, state, { nowMs, most: PUT_MAX });
  if (tree === undefined) return answer(context, query, { found: [], next: query.from ?? 0 });
  const { near } = terms;
  if (near !== undefined && query.from === undefined) {
    const found = nearestObjects(tree, { ...terms, near }, EVALUATED_MAX);
    return answer(context, query, found === undefined ? { found: [], next: 0 } : { found, next: undefined });
  }
  return answer(context, query, searchSlice(tree, terms, { from: query.from ?? 0, budget: EVALUATED_MAX }));
}

function termsOf(
  context: ShardContext,
  { near, radius, region, floor, where, most }: SearchQuery,
  { nowMs, exists }: { readonly nowMs: number; readonly exists: (object: Searched) => boolean },
): SearchTerms<Searched> {
  const holds = where === undefined ? undefined : compileExpression(parseRule(where, 'where'));
  return {
    near: near && originAt(near),
    radius: radius ?? Number.POSITIVE_INFINITY,
    region: region && compileSearchRegion(region),
    most,
    accepts: (object) => {
      const { fix } = object;
      if (fix === undefined || !exists(object) || (floor !== undefined && floorOf(object, fix) !== floor)) return false;
      return holds === undefined || truth(holds(factsOf(context, fix, nowMs))) === true;
    },
  };
}

function floorOf({ kind }: Searched, fix: Fix): number {
  return kind === 'trackable' ? fix.filteredFloor : fix.floor;
}

function originAt([lon, lat]: readonly [number, number]): SearchOrigin {
  return { lon, lat, bound: distanceBound(lon, lat) };
}

function answer(
  context: ShardContext,
  { view }: SearchQuery,
  { found, next }: { readonly found: readonly FoundObject<Searched>[]; readonly next: number | undefined },
): QueryResult {
  const rendered = found.flatMap(({ object, distance }) => {
    const text =
      object.kind === 'trackable'
        ? motionIn(object, view, context.zones)
        : object.fix && locationIn(namingTrackables(context.state, object.fix), view, context.zones);
    return text === undefined ? [] : [[object.id, distance, text] as const];
  });
  return { found: rendered, ...(next !== undefined && { next }) };
}
