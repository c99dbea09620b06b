import type { TrackableMotion } from '../model/events.ts';
import type { Trackable } from '../model/trackable.ts';
import type { Zone } from '../model/zone.ts';

/** Facts of a zone that its object shows. */
export interface ZoneFacts {
  readonly id: string;
  readonly name: string;
  readonly site?: string | undefined;
  readonly building?: string | undefined;
  readonly floor?: string | undefined;
  /** Longitude and latitude in degrees, of a proximity zone. */
  readonly position?: readonly [number, number] | undefined;
  /** Meters. */
  readonly radius?: number | undefined;
  /** Pairs of geographic and local positions: longitude and latitude in degrees, x and y in meters. */
  readonly controlPoints: readonly (readonly [lon: number, lat: number, x: number, y: number])[];
  readonly isIncomplete: boolean;
  /** Other name by which locations reference the zone. */
  readonly foreignId?: string | undefined;
}

/** Facts of a trackable that its object shows. */
export interface TrackableFacts {
  readonly id: string;
  readonly name: string;
}

/** Position of a trackable in EPSG:4326. */
export interface TrackablePosition {
  readonly longitude: number;
  readonly latitude: number;
  /** Horizontal accuracy in meters. */
  readonly accuracy?: number | undefined;
  readonly floor?: number | undefined;
  /** Id or foreign id of the zone, or any name of the source. */
  readonly source?: string | undefined;
  /** Time of measurement. */
  readonly at: Date;
}

/** Position of a trackable. */
export interface Motion {
  readonly id: string;
  readonly position: TrackablePosition;
}

/** Returns the position in a motion as JSON, whose coordinates are in EPSG:4326; undefined without coordinates. */
// hot
export function readMotion(text: string): Motion | undefined {
  const { id, location } = JSON.parse(text) as TrackableMotion;
  const [longitude, latitude] = location.position.coordinates as readonly (number | undefined)[];
  if (longitude === undefined || latitude === undefined) return undefined;
  const { accuracy, floor, source, timestamp_generated: time } = location;
  return {
    id,
    position: {
      longitude,
      latitude,
      accuracy: accuracy ?? undefined,
      floor: floor ?? undefined,
      source: source ?? undefined,
      at: new Date(time ?? 0),
    },
  };
}

/** Maximum length of a name in the address space. */
const NAME_MAX = 512;

/** Returns what clients read of a zone. */
export function zoneFacts(zone: Zone): ZoneFacts {
  const { id, foreign_id: foreignId, position, ground_control_points: rows } = zone;
  const [longitude, latitude] = position?.coordinates ?? [];
  return {
    id,
    name: nameOf(zone.name, foreignId, id),
    site: zone.site ?? undefined,
    building: zone.building ?? undefined,
    floor: zone.floor == null ? undefined : String(zone.floor),
    position: longitude === undefined || latitude === undefined ? undefined : [longitude, latitude],
    radius: zone.radius ?? undefined,
    controlPoints: controlPoints(rows ?? []),
    isIncomplete: zone.incomplete_configuration === true,
    foreignId: foreignId ?? undefined,
  };
}

/** Returns what clients read of a trackable besides its position. */
export function trackableFacts({ id, name }: Trackable): TrackableFacts {
  return { id, name: nameOf(name, id) };
}

/** Rows are pairs of a geographic and a local position. */
function controlPoints(rows: readonly (readonly number[])[]): ZoneFacts['controlPoints'] {
  return rows.flatMap((geographic, row) => {
    const local = row % 2 === 0 ? rows[row + 1] : undefined;
    if (local === undefined) return [];
    const [[longitude = 0, latitude = 0], [x = 0, y = 0]] = [geographic, local];
    return [[longitude, latitude, x, y] as const];
  });
}

function nameOf(...names: readonly (string | null | undefined)[]): string {
  return (names.find((name) => name != null && name !== '') ?? '').slice(0, NAME_MAX);
}
