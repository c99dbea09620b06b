import { t } from '../languages/language.ts';
import { closedRing, type Drawing, Layers, type Position, type Shape } from './drawing.ts';

type Json = Readonly<Record<string, unknown>>;

/** What a file of GeoJSON draws. Throws an Error for what is none. */
export function readGeoJson(text: string): Drawing {
  const layers = new Layers();
  readFeatures(parsed(text), layers, { layerOf: (feature) => layerNamed(feature), floorOf: floorNamed });
  return layers.drawing('earth');
}

export interface FeatureReading {
  /** Which part of the file they are in, where it has several. */
  readonly from?: string;
  layerOf(feature: Json): string;
  floorOf(properties: Json): number | undefined;
}

/** Puts what a collection of features, a feature or a geometry draws into layers. Throws an Error for anything else. */
export function readFeatures(value: unknown, layers: Layers, reading: FeatureReading): void {
  const root = objectOf(value);
  const { crs, type, features } = root;
  const named = objectOf(objectOf(crs)['properties'])['name'];
  if (typeof named === 'string' && !/CRS84|4326/.test(named)) {
    throw new Error(t('GeoJSON has longitude and latitude; this file is in {named}', { named }));
  }
  if (type === 'FeatureCollection' && Array.isArray(features)) {
    for (const [index, each] of features.entries()) {
      readFeature(objectOf(each), { where: placeOf(index + 1, reading.from), layers, reading });
    }
    return;
  }
  if (type === 'Feature') readFeature(root, { where: placeOf(1), layers, reading });
  else if (typeof type === 'string' && ('coordinates' in root || 'geometries' in root)) {
    readFeature({ type: 'Feature', geometry: root, properties: {} }, { where: t('Geometry'), layers, reading });
  } else throw new Error(t('The file is JSON, but neither GeoJSON nor an export of a hub'));
}

function placeOf(number: number, file?: string): string {
  return file === undefined ? t('Feature {number}', { number }) : t('{file}, feature {number}', { file, number });
}

interface Target {
  readonly where: string;
  readonly layers: Layers;
  readonly reading: FeatureReading;
}

function readFeature(feature: Json, { where, layers, reading }: Target): void {
  const properties = objectOf(feature['properties']);
  const id = feature['id'] ?? properties['id'];
  const name = nameOf(properties['name'] ?? properties['Name'] ?? properties['title']);
  const base = {
    id: typeof id === 'string' || typeof id === 'number' ? String(id) : undefined,
    name,
    floor: reading.floorOf(properties),
    properties,
  };
  const parts = partsOf(objectOf(feature['geometry']));
  if (parts.length === 0) layers.refuse(where, t('It has no geometry.'));
  const layer = reading.layerOf(feature);
  for (const [index, part] of parts.entries()) {
    const place = name === undefined ? where : `${where}, ${name}`;
    const geometry = typeof part === 'string' ? part : usable(part);
    if (typeof geometry === 'string') layers.refuse(place, geometry);
    else {
      const radius = geometry.type === 'Point' ? radiusIn(properties) : undefined;
      const ofPart = index === 0 || base.id === undefined ? base.id : `${base.id}/${index + 1}`;
      layers.add(layer, { ...base, id: ofPart, geometry, radius });
    }
  }
}

/** The single geometries of one that may have many. */
function partsOf(geometry: Json): Json[] {
  const { type, coordinates, geometries } = geometry;
  if (typeof type !== 'string') return [];
  if (type === 'GeometryCollection' && Array.isArray(geometries)) {
    return geometries.flatMap((each) => partsOf(objectOf(each)));
  }
  if (type.startsWith('Multi') && Array.isArray(coordinates)) {
    return coordinates.map((each: unknown) => ({ type: type.slice('Multi'.length), coordinates: each }));
  }
  return [geometry];
}

/** A geometry that a fence or a zone can have, or why there is none. */
function usable({ type, coordinates }: Json): Shape['geometry'] | string {
  if (type === 'Point') {
    const at = positionOf(coordinates);
    return typeof at === 'string' ? at : { type: 'Point', coordinates: at };
  }
  const rings = type === 'LineString' ? [coordinates] : type === 'Polygon' ? coordinates : undefined;
  if (!Array.isArray(rings) || rings.length === 0)
    return t('Geometries of the type {type} cannot be used.', { type: String(type) });
  const found: (readonly Position[])[] = [];
  for (const ring of rings) {
    if (!Array.isArray(ring)) return t('Its coordinates are no list.');
    const positions: Position[] = [];
    for (const each of ring) {
      const at = positionOf(each);
      if (typeof at === 'string') return at;
      positions.push(at);
    }
    const [first] = positions;
    const last = positions.at(-1);
    if (type === 'LineString' && (positions.length < 4 || first?.[0] !== last?.[0] || first?.[1] !== last?.[1])) {
      return t('A line that is not closed has no area.');
    }
    const closed = closedRing(positions);
    if (closed === undefined) return t('It has less than three corners.');
    found.push(closed);
  }
  return { type: 'Polygon', coordinates: found };
}

function positionOf(value: unknown): Position | string {
  if (!Array.isArray(value) || value.length < 2 || !value.every((each) => typeof each === 'number')) {
    return t('A position has to be a list of numbers.');
  }
  const [longitude = 0, latitude = 0] = value as number[];
  if (Math.abs(longitude) <= 360 && Math.abs(latitude) <= 90) return value.slice(0, 2) as number[];
  return t('{longitude}, {latitude} is no longitude and latitude.', { longitude, latitude });
}

function layerNamed(feature: Json): string {
  const properties = objectOf(feature['properties']);
  for (const name of ['layer', 'Layer', 'kind', 'category', 'folder']) {
    const value = properties[name];
    if (typeof value === 'string' && value !== '') return value;
  }
  return objectOf(feature['geometry'])['type'] === 'Point' ? t('Points') : t('Areas');
}

function floorNamed(properties: Json): number | undefined {
  for (const name of ['floor', 'level', 'ordinal']) {
    const value = properties[name];
    if (typeof value === 'number') return value;
    if (typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value)) return Number(value);
  }
  return undefined;
}

function radiusIn({ radius }: Json): number | undefined {
  return typeof radius === 'number' && radius > 0 ? radius : undefined;
}

/** A name as a text, or, as in IMDF, as texts by their languages. */
function nameOf(value: unknown): string | undefined {
  const text = typeof value === 'object' && value !== null ? Object.values(value)[0] : value;
  return typeof text === 'string' && text !== '' ? text : undefined;
}

export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new Error(
      t('The file is not JSON: {message}', { message: cause instanceof Error ? cause.message : String(cause) }),
      { cause },
    );
  }
}

export function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}
