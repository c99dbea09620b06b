import { closedRing, type Drawing, Layers, type Position, type Shape } from './drawing.ts';

/** A code and its value: two lines of the file. */
type Group = readonly [code: number, value: string];

/** Meters of the units that `$INSUNITS` can name. What has no units is taken as drawn in meters. */
const METERS: Readonly<Record<number, number>> = {
  0: 1,
  1: 0.0254,
  2: 0.3048,
  3: 1609.344,
  4: 0.001,
  5: 0.01,
  6: 1,
  7: 1000,
  10: 0.9144,
  14: 0.1,
  15: 10,
  16: 100,
  21: 1200 / 3937,
};

/** Why entities of a type cannot be used; what is not named here is just not an area. */
const WHY: Readonly<Record<string, string>> = {
  LINE: 'A single line has no area: join lines to closed polylines.',
  INSERT: 'A block has to be exploded before the drawing is saved.',
  HATCH: 'A hatching has no outline of its own.',
  SPLINE: 'A spline has to be converted to a polyline.',
};

const ARC_STEP = Math.PI / 18;

/** The closed polylines and circles of a drawing, in meters, by their layers. Throws an Error for what is no DXF. */
export function readDxf(text: string): Drawing {
  if (text.startsWith('AutoCAD Binary DXF')) throw new Error('The file is binary DXF: save it as text');
  const groups = groupsOf(text);
  const units = Number(valueAfter(groups, '$INSUNITS') ?? 0);
  const perUnit = METERS[units];
  if (perUnit === undefined) throw new Error(`$INSUNITS: ${units} is no unit of length that can be read`);
  const entities = entitiesOf(groups);
  if (entities.length === 0) throw new Error('The file has no entities, as a drawing in DXF has');
  const layers = new Layers();
  const others = new Map<string, number>();
  for (const entity of entities) {
    const geometry = geometryOf(entity, perUnit);
    if (geometry === undefined) others.set(entity.type, (others.get(entity.type) ?? 0) + 1);
    else layers.add(entity.layer, { ...geometry, ...NOTHING_ELSE, id: entity.handle });
  }
  for (const [type, count] of others) layers.refuse(`${count} × ${type}`, WHY[type] ?? 'It is no closed area.');
  if (units === 0) layers.refuse('$INSUNITS', 'The drawing has no units: it is taken as drawn in meters.');
  return layers.drawing('meters');
}

const NOTHING_ELSE = { name: undefined, floor: undefined, properties: {} };

function groupsOf(text: string): Group[] {
  const lines = text.split(/\r?\n/);
  const groups: Group[] = [];
  for (let i = 0; i + 1 < lines.length; i += 2) {
    const code = Number(lines[i]);
    if (!Number.isInteger(code)) throw new Error(`Line ${i + 1} of the file is no group code, as DXF has`);
    groups.push([code, (lines[i + 1] ?? '').trim()]);
  }
  return groups;
}

/** The value of a variable of the header. */
function valueAfter(groups: readonly Group[], name: string): string | undefined {
  const at = groups.findIndex(([code, value]) => code === 9 && value === name);
  return at === -1 ? undefined : groups[at + 1]?.[1];
}

interface Entity {
  readonly type: string;
  readonly layer: string;
  readonly handle: string | undefined;
  readonly isClosed: boolean;
  readonly radius: number;
  readonly corners: readonly Corner[];
}

/** `bulge`: the tangent of a quarter of the angle of the arc to the next corner. */
interface Corner {
  readonly x: number;
  readonly y: number;
  readonly bulge: number;
}

