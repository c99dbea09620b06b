import type { View } from '../../model/topics.ts';
import { isDetached, namingTrackables } from '../assignments.ts';
import type { ShardContext } from '../context.ts';
import { verticalGapMeters } from '../fence/vertical.ts';
import { rangeProblem } from '../geo/crs.ts';
import type { QueryResult, Item, Query } from '../item.ts';
import type { Fix } from '../location/fix.ts';
import { locationIn } from '../location/location_json.ts';
import { motionIn } from '../motion/motion_json.ts';
import type { FenceState, ProviderState, ShardState, TrackableState } from '../state.ts';
import { forecastOf, movingBodies } from './forecast.ts';
import { search } from './search.ts';
import { observeProvider, observeTrackable } from './fence_observation.ts';
import { fixesOf, significantFix } from './significant_fix.ts';

const ABSENT: QueryResult = { absent: true };

/** Answers a read from the current state. */
export function onRead(context: ShardContext, item: Item & { kind: 'read' }): void {
  context.draft.answers.push([item.id, answer(context, item.query, item.receivedMs)]);
}

function answer(context: ShardContext, query: Query, nowMs: number): QueryResult {
  const { state } = context;
  switch (query.ask) {
    case 'provider_location':
      return one(context, state.providers.get(query.id)?.fix, query.view);
    case 'provider_locations':
      return manyWithIds(among([...state.providers.values()], query), query, ({ fix }) => {
        return fix && locationNow(context, fix, query.view);
      });
    case 'trackable_location': {
      const trackable = state.trackables.get(query.id);
      const stays = trackable !== undefined && isDetached(state, trackable);
      const fix = stays ? trackable.fix : trackable && significantFix(context, trackable, nowMs);
      return one(context, fix, query.view, trackable);
    }
    case 'trackable_locations': {
      const trackable = state.trackables.get(query.id);
      const fixes = trackable === undefined ? [] : fixesOf(state, trackable.entity);
      return many(fixes, (fix) => locationNow(context, fix, query.view));
    }
    case 'trackable_motion': {
      const trackable = state.trackables.get(query.id);
      if (trackable?.fix === undefined) return ABSENT;
      return rendered(motionIn(trackable, query.view, context.zones), trackable.fix, query.view);
    }
    case 'trackable_motions':
      return manyWithIds(among([...state.trackables.values()], query), query, (trackable) => {
        return motionIn(trackable, query.view, context.zones);
      });
    case 'fence_locations':
      return many(among(providersIn(context, query), query), ({ fix }) => {
        return fix && locationNow(context, fix, query.view);
      });
    case 'fence_motions':
      return many(among(trackablesIn(context, query), query), (trackable) => {
        return motionIn(trackable, query.view, context.zones);
      });
    case 'fence_providers':
      return { ids: providersIn(context, query).map(({ id }) => id) };
    case 'fence_trackables':
      return { ids: trackablesIn(context, query).map(({ id }) => id) };
    case 'provider_fences':
      return { ids: fencesOf(context, state.providers.get(query.id), query.spatial) };
    case 'trackable_fences':
      return { ids: fencesOf(context, state.trackables.get(query.id), query.spatial) };
    case 'stays':
      return {
        stays: staysIn(state.trackables, fencesIn(state, query), nowMs),
        ...(query.providers === true && { providerStays: staysIn(state.providers, fencesIn(state, query), nowMs) }),
      };
    case 'crossings':
      return { crossings: state.crossing.gates.of(query.id), sinceMs: state.crossing.countedSinceMs };
    case 'lastSeen':
      return {
        lastSeen: lastSeenAges(state, nowMs),
        ...(query.providers === true && { lastSeenProviders: providerLastSeenAges(state, nowMs) }),
      };
    case 'search':
      return search(context, query, nowMs);
    case 'forecast': {
      const trackable = state.trackables.get(query.id);
      const forecast = trackable && forecastOf(context, trackable, { nowMs, horizonMs: query.horizonMs });
      return forecast === undefined ? ABSENT : { forecast };
    }
    case 'moving':
      return { moving: movingBodies(context, nowMs, query.most) };
    case 'sample': {
      const above = query.above ?? Number.POSITIVE_INFINITY;
      return {
        speeds: speedsIn(state.trackables, above, nowMs),
        ...(query.providers === true && { providerSpeeds: speedsIn(state.providers, above, nowMs) }),
        positions: query.only.flatMap((id) => {
          const fix = state.trackables.get(id)?.fix;
          return fix === undefined ? [] : [[id, fix.lon, fix.lat, fix.floor] as const];
        }),
      };
    }
  }
}

function one(context: ShardContext, fix: Fix | undefined, view: View, at?: TrackableState): QueryResult {
  if (fix === undefined) return ABSENT;
  return rendered(locationNow(context, fix, view, at), fix, view);
}

function locationNow({ state, zones }: ShardContext, fix: Fix, view: View, at?: TrackableState): string | undefined {
  return locationIn(namingTrackables(state, fix, at), view, zones);
}

function rendered(text: string | undefined, { source, lon, lat }: Fix, { crs }: View): QueryResult {
  if (text !== undefined) return { texts: [text] };
  const outOfRange = rangeProblem(crs, lon, lat);
  return { unplaced: source, ...(outOfRange !== undefined && { outOfRange }) };
}

