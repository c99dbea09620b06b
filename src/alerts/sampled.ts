import { distanceAndBearing } from '../core/geo/geodesic.ts';
import { shorterTurn } from '../core/geo/longitude.ts';
import { DEGREES_PER_METER, RADIANS } from '../core/geo/ellipsoid.ts';
import { type AlertSubject, objectKey, subjectKey } from './alert_state.ts';
import { type CompiledRule, concernsFence, concernsObject, type EntityLookup } from './rule_match.ts';
import type { FenceStay, Sample, SampledPosition } from './watch_state.ts';

/** Maximum number of pairs of trackables that a rule evaluates at once. */
const PAIRS_MAX = 1000;

/** Current state from which sampled conditions are computed. */
export interface SampledState {
  readonly sample: Sample;
  /** Objects inside of fences, by fence id and object key. */
  readonly inside: ReadonlyMap<string, ReadonlyMap<string, FenceStay>>;
  readonly entities: EntityLookup;
}

/** Returns the subjects for which the condition of a rule on speeds or distances is true, by subject key. */
export function sampledSubjects(each: CompiledRule, now: SampledState): ReadonlyMap<string, AlertSubject> {
  const found = new Map<string, AlertSubject>();
  for (const subject of each.rule.kind === 'speed' ? fastObjects(each, now) : subjectsByDistance(each, now)) {
    const key = subjectKey(each.rule.id, subject);
    // A pair is found from both of its trackables.
    if (found.has(key)) continue;
    found.set(key, subject);
    if (each.rule.kind === 'together' && found.size >= PAIRS_MAX) break;
  }
  return found;
}

function fastObjects(each: CompiledRule, { sample, inside, entities }: SampledState): readonly AlertSubject[] {
  const { speed_above: limit, fence_ids: fences } = each.rule;
  return sample.speeds.flatMap(([object, speed]) => {
    if (speed <= (limit ?? 0) || !concernsObject(each, object, entities)) return [];
    if (fences == null) return [object];
    const key = objectKey(object);
    return [...inside].flatMap(([fenceId, stays]) => {
      return stays.has(key) && concernsFence(each, fenceId) ? [{ fenceId, ...object }] : [];
    });
  });
}

/** A trackable with its position. */
interface LocatedTrackable extends SampledPosition {
  readonly id: string;
}

/**
 * Yields the trackables without another one within the distance, or the pairs within it. Only trackables with a
 * position take part. Trackables on different floors are not near each other.
 */
function* subjectsByDistance(each: CompiledRule, { sample, entities }: SampledState): Generator<AlertSubject, void> {
  const { kind, trackable_ids: ids, other_trackable_ids: others, distance } = each.rule;
  const own = located(ids ?? [], sample, entities).filter(({ id }) =>
    concernsObject(each, { trackableId: id }, entities),
  );
  const companions = others == null ? own : located(others, sample, entities);
  const byLatitude = [...companions].sort((one, other) => one.lat - other.lat);
  for (const one of own) {
    const near = nearby(one, byLatitude, distance ?? 0);
    if (kind === 'together') {
      for (const other of near) yield { trackableId: one.id, otherId: other.id };
      continue;
    }
    if (near.next().done !== true) continue;
    const [first, second] = companions;
    const other = first?.id === one.id ? second : first;
    if (other === undefined) continue;
    // A rule on two trackables has one alert for the pair.
    const isPair = others == null ? ids?.length === 2 : others.length === 1;
    yield { trackableId: one.id, otherId: isPair ? other.id : undefined };
  }
}

function located(ids: readonly string[], { positions }: Sample, entities: EntityLookup): readonly LocatedTrackable[] {
  return ids.flatMap((named) => {
    const id = entities.trackable(named)?.id;
    const position = id === undefined ? undefined : positions.get(id);
    return id === undefined || position === undefined ? [] : [{ id, ...position }];
  });
}

const measured: [number, number] = [0, 0];

/** Yields the trackables within a distance in meters of one; `byLatitude` is sorted by latitude. */
function* nearby(
  { id, lon, lat, floor }: LocatedTrackable,
  byLatitude: readonly LocatedTrackable[],
  distance: number,
): Generator<LocatedTrackable, void> {
  const latitudes = distance * DEGREES_PER_METER;
  const furthest = Math.min(89.999, Math.abs(lat) + latitudes);
  const longitudes = latitudes / Math.cos(furthest * RADIANS);
  for (let i = firstFrom(byLatitude, lat - latitudes); i < byLatitude.length; i++) {
    const other = byLatitude[i] as LocatedTrackable;
    if (other.lat > lat + latitudes) return;
    if (other.floor !== floor || other.id === id || Math.abs(shorterTurn(other.lon - lon)) > longitudes) continue;
    distanceAndBearing(lon, lat, other.lon, other.lat, measured);
    if (measured[0] <= distance) yield other;
  }
}

/** Returns the index of the first trackable at or north of a latitude. */
function firstFrom(byLatitude: readonly LocatedTrackable[], lat: number): number {
  let [low, high] = [0, byLatitude.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((byLatitude[middle] as LocatedTrackable).lat < lat) low = middle + 1;
    else high = middle;
  }
  return low;
}
