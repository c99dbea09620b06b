import { roundMeters } from '../../core/geo/rounding.ts';
import type { Fence } from '../../model/fence.ts';
import { idKey, isUuid } from '../../model/id.ts';
import { ZONE_TYPES, type Zone } from '../../model/zone.ts';
import type { ControlPoints } from '../map/plane/georeference.ts';
import { EARTH, toMap } from '../map/plane/plane.ts';
import { pairsOfArea, rowsOf } from '../setup/zones/pairs.ts';
import { type Drawing, type Layer, type FilePosition, type FileShape, positionsOf } from './drawing.ts';
import type { HubDocument } from './entity_document.ts';
import type { DrawnKind, ExportedEntity } from './entity_properties.ts';
import { controlPointsFor } from './moved_zone.ts';
import { stableId } from './stable_id.ts';

/** User's choice for a layer: the kind of entity that it becomes, and the floor. */
export interface LayerChoice {
  readonly becomes: 'fences' | 'zones' | 'none';
  /** Floor of shapes that have none; undefined for all floors. */
  readonly floor: number | undefined;
}

/** Transformation from the meters of a drawing to those of a zone. */
export interface PlaneChoice {
  readonly zoneId: string;
  /** Origin of the drawing, in meters of the zone. */
  readonly x: number;
  readonly y: number;
  /** Counterclockwise rotation of the drawing in the zone, in degrees. */
  readonly turn: number;
}

/** Fences and zones of the hub by id, in geographic coordinates. */
export interface Existing {
  readonly fences: ReadonlyMap<string, Fence>;
  readonly zones: ReadonlyMap<string, Zone>;
}

interface Choices {
  readonly layers: readonly LayerChoice[];
  /** Set for drawings in meters. */
  readonly plane: PlaneChoice | undefined;
  /** Name of the file, from which ids of shapes without a UUID are derived. */
  readonly name: string;
  readonly existing: Existing;
}

/** Default radius of a point. */
const RADIUS_M = 2;

type Members = Readonly<Record<string, unknown>>;

/** Members of an entity from a shape, and defaults if it is new. */
interface Drawn {
  readonly members: Members;
  readonly forNew: Members;
}

/**
 * Converts a drawing to fences and zones, with the members that the file contains. The hub validates the entities.
 */
export function entitiesOfDrawing(drawing: Drawing, { layers: choices, plane, name, existing }: Choices): HubDocument {
  const drawn: Readonly<Record<DrawnKind, Map<string, Drawn>>> = { zones: new Map(), fences: new Map() };
  const hub = { fences: byKey(existing.fences), zones: byKey(existing.zones) };
  const toleranceDegrees = drawing.plane === 'earth' ? toleranceOf(drawing) : 0;
  const ids = new Set<string>();
  const origins = new Map<string, string>();
  for (const [index, layer] of drawing.layers.entries()) {
    const choice = choices[index];
    if (choice === undefined || choice.becomes === 'none') continue;
    for (const [number, shape] of layer.shapes.entries()) {
      const kind = drawing.plane === 'earth' ? choice.becomes : 'fences';
      const id = idOf(shape, { key: `${name} ${layer.name} ${number}`, ids });
      const floor = shape.floor ?? choice.floor;
      if (shape.where !== undefined) origins.set(id, shape.where);
      const made = { id, layer, floor, toleranceDegrees };
      if (kind === 'zones') drawn.zones.set(id, zoneOf(shape, { ...made, before: hub.zones.get(idKey(id)) }));
      else drawn.fences.set(id, fenceOf(shape, { ...made, plane, before: hub.fences.get(idKey(id)) }));
    }
  }
  const used = Object.entries(drawn).filter(([, entities]) => entities.size > 0);
  const lists = used.map(([kind, entities]) => [kind, [...entities.values()].map(({ members }) => members)] as const);
  const forNew = used.map(([kind, entities]) => {
    return [kind, new Map([...entities].map(([id, each]) => [id, each.forNew]))] as const;
  });
  return {
    lists: new Map(lists) as never,
    rules: undefined,
    forNew: new Map(forNew) as never,
    origins,
    notes: drawing.notes,
  };
}

function byKey<E>(entities: ReadonlyMap<string, E>): ReadonlyMap<string, E> {
  return new Map([...entities].map(([id, entity]) => [idKey(id), entity]));
}

function idOf({ id, exported }: FileShape, { key, ids }: { readonly key: string; readonly ids: Set<string> }): string {
  const isOwn = id !== undefined && (exported !== undefined || isUuid(id));
  const own = isOwn ? id : stableId(id === undefined ? key : `${key} ${id}`);
  const found = ids.has(own) ? stableId(`${key} again`) : own;
  ids.add(found);
  return found;
}

interface Made<E> {
  readonly id: string;
  readonly layer: Layer;
  readonly floor: number | undefined;
  /** Tolerance within which positions are equal, in degrees. */
  readonly toleranceDegrees: number;
  /** Entity with this id on the hub. */
  readonly before: E | undefined;
}

