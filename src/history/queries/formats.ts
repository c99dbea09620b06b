import { guarded, quoted } from '../../model/csv.ts';
import { formatTime } from '../../model/time.ts';
import type { PositionsQuery, PositionKind } from './query.ts';

/** A position as it appears in the response. */
export interface ShownPlace {
  readonly time: string;
  readonly longitude: number;
  readonly latitude: number;
  readonly z?: number;
  readonly floor?: number;
  readonly zone_id?: string;
  readonly x?: number;
  readonly y?: number;
  readonly accuracy?: number;
  readonly speed?: number;
  readonly course?: number;
  readonly provider_id?: string;
  readonly source?: string;
}

interface FormatOptions extends Pick<PositionsQuery, 'id' | 'fromMs' | 'toMs' | 'format' | 'hasHeader'> {
  readonly kind: PositionKind;
}

const CSV_COLUMNS = [
  ...['time', 'id', 'longitude', 'latitude', 'z', 'floor', 'zone_id', 'x', 'y', 'accuracy', 'speed', 'course'],
  ...['provider_id', 'source'],
] as const;

/** Serializes the positions of an object in the requested format. */
export function placesText(options: FormatOptions, places: readonly ShownPlace[], next: string | undefined): string {
  switch (options.format) {
    case 'json':
      return JSON.stringify({ ...headOf(options), points: places, next_cursor: next ?? null });
    case 'geojson':
      return JSON.stringify({
        type: 'FeatureCollection',
        features: places.map((place) => featureOf(options.id, place)),
        next_cursor: next ?? null,
      });
    case 'csv':
      return [
        ...(options.hasHeader ? [CSV_COLUMNS.join()] : []),
        ...places.map((place) => csvRow({ id: options.id, ...place })),
      ]
        .map((line) => `${line}\r\n`)
        .join('');
    case 'fixes':
      return '[]';
    case 'mfjson':
      return JSON.stringify({ ...movingFeature(options, places), next_cursor: next ?? null });
  }
}

function headOf({ id, fromMs, toMs }: FormatOptions) {
  return { id, from: formatTime(fromMs), to: formatTime(toMs) };
}

function featureOf(id: string, { longitude, latitude, z, ...properties }: ShownPlace) {
  return {
    type: 'Feature',
    geometry: { type: 'Point', coordinates: positionOf(longitude, latitude, z) },
    properties: { id, ...properties },
  };
}

/** A MovingFeature of OGC Moving Features JSON 1.0. */
function movingFeature(options: FormatOptions, places: readonly ShownPlace[]) {
  const datetimes = places.map(({ time }) => time);
  return {
    type: 'Feature',
    id: options.id,
    properties: { kind: options.kind === 'motions' ? 'trackable' : 'provider' },
    crs: { type: 'Name', properties: { name: 'urn:ogc:def:crs:OGC:1.3:CRS84' } },
    trs: { type: 'Name', properties: { name: 'urn:ogc:data:time:iso8601' } },
    temporalGeometry: {
      type: 'MovingPoint',
      datetimes,
      coordinates: places.map(({ longitude, latitude, z }) => positionOf(longitude, latitude, z)),
      interpolation: 'Linear',
    },
  };
}

function positionOf(longitude: number, latitude: number, z: number | undefined): readonly number[] {
  return z === undefined ? [longitude, latitude] : [longitude, latitude, z];
}

function csvRow(values: Readonly<Record<string, unknown>>): string {
  return CSV_COLUMNS.map((name) => csvValue(values[name])).join();
}

function csvValue(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'number' ? String(value) : quoted(guarded(String(value)));
}