function entitiesOf(groups: readonly Group[]): Entity[] {
  const entities: Entity[] = [];
  const begin = groups.findIndex(([code, value]) => code === 2 && value === 'ENTITIES');
  if (begin === -1) return [];
  let at = begin + 1;
  while (at < groups.length) {
    const [code, type] = groups[at] ?? [0, 'ENDSEC'];
    if (code === 0 && type === 'ENDSEC') break;
    const next = nextOf(groups, at);
    const own = groups.slice(at + 1, next);
    at = next;
    if (code !== 0) continue;
    if (type !== 'POLYLINE') {
      entities.push(entityOf(type, own, cornersOf(own)));
      continue;
    }
    // The corners of an old polyline are entities behind it.
    const corners: Corner[] = [];
    while (groups[at]?.[1] === 'VERTEX') {
      const end = nextOf(groups, at);
      corners.push(...cornersOf(groups.slice(at + 1, end)));
      at = end;
    }
    if (groups[at]?.[1] === 'SEQEND') at = nextOf(groups, at);
    entities.push(entityOf(type, own, corners));
  }
  return entities;
}

function nextOf(groups: readonly Group[], at: number): number {
  let next = at + 1;
  while (next < groups.length && groups[next]?.[0] !== 0) next++;
  return next;
}

function entityOf(type: string, own: readonly Group[], corners: readonly Corner[]): Entity {
  const value = (wanted: number): string | undefined => own.find(([code]) => code === wanted)?.[1];
  const flags = Number(value(70) ?? 0);
  const radius = Number(value(40) ?? 0);
  return { type, layer: value(8) ?? '0', handle: value(5), isClosed: (flags & 1) === 1, radius, corners };
}

function cornersOf(own: readonly Group[]): Corner[] {
  const corners: { x: number; y: number; bulge: number }[] = [];
  for (const [code, value] of own) {
    const last = corners.at(-1);
    if (code === 10) corners.push({ x: Number(value), y: 0, bulge: 0 });
    else if (code === 20 && last !== undefined) last.y = Number(value);
    else if (code === 42 && last !== undefined) last.bulge = Number(value);
  }
  return corners;
}

/** Undefined for what is no area. */
function geometryOf(entity: Entity, perUnit: number): Pick<Shape, 'geometry' | 'radius'> | undefined {
  const { type, corners, isClosed, radius } = entity;
  const [first] = corners;
  if (type === 'CIRCLE' && first !== undefined && radius > 0) {
    const coordinates = [first.x * perUnit, first.y * perUnit];
    return { geometry: { type: 'Point', coordinates }, radius: radius * perUnit };
  }
  if (type !== 'LWPOLYLINE' && type !== 'POLYLINE') return undefined;
  const last = corners.at(-1);
  const endsAtFirst = first !== undefined && last !== undefined && first.x === last.x && first.y === last.y;
  if (!isClosed && !endsAtFirst) return undefined;
  const ring = closedRing(
    corners.flatMap((corner, i) => [[corner.x, corner.y], ...arc(corner, corners[(i + 1) % corners.length] ?? corner)]),
  );
  if (ring === undefined) return undefined;
  const inMeters = ring.map((position) => position.map((each) => Math.round(each * perUnit * 1e4) / 1e4));
  return { geometry: { type: 'Polygon', coordinates: [inMeters] }, radius: undefined };
}

/** Positions on the arc from one corner to the next; none where the way is straight. */
function arc(from: Corner, to: Corner): Position[] {
  if (from.bulge === 0) return [];
  const angle = 4 * Math.atan(from.bulge);
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  // From the middle of the chord to the middle of the circle.
  const ratio = (1 - from.bulge ** 2) / (4 * from.bulge);
  const [x, y] = [(from.x + to.x) / 2 - dy * ratio, (from.y + to.y) / 2 + dx * ratio];
  const [radius, start] = [Math.hypot(from.x - x, from.y - y), Math.atan2(from.y - y, from.x - x)];
  const steps = Math.ceil(Math.abs(angle) / ARC_STEP);
  return Array.from({ length: steps - 1 }, (_, i) => {
    const at = start + (angle * (i + 1)) / steps;
    return [x + radius * Math.cos(at), y + radius * Math.sin(at)];
  });
}