function fenceOf(
  shape: FileShape,
  { id, layer, floor, plane, before, toleranceDegrees }: Made<Fence> & { readonly plane: PlaneChoice | undefined },
): Drawn {
  const { geometry } = shape;
  const exported = exportedAs('fences', shape);
  const region = plane === undefined ? regionLike(geometry, before?.region, toleranceDegrees) : undefined;
  const placedRegion = plane && {
    region: mapPositions(geometry, (at) => placed(at, plane)),
    crs: 'local',
    zone_id: plane.zoneId,
  };
  const name = `${layer.name} ${layer.shapes.indexOf(shape) + 1}`;
  return {
    members: given({ id, region, ...placedRegion, floor, ...(exported ?? drawnMembers(shape, shape.properties)) }),
    forNew: exported === undefined ? { name, ...radiusForNew(shape) } : {},
  };
}

/** Converts an area to a zone with its origin at the first corner, and a point to a proximity zone of a reader. */
function zoneOf(shape: FileShape, { id, layer, floor, before, toleranceDegrees }: Made<Zone>): Drawn {
  const { geometry } = shape;
  const exported = exportedAs('zones', shape);
  const isPoint = geometry.type === 'Point';
  const { type, ...others } = shape.properties;
  const isType = !isPoint && ZONE_TYPES.some((each) => each === type);
  const drawn = { type: isType ? type : undefined, ...drawnMembers(shape, isType ? others : shape.properties) };
  const own: Members = { id, floor, ...(exported ?? drawn) };
  const newType = isPoint ? 'rfid' : 'uwb';
  const forNew = exported === undefined ? { type: newType, name: layer.name, floor: 0, ...radiusForNew(shape) } : {};
  if (isPoint) {
    const position = regionLike(geometry, before?.position ?? undefined, toleranceDegrees);
    return { members: given({ ...own, position }), forNew };
  }
  const corners = geometry.type === 'Polygon' ? (geometry.coordinates[0] ?? []).slice(0, -1) : [];
  const rows = own['ground_control_points'] ?? before?.ground_control_points;
  const points =
    Array.isArray(rows) && rows.length >= 4
      ? controlPointsFor(corners, rows as ControlPoints, toleranceDegrees)
      : rowsOf(pairsOfArea(corners.map((at) => toMap(EARTH, at))));
  return { members: given({ ...own, ground_control_points: points }), forNew };
}

/** Members from a shape that is not an export of a hub. */
function drawnMembers({ name, radius }: FileShape, properties: Members): Members {
  return { name, radius, properties: Object.keys(properties).length > 0 ? properties : undefined };
}

function radiusForNew({ geometry }: FileShape): Members {
  return geometry.type === 'Point' ? { radius: RADIUS_M } : {};
}

/** Members of an exported entity, if the shape becomes an entity of the same kind. */
function exportedAs(
  kind: DrawnKind,
  { exported }: { readonly exported?: ExportedEntity | undefined },
): Members | undefined {
  return exported?.kind === kind ? exported.members : undefined;
}

function given(members: Members): Members {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

type Geometry = FileShape['geometry'];
type Region = Fence['region'];

/**
 * Geometry of the file with exact positions from the hub where they match: other programs round coordinates and drop
 * heights.
 */
function regionLike(geometry: Geometry, before: Region | undefined, toleranceDegrees: number): Region {
  const old = before === undefined ? [] : positionsOf(before);
  const isAlike = old.length === positionsOf(geometry).length;
  const [height, ...others] = new Set(old.map(([, , z]) => z));
  const common = others.length === 0 ? height : undefined;
  let index = 0;
  return mapPositions(geometry, (at) => {
    const was = isAlike ? old[index++] : undefined;
    const [longitude = 0, latitude = 0, z = was?.[2] ?? common] = at;
    const isSame = [longitude - (was?.[0] ?? Number.NaN), latitude - (was?.[1] ?? Number.NaN)].every((difference) => {
      return Math.abs(difference) <= toleranceDegrees;
    });
    if (was !== undefined && isSame) return [...was];
    return z === undefined ? [longitude, latitude] : [longitude, latitude, z];
  });
}

function mapPositions({ type, coordinates }: Geometry, map: (at: FilePosition) => number[]): Region {
  if (type === 'Point') return { type, coordinates: map(coordinates) };
  if (type === 'LineString') return { type, coordinates: coordinates.map(map) };
  return { type, coordinates: coordinates.map((ring) => ring.map(map)) };
}

const DECIMALS_LEAST = 7;

/** Half a unit of the file's last decimal, at most of the seventh decimal (6 mm), to which GIS programs round. */
function toleranceOf({ layers }: Drawing): number {
  let decimals = DECIMALS_LEAST;
  for (const { shapes } of layers) {
    for (const { geometry } of shapes) {
      for (const position of positionsOf(geometry)) {
        for (const each of position.slice(0, 2)) decimals = Math.max(decimals, decimalsOf(each));
      }
    }
  }
  return 0.51 * 10 ** -decimals;
}

function decimalsOf(value: number): number {
  const [, fraction = '', exponent = '0'] = /^-?\d+(?:\.(\d+))?(?:e-(\d+))?$/.exec(String(value)) ?? [];
  return fraction.length + Number(exponent);
}

/** Converts a position of the drawing to meters of the zone. */
export function placed([x = 0, y = 0]: FilePosition, { x: left, y: bottom, turn }: PlaneChoice): number[] {
  const [cos, sin] = [Math.cos((turn * Math.PI) / 180), Math.sin((turn * Math.PI) / 180)];
  return [left + x * cos - y * sin, bottom + x * sin + y * cos].map(roundMeters);
}
