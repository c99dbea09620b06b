import type { Fence } from '../../model/fence.ts';
import { isUuid } from '../../model/id.ts';
import { ZONE_TYPES, type Zone } from '../../model/zone.ts';
import type { EntityDocument } from '../lists/entity_document.ts';
import { EARTH, toMap } from '../map/plane.ts';
import { pairsOfArea, rowsOf } from '../setup/zones/pairs.ts';
import type { Drawing, Layer, Position, Shape } from './drawing.ts';
import { stableId } from './stable_id.ts';

/** What becomes of a layer. */
export interface LayerChoice {
  readonly becomes: 'fences' | 'zones' | 'none';
  /** Of shapes that say nothing of it; undefined: all floors. */
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

interface Choices {
  readonly layers: readonly LayerChoice[];
  /** For a drawing in meters. */
  readonly plane: PlaneChoice | undefined;
  /** Of the file: shapes without a UUID get one by it. */
  readonly name: string;
}

/** What a point gets that has no radius. */
const RADIUS_M = 2;

/** The fences and zones of a drawing. Whether they fit is for the hub to say. */
export function entitiesOfDrawing(
  { layers, plane: of }: Drawing,
  { layers: choices, plane, name }: Choices,
): EntityDocument {
  const fences: Fence[] = [];
  const zones: Zone[] = [];
  const ids = new Set<string>();
  for (const [index, layer] of layers.entries()) {
    const choice = choices[index];
    if (choice === undefined || choice.becomes === 'none') continue;
    for (const [number, shape] of layer.shapes.entries()) {
      const id = idOf(shape, { key: `${name} ${layer.name} ${number}`, ids });
      const floor = shape.floor ?? choice.floor;
      if (choice.becomes === 'zones' && of === 'earth') zones.push(zoneOf(shape, { id, layer, floor }));
      else fences.push(fenceOf(shape, { id, layer, floor, plane: of === 'meters' ? plane : undefined }));
    }
  }
  const lists = new Map<'fences' | 'zones', readonly (Fence | Zone)[]>();
  if (zones.length > 0) lists.set('zones', zones);
  if (fences.length > 0) lists.set('fences', fences);
  return { lists: lists as never, rules: undefined };
}

function idOf({ id }: Shape, { key, ids }: { readonly key: string; readonly ids: Set<string> }): string {
  const own = id !== undefined && isUuid(id) ? id : stableId(id === undefined ? key : `${key} ${id}`);
  const found = ids.has(own) ? stableId(`${key} again`) : own;
  ids.add(found);
  return found;
}

interface Made {
  readonly id: string;
  readonly layer: Layer;
  readonly floor: number | undefined;
}

function fenceOf(shape: Shape, { id, layer, floor, plane }: Made & { readonly plane: PlaneChoice | undefined }): Fence {
  const { geometry, radius, name } = shape;
  const place = (at: Position): number[] => (plane === undefined ? [...at] : placed(at, plane));
  const region =
    geometry.type === 'Point'
      ? { type: 'Point' as const, coordinates: place(geometry.coordinates) }
      : { type: 'Polygon' as const, coordinates: geometry.coordinates.map((ring) => ring.map(place)) };
  const properties = propertiesOf(shape);
  return {
    id,
    name: name ?? `${layer.name} ${layer.shapes.indexOf(shape) + 1}`,
    region,
    ...(geometry.type === 'Point' && { radius: radius ?? RADIUS_M }),
    ...(floor !== undefined && { floor }),
    ...(plane !== undefined && { crs: 'local', zone_id: plane.zoneId }),
    ...(Object.keys(properties).length > 0 && { properties }),
  } as Fence;
}

/** An area is a zone whose meters begin at its first corner; a point is a reader, which only knows what is near. */
function zoneOf(shape: Shape, { id, layer, floor }: Made): Zone {
  const { geometry, radius, name, properties } = shape;
  const type = ZONE_TYPES.find((each) => each === properties['type']);
  const base = { id, name: name ?? layer.name, floor: floor ?? 0 };
  if (geometry.type === 'Point') {
    const position = { type: 'Point' as const, coordinates: [...geometry.coordinates] };
    return { ...base, type: 'rfid', position, radius: radius ?? RADIUS_M };
  }
  const corners = (geometry.coordinates[0] ?? []).slice(0, -1).map((at) => toMap(EARTH, at));
  return { ...base, type: type ?? 'uwb', ground_control_points: rowsOf(pairsOfArea(corners)) };
}

/** What is a member already need not be a property, too. */
function propertiesOf({ properties }: Shape): Record<string, unknown> {
  const { name: _n, Name: _N, id: _i, floor: _f, radius: _r, kind: _k, ...rest } = properties;
  return Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null && value !== undefined));
}

/** Where a position of the drawing is in the meters of the zone. */
export function placed([x = 0, y = 0]: Position, { x: left, y: bottom, turn }: PlaneChoice): number[] {
  const [cos, sin] = [Math.cos((turn * Math.PI) / 180), Math.sin((turn * Math.PI) / 180)];
  return [left + x * cos - y * sin, bottom + x * sin + y * cos].map((meters) => Math.round(meters * 1e4) / 1e4);
}
