import { isClosed } from '../../core/geo/rings.ts';
import { isUuid } from '../../model/id.ts';
import { t } from '../languages/language.ts';
import { areaRing, type Layers, type FilePosition, type FileShape } from './drawing.ts';
import { type ExportedEntity, exportedEntityOf } from './entity_properties.ts';

export type Json = Readonly<Record<string, unknown>>;

/** Feature of a file. */
export interface Feature {
  /** Label in error messages, such as `Feature 3`. */
  readonly where: string;
  readonly layer: string;
  readonly id: unknown;
  readonly properties: Json;
  /** Single geometries as in GeoJSON, each of which may be an error sentence instead. */
  readonly geometries: readonly (Json | string)[];
}

export interface FeatureReading {
  /** Whether positions are written as latitude and longitude. */
  readonly isSwapped: boolean;
  /** Floor of a feature that is not an export of a hub. */
  floorOf(properties: Json): number | undefined;
}

/** Adds the shapes of a feature to its layer. Values without a matching member of fences and zones stay in the properties. */
export function addFeature(feature: Feature, layers: Layers, reading: FeatureReading): void {
  const { where, geometries } = feature;
  const exported = exportedEntityOf(feature.properties);
  const base = exported === undefined ? drawnBase(feature, layers, reading) : exportedBase(feature, exported);
  const place = base.name === undefined ? where : `${where}, ${base.name}`;
  if (geometries.length === 0) layers.reject(where, t('It has no geometry.'));
  for (const [index, each] of geometries.entries()) {
    const geometry = typeof each === 'string' ? each : usable(each, { ...reading, withHeight: exported !== undefined });
    if (typeof geometry === 'string') layers.reject(place, geometry);
    else {
      const id = index === 0 || base.id === undefined ? base.id : `${base.id}/${index + 1}`;
      layers.add(exported?.kind ?? feature.layer, {
        ...base,
        ...radiusOf(base.properties, geometry, layers),
        id,
        where: place,
        geometry,
      });
    }
  }
}

type Base = Omit<FileShape, 'geometry' | 'radius'>;

function exportedBase({ id, properties }: Feature, exported: ExportedEntity): Base {
  const { name, floor } = exported.members;
  return {
    id: idOf(id) ?? idOf(properties['id']),
    name: typeof name === 'string' ? name : undefined,
    floor: typeof floor === 'number' ? floor : undefined,
    properties: {},
    exported,
  };
}

function drawnBase({ id: given, properties: all }: Feature, layers: Layers, reading: FeatureReading): Base {
  const properties = Object.fromEntries(Object.entries(all).filter(([, value]) => value != null));
  const id = idOf(given) ?? idOf(properties['id']);
  if (given != null && !isUuid(String(given))) properties['id'] ??= given;
  const [nameKey, name] = nameIn(properties);
  const floor = reading.floorOf(properties);
  if ('floor' in properties && floor === undefined) layers.keepAsProperty('floor', properties['floor']);
  const used: Json = { id, floor, ...(nameKey !== undefined && { [nameKey]: name }) };
  const rest = Object.entries(properties).filter(([key, value]) => {
    return !(key in used) || String(value) !== String(used[key]) || (key === 'id' && !isUuid(String(value)));
  });
  return { id, name, floor, properties: Object.fromEntries(rest), exported: undefined };
}

function idOf(value: unknown): string | undefined {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}

/** Extracts the radius of a point. The radius of an area, or an invalid one, stays a property. */
function radiusOf(
  properties: Json,
  { type }: FileShape['geometry'],
  layers: Layers,
): Pick<FileShape, 'radius' | 'properties'> {
  const { radius, ...rest } = properties;
  const meters = type === 'Point' ? numberIn(radius) : undefined;
  if (meters !== undefined && meters > 0) {
    return { radius: meters, properties: String(meters) === String(radius) ? rest : properties };
  }
  if (radius !== undefined) layers.keepAsProperty('radius', radius);
  return { radius: undefined, properties };
}

