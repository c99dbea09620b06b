import type { Fence } from '../../model/fence.ts';
import { idKey, isUuid } from '../../model/id.ts';
import { ZONE_TYPES, type Zone } from '../../model/zone.ts';
import type { ControlPoints } from '../map/plane/georeference.ts';
import { EARTH, toMap } from '../map/plane/plane.ts';
import { pairsOfArea, rowsOf } from '../setup/zones/pairs.ts';
import type { Drawing, Layer, Position, Shape } from './drawing.ts';
import type { EntityDocument } from './entity_document.ts';
import type { DrawnKind, ExportedEntity } from './entity_properties.ts';
import { controlPointsFor } from './moved_zone.ts';
import { stableId } from './stable_id.ts';

/** The entities that the layer becomes. */
export interface LayerChoice {
  readonly becomes: 'fences' | 'zones' | 'none';
  /** Floor of shapes that have none; undefined: all floors. */
  readonly floor: number | undefined;
}

/** Where meters of a drawing are in a zone. */
export interface PlaneChoice {
  readonly zoneId: string;
  /** Meters of the zone at which the drawing has its 0, 0. */
  readonly x: number;
  readonly y: number;
  /** By how many degrees the drawing is turned counterclockwise in the zone. */
  readonly turn: number;
}

/** Fences and zones of the hub by their ids, on the earth. */
export interface Existing {
  readonly fences: ReadonlyMap<string, Fence>;
  readonly zones: ReadonlyMap<string, Zone>;
}

interface Choices {
  readonly layers: readonly LayerChoice[];
  /** For a drawing in meters. */
  readonly plane: PlaneChoice | undefined;
  /** Of the file: shapes without a UUID get one by it. */
  readonly name: string;
  readonly existing: Existing;
}

/** Radius of a point that has none. */
const RADIUS_M = 2;

type Members = Readonly<Record<string, unknown>>;

/** What a shape gives of an entity, and what the entity gets besides if it is new. */
interface Drawn {
  readonly members: Members;
  readonly forNew: Members;
}

/**
 * The fences and zones of a drawing, with the members that the file gives. The hub checks whether the entities are valid.
 */
export function entitiesOfDrawing(
  drawing: Drawing,
  { layers: choices, plane, name, existing }: Choices,
): EntityDocument {
  const drawn: Readonly<Record<DrawnKind, Map<string, Drawn>>> = { zones: new Map(), fences: new Map() };
  const hub = { fences: byKey(existing.fences), zones: byKey(existing.zones) };
  const toleranceDegrees = drawing.plane === 'earth' ? toleranceOf(drawing) : 0;
  const ids = new Set<string>();
  for (const [index, layer] of drawing.layers.entries()) {
    const choice = choices[index];
    if (choice === undefined || choice.becomes === 'none') continue;
    for (const [number, shape] of layer.shapes.entries()) {
      const kind = drawing.plane === 'earth' ? choice.becomes : 'fences';
      const id = idOf(shape, { key: `${name} ${layer.name} ${number}`, ids });
      const floor = shape.floor ?? choice.floor;
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
  return { lists: new Map(lists) as never, rules: undefined, forNew: new Map(forNew) as never, notes: drawing.notes };
}

function byKey<E>(entities: ReadonlyMap<string, E>): ReadonlyMap<string, E> {
  return new Map([...entities].map(([id, entity]) => [idKey(id), entity]));
}

function idOf({ id, exported }: Shape, { key, ids }: { readonly key: string; readonly ids: Set<string> }): string {
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
  /** Degrees by which positions differ that are the same. */
  readonly toleranceDegrees: number;
  /** The entity of that id in the hub. */
  readonly before: E | undefined;
}

function fenceOf(
  shape: Shape,
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

/** A new area is a zone whose meters begin at its first corner; a point is a reader, which detects what is near. */
function zoneOf(shape: Shape, { id, layer, floor, before, toleranceDegrees }: Made<Zone>): Drawn {
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
  const corners = (geometry.coordinates[0] ?? []).slice(0, -1);
  const rows = own['ground_control_points'] ?? before?.ground_control_points;
  const points =
    Array.isArray(rows) && rows.length >= 4
      ? controlPointsFor(corners, rows as ControlPoints, toleranceDegrees)
      : rowsOf(pairsOfArea(corners.map((at) => toMap(EARTH, at))));
  return { members: given({ ...own, ground_control_points: points }), forNew };
}

/** Members of an entity that no hub has exported. */
function drawnMembers({ name, radius }: Shape, properties: Members): Members {
  return { name, radius, properties: Object.keys(properties).length > 0 ? properties : undefined };
}

function radiusForNew({ geometry }: Shape): Members {
  return geometry.type === 'Point' ? { radius: RADIUS_M } : {};
}

/** The members of an exported entity if the shape becomes an entity of that kind again. */
function exportedAs(
  kind: DrawnKind,
  { exported }: { readonly exported?: ExportedEntity | undefined },
): Members | undefined {
  return exported?.kind === kind ? exported.members : undefined;
}

function given(members: Members): Members {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

type Geometry = Shape['geometry'];
type Region = Fence['region'];

/**
 * A geometry of the file, in which positions that are those of the hub have the numbers of the hub: programs round them,
 * and leave out heights.
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

function positionsOf({ type, coordinates }: Geometry | Region): readonly Position[] {
  return type === 'Point' ? [coordinates] : coordinates.flat();
}

function mapPositions({ type, coordinates }: Geometry, map: (at: Position) => number[]): Region {
  if (type === 'Point') return { type, coordinates: map(coordinates) };
  return { type, coordinates: coordinates.map((ring) => ring.map(map)) };
}

const DECIMALS_LEAST = 7;

/** Half a unit of the last decimal that a file has, at most of the seventh, to which GIS programs round: 6 mm. */
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

/** Where a position of the drawing is in the meters of the zone. */
export function placed([x = 0, y = 0]: Position, { x: left, y: bottom, turn }: PlaneChoice): number[] {
  const [cos, sin] = [Math.cos((turn * Math.PI) / 180), Math.sin((turn * Math.PI) / 180)];
  return [left + x * cos - y * sin, bottom + x * sin + y * cos].map((meters) => Math.round(meters * 1e4) / 1e4);
}
