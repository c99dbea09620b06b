import Feature from 'ol/Feature.js';
import type Geometry from 'ol/geom/Geometry.js';
import LineString from 'ol/geom/LineString.js';
import Polygon, { circular } from 'ol/geom/Polygon.js';
import type { Fence } from '../../../model/fence.ts';
import { positionLists } from '../../../model/position_lists.ts';
import type { Zone } from '../../../model/zone.ts';
import { earthToPlane, zoneOutline } from '../plane/georeference.ts';
import { type Plane, type Position, toMap } from '../plane/plane.ts';
import { closedRing } from '../plane/rings.ts';

/** Entity that a map feature represents. */
export interface Drawn {
  readonly kind: 'zones' | 'fences' | 'anchors';
  readonly id: string;
}

/** Returns the entity that a feature represents. */
export function drawnBy(feature: { get(name: string): unknown }): Drawn | undefined {
  return feature.get('drawn') as Drawn | undefined;
}

/** Returns the value of a feature that a click explains, instead of selecting an entity; undefined for other features. */
export function explainedBy(feature: { get(name: string): unknown }): object | undefined {
  return feature.get('explains') as object | undefined;
}

/** Feature of a fence whose region is in the plane's coordinates. */
export function fenceFeature(fence: Fence, plane: Plane): Feature | undefined {
  const geometry = regionGeometry(fence, plane);
  return geometry && new Feature({ geometry, drawn: { kind: 'fences', id: fence.id } satisfies Drawn, fence });
}

/** Geometry of a fence's region on the map, with the heights of its positions. */
export function regionGeometry(
  { region, radius }: Pick<Fence, 'region' | 'radius'>,
  plane: Plane,
): Geometry | undefined {
  if (region.type === 'Point') return circleGeometry(region.coordinates, radius ?? 0, plane);
  const rings = positionLists(region).map((ring) =>
    ring.map((position) => [...toMap(plane, position), ...position.slice(2)]),
  );
  if (region.type === 'LineString') return new LineString(rings[0] ?? []);
  return rings.length === 0 ? undefined : new Polygon(rings);
}

/** Circle with a radius in meters. On the earth, it is a geodesic circle. */
export function circleGeometry(center: Position, radiusMeters: number, plane: Plane): Polygon {
  const [x = 0, y = 0] = center;
  if (plane.kind === 'earth') return circular([x, y], radiusMeters, 64).transform('EPSG:4326', 'EPSG:3857') as Polygon;
  const ring = Array.from({ length: 65 }, (_, i) => {
    const angle = (i / 64) * 2 * Math.PI;
    return [x + radiusMeters * Math.cos(angle), y + radiusMeters * Math.sin(angle)];
  });
  return new Polygon([ring]);
}

/** Feature of a zone: its outline, or the circle of a proximity zone. Undefined if the zone has no position on this plane. */
export function zoneFeature(zone: Zone, plane: Plane): Feature | undefined {
  const outline = zoneOutline(zone, plane);
  const geometry = outline === undefined ? proximityGeometry(zone, plane) : new Polygon([closedRing(outline)]);
  return geometry && new Feature({ geometry, drawn: { kind: 'zones', id: zone.id } satisfies Drawn, zone });
}

function proximityGeometry({ position, radius }: Zone, plane: Plane): Polygon | undefined {
  if (position == null) return undefined;
  if (plane.kind === 'earth') return circleGeometry(position.coordinates, radius || 1, plane);
  const point = earthToPlane(position.coordinates, plane);
  return point && circleGeometry(point, radius || 1, plane);
}
