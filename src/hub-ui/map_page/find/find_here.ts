import type Polygon from 'ol/geom/Polygon.js';
import type { SearchMatch, SearchRequest, SearchResult } from '../../../model/search.ts';
import type { Kind } from '../../hub/entity_kinds.ts';
import { request } from '../../hub/rest.ts';
import { georeferenceZone } from '../../map/plane/georeference.ts';
import { EARTH, fromMap, type Plane, type Position, viewParams } from '../../map/plane/plane.ts';

/** Maximum number of objects that the hub returns. */
export const COUNT_MAX = 500;

/** Place of a search, in map coordinates. */
export type Place =
  | { readonly kind: 'point'; readonly at: Position }
  | { readonly kind: 'area'; readonly area: Polygon };

export type FoundKind = Extract<Kind, 'trackables' | 'providers'>;

/** Conditions of a search. */
export interface FindTerms {
  readonly kind: FoundKind;
  /** Maximum number of objects near a point. */
  readonly count: number;
  /** Greatest distance from the point in meters. */
  readonly radius: number | undefined;
  /** Expression of the locating rules; empty for any object. */
  readonly where: string;
  readonly floor: number | undefined;
}

/** A found object. */
export interface FoundObject {
  readonly kind: FoundKind;
  readonly id: string;
  /** Distance from the point in meters; undefined in an area. */
  readonly distance: number | undefined;
  /** Position on the plane. */
  readonly position: Position;
}

export interface Found {
  readonly objects: readonly FoundObject[];
  /** Whether there are more. */
  readonly isPartial: boolean;
}

/** Searches for the objects near a point or in an area. Throws a RequestError. */
export async function findHere(place: Place, terms: FindTerms, plane: Plane, signal: AbortSignal): Promise<Found> {
  const body = searchRequest(place, terms, plane);
  const query = { ...viewParams(plane) };
  const { matches, complete } = await request<SearchResult>('POST', '/search', { query, body, signal });
  return { objects: matches.flatMap((match) => foundObject(terms.kind, match) ?? []), isPartial: !complete };
}

/** The request of a search, in longitude and latitude. */
export function searchRequest(
  place: Place,
  { kind, count, radius, where, floor }: FindTerms,
  plane: Plane,
): SearchRequest {
  const terms = {
    kind: kind === 'trackables' ? ('trackable' as const) : ('provider' as const),
    ...(where.trim() !== '' && { where }),
    ...(floor !== undefined && { floor }),
  };
  if (place.kind === 'point') {
    return { ...terms, near: toEarth(place.at, plane), k: count, ...(radius !== undefined && { radius }) };
  }
  const coordinates = place.area.getCoordinates().map((ring) => ring.map((point) => toEarth(point, plane)));
  return { ...terms, region: { type: 'Polygon', coordinates }, k: COUNT_MAX };
}

/** Longitude and latitude of map coordinates. */
function toEarth(point: Position, plane: Plane): number[] {
  const onEarth = plane.kind === 'earth' ? point : (georeferenceZone(plane.zone)?.toMap(point) ?? [Number.NaN]);
  return fromMap(EARTH, onEarth);
}

function foundObject(kind: FoundKind, { distance, location: own, motion }: SearchMatch): FoundObject | undefined {
  const location = own ?? motion?.location;
  const id = motion?.id ?? location?.provider_id;
  return id == null || location === undefined
    ? undefined
    : { kind, id, distance, position: location.position.coordinates };
}