function many<T>(list: readonly T[], text: (element: T) => string | undefined): QueryResult {
  return { texts: list.map(text).filter((rendered) => rendered !== undefined) };
}

/** Optional restriction of a read to some objects. */
interface Restriction {
  readonly only?: readonly string[];
}

/** Like `many`, but also returns the ids of the objects if the read is restricted. */
function manyWithIds<T extends { readonly id: string }>(
  list: readonly T[],
  { only }: Restriction,
  text: (element: T) => string | undefined,
): QueryResult {
  if (only === undefined) return many(list, text);
  const found = list.map((element) => ({ id: element.id, text: text(element) }));
  const complete = found.filter((each): each is { id: string; text: string } => each.text !== undefined);
  return { texts: complete.map((each) => each.text), of: complete.map(({ id }) => id) };
}

/** Returns the objects that the read may include. */
function among<T extends { readonly id: string }>(objects: readonly T[], { only }: Restriction): readonly T[] {
  if (only === undefined) return objects;
  const ids = new Set(only);
  return objects.filter(({ id }) => ids.has(id));
}

interface InFence {
  readonly id: string;
  readonly spatial: boolean;
}

function providersIn(context: ShardContext, query: InFence): ProviderState[] {
  const fence = context.state.fences.get(query.id);
  if (fence === undefined) return [];
  if (!query.spatial) return membersOf(fence).filter((object) => object.kind === 'provider') as ProviderState[];
  return [...context.state.providers.values()].filter((provider) => touchesFence(context, provider, fence));
}

function trackablesIn(context: ShardContext, query: InFence): TrackableState[] {
  const fence = context.state.fences.get(query.id);
  if (fence === undefined) return [];
  if (!query.spatial) return membersOf(fence).filter((object) => object.kind === 'trackable') as TrackableState[];
  return [...context.state.trackables.values()].filter((trackable) => touchesFence(context, trackable, fence));
}

/** Returns the objects that have entered the fence and not yet left it. */
function membersOf(fence: FenceState): (ProviderState | TrackableState)[] {
  return [...fence.occupants].filter((object) => {
    return object.members.some((member) => member.fence === fence && member.membership.at === 'inside');
  }) as (ProviderState | TrackableState)[];
}

/** Returns the queried fences; undefined for all. */
function fencesIn({ fences }: ShardState, { fences: ids }: { readonly fences?: readonly string[] }) {
  return ids && new Set(ids.map((id) => fences.get(id)));
}

function staysIn(
  objects: ShardState['trackables'] | ShardState['providers'],
  queried: ReadonlySet<FenceState | undefined> | undefined,
  nowMs: number,
): readonly (readonly [string, string, number])[] {
  return [...objects.values()].flatMap(({ id, members }) =>
    members.flatMap(({ fence, membership }) => {
      if (membership.at !== 'inside' || queried?.has(fence) === false) return [];
      return [[fence.id, id, Math.max(0, nowMs - membership.entryMs)] as const];
    }),
  );
}

/** Maximum age of a location whose speed counts. */
const SPEED_AGE_MS = 60_000;

/** Returns the objects that move faster than `above`, with their speeds. */
function speedsIn(
  objects: ShardState['trackables'] | ShardState['providers'],
  above: number,
  nowMs: number,
): readonly (readonly [string, number])[] {
  if (above === Number.POSITIVE_INFINITY) return [];
  return [...objects.values()].flatMap(({ id, fix }) => {
    const speed = fix?.speed;
    if (fix === undefined || speed === undefined || !(speed > above)) return [];
    return nowMs - fix.receivedMs > SPEED_AGE_MS ? [] : [[id, speed] as const];
  });
}

function lastSeenAges(state: ShardState, nowMs: number): readonly (readonly [string, number])[] {
  return [...state.trackables.values()].flatMap((trackable) => {
    const times = fixesOf(state, trackable.entity).map(({ receivedMs }) => receivedMs);
    if (times.length === 0) return [];
    return [[trackable.id, Math.max(0, nowMs - Math.max(...times))] as const];
  });
}

function providerLastSeenAges({ providers }: ShardState, nowMs: number): readonly (readonly [string, number])[] {
  return [...providers.values()].flatMap(({ id, fix }) => {
    return fix === undefined ? [] : [[id, Math.max(0, nowMs - fix.receivedMs)] as const];
  });
}

function fencesOf(
  context: ShardContext,
  object: ProviderState | TrackableState | undefined,
  spatial: boolean,
): string[] {
  if (object === undefined) return [];
  if (spatial)
    return [...context.state.fences.values()].filter((f) => touchesFence(context, object, f)).map(({ id }) => id);
  return object.members.filter(({ membership }) => membership.at === 'inside').map(({ fence }) => fence.id);
}

/** Whether the object's last fix touches the fence now, regardless of its membership. */
function touchesFence(context: ShardContext, object: ProviderState | TrackableState, fence: FenceState): boolean {
  const { state, index } = context;
  const { fix } = object;
  if (fix === undefined || fence.region === undefined) return false;
  const seen = object.kind === 'provider' ? observeProvider(state, object, fix, 0) : observeTrackable(object, 0, 0);
  return verticalGapMeters(fence.vertical, seen) === 0 && index.touches(fence.slot, seen.footprint);
}
