import { t } from '../languages/language.ts';
import { type Drawing, drawingOnEarth, type Layers } from './drawing.ts';
import { exportedKindOf } from './entity_properties.ts';
import { addFeature, type FeatureReading, type Json, numberIn, objectOf, singleGeometries } from './features.ts';
import { notJsonError } from './json_error.ts';

/** Reads a GeoJSON file. Throws an Error for other JSON. */
export function readGeoJson(text: string): Drawing {
  const root = parsed(text);
  return drawingOnEarth((layers, isSwapped) => {
    readFeatures(root, layers, { isSwapped, layerOf: layerNamed, floorOf: floorNamed });
  });
}

export interface CollectionReading extends FeatureReading {
  /** Label of the part in error messages, if the file has several. */
  readonly from?: string;
  layerOf(feature: Json): string;
}

/** Adds the shapes of a FeatureCollection, a Feature or a geometry to layers. Throws an Error for anything else. */
export function readFeatures(value: unknown, layers: Layers, reading: CollectionReading): void {
  const root = objectOf(value);
  const { type, features } = root;
  checkCrs(root);
  if (type === 'FeatureCollection' && Array.isArray(features)) {
    for (const [index, each] of features.entries()) {
      readFeature(objectOf(each), { where: whereOf(index + 1, reading.from), layers, reading });
    }
    return;
  }
  if (type === 'Feature') readFeature(root, { where: whereOf(1), layers, reading });
  else if (typeof type === 'string' && ('coordinates' in root || 'geometries' in root)) {
    readFeature({ type: 'Feature', geometry: root, properties: {} }, { where: t('Geometry'), layers, reading });
  } else throw new Error(t('The file is JSON, but neither GeoJSON nor an export of a hub'));
}

/** WGS 84 with longitude first, by the last part of its name: `urn:ogc:def:crs:OGC:1.3:CRS84`, `EPSG:4326`. */
const WGS84 = /(^|[:/#])(4326|4979|crs84h?)\/?$/i;

/**
 * Throws an Error for a `crs` member other than longitude and latitude. RFC 7946 (2016) removed the member; earlier files
 * have a name, a link, or an EPSG code.
 */
function checkCrs({ crs }: Json): void {
  if (crs === undefined || crs === null) return;
  const { name, code, href } = objectOf(objectOf(crs)['properties']);
  const found = [crs, name, code, href].find((each) => typeof each === 'string' || typeof each === 'number');
  const named = String(found ?? JSON.stringify(crs));
  if (WGS84.test(named) || /\bepsg\/4326\/|\bWGS[ _]?(19)?84$/i.test(named)) return;
  throw new Error(t('GeoJSON has longitude and latitude; this file is in {named}', { named }));
}

function whereOf(number: number, file?: string): string {
  return file === undefined ? t('Feature {number}', { number }) : t('{file}, feature {number}', { file, number });
}

interface Target {
  readonly where: string;
  readonly layers: Layers;
  readonly reading: CollectionReading;
}

function readFeature(feature: Json, { where, layers, reading }: Target): void {
  const { type: _type, bbox: _bbox, crs: _crs, id, geometry: drawn, properties, ...others } = feature;
  const geometry = objectOf(drawn);
  checkCrs(feature);
  checkCrs(geometry);
  addFeature(
    {
      where,
      layer: reading.layerOf(feature),
      id,
      // Some programs write custom members next to the properties.
      properties: { ...others, ...objectOf(properties) },
      geometries: singleGeometries(geometry),
    },
    layers,
    reading,
  );
}

function layerNamed(feature: Json): string {
  const properties = objectOf(feature['properties']);
  const exported = exportedKindOf(properties);
  if (exported !== undefined) return exported;
  for (const name of ['layer', 'Layer', 'kind', 'category', 'folder']) {
    const value = properties[name];
    if (typeof value === 'string' && value !== '') return value;
  }
  return objectOf(feature['geometry'])['type'] === 'Point' ? t('Points') : t('Areas');
}

function floorNamed(properties: Json): number | undefined {
  for (const name of ['floor', 'level', 'ordinal']) {
    const floor = numberIn(properties[name]);
    if (floor !== undefined) return floor;
  }
  return undefined;
}

/** Parses JSON. Integers that a number cannot hold exactly become strings of their digits. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text, exactly);
  } catch (cause) {
    throw notJsonError(text, cause);
  }
}

/** Reviver that preserves all digits of integers. Older browsers do not pass the source text. */
function exactly(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || context?.source === undefined) return value;
  const { source } = context;
  const isRounded = /^-?\d+$/.test(source) && value !== 0 && String(value) !== source;
  return isRounded || !Number.isFinite(value) ? source : value;
}