/** Returns a number, or the number in a string; undefined for other values. */
export function numberIn(value: unknown): number | undefined {
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^-?\d{1,15}(\.\d+)?$/.test(value) ? Number(value) : undefined;
}

const NAMES = ['name', 'title'];

/** Returns the property with the name of a feature, and the name: a string, a number, or, as in IMDF, strings by language. */
function nameIn(properties: Json): readonly [key: string | undefined, name: string | undefined] {
  for (const wanted of NAMES) {
    const keys = [wanted, ...Object.keys(properties).filter((key) => key.toLowerCase() === wanted)];
    for (const key of keys) {
      const value = properties[key];
      const candidates = typeof value === 'object' && value !== null ? Object.values(value) : [value];
      const found = candidates.find((each) => ['string', 'number'].includes(typeof each) && String(each).trim() !== '');
      if (found !== undefined) return [key, String(found)];
    }
  }
  return [undefined, undefined];
}

interface PositionReading extends FeatureReading {
  /** Whether to preserve the third coordinate. */
  readonly withHeight: boolean;
}

/** Returns a geometry for a fence or zone, or an error sentence. */
function usable({ type, coordinates }: Json, reading: PositionReading): FileShape['geometry'] | string {
  if (type === 'Point') {
    const at = positionOf(coordinates, reading);
    return typeof at === 'string' ? at : { type: 'Point', coordinates: at };
  }
  const { withHeight } = reading;
  const rings = type === 'LineString' ? [coordinates] : type === 'Polygon' ? coordinates : undefined;
  if (!Array.isArray(rings) || rings.length === 0)
    return t('Geometries of the type {type} cannot be used.', { type: String(type) });
  const found: (readonly FilePosition[])[] = [];
  for (const ring of rings) {
    if (!Array.isArray(ring)) return t('Its coordinates are not a list.');
    const positions: FilePosition[] = [];
    for (const each of ring) {
      const at = positionOf(each, reading);
      if (typeof at === 'string') return at;
      positions.push(at);
    }
    // Only gates that a hub has exported: other lines are drawn things.
    if (type === 'LineString' && withHeight && positions.length > 1) return { type, coordinates: positions };
    if (type === 'LineString' && (positions.length < 4 || !isClosed(positions))) {
      return t('A line that is not closed has no area.');
    }
    const closed = areaRing(positions);
    if (closed === undefined) return t('It has fewer than three corners.');
    found.push(closed);
  }
  return { type: 'Polygon', coordinates: found };
}

function positionOf(value: unknown, { isSwapped, withHeight }: PositionReading): FilePosition | string {
  if (!Array.isArray(value) || value.length < 2 || !value.every((each) => typeof each === 'number')) {
    return t('A position has to be a list of numbers.');
  }
  const [first = 0, second = 0, ...heights] = value as number[];
  const [longitude, latitude] = isSwapped ? [second, first] : [first, second];
  const position = withHeight ? [longitude, latitude, ...heights.slice(0, 1)] : [longitude, latitude];
  if (isOnEarth(longitude, latitude)) return position;
  return isOnEarth(latitude, longitude)
    ? t('{longitude}, {latitude} has latitude before longitude.', { longitude, latitude })
    : t('{longitude}, {latitude} is not a longitude and latitude.', { longitude, latitude });
}

function isOnEarth(longitude: number, latitude: number): boolean {
  return Math.abs(longitude) <= 360 && Math.abs(latitude) <= 90;
}

/** Splits multi-geometries and collections. */
export function singleGeometries(geometry: Json): Json[] {
  const { type, coordinates, geometries } = geometry;
  if (typeof type !== 'string') return [];
  if (type === 'GeometryCollection' && Array.isArray(geometries)) {
    return geometries.flatMap((each) => singleGeometries(objectOf(each)));
  }
  if (type.startsWith('Multi') && Array.isArray(coordinates)) {
    return coordinates.map((each: unknown) => ({ type: type.slice('Multi'.length), coordinates: each }));
  }
  return [geometry];
}

export function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}
