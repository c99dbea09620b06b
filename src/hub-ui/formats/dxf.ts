/// <reference path="./dxf_library.d.ts" />
import { type Block, denormalise, type Entity, type Parsed, parseString, toPolylines } from 'dxf';
import { roundMeters } from '../../core/geo/rounding.ts';
import { t } from '../languages/language.ts';
import { unescapeDxf } from './decode_text.ts';
import { areaRing, type Drawing, Layers, type FilePosition, type FileShape } from './drawing.ts';

/** Meters per unit of `$INSUNITS`. Unitless drawings count as meters. */
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

/** Limit of entities, including those of every block insertion: a small file can expand to very many. */
const ENTITIES_MAX = 200_000;

/** Distance below which points are equal, in meters. */
const SAME_M = 1e-4;

const NOTHING_ELSE = { name: undefined, floor: undefined, properties: {} };

/**
 * Reads the closed lines and circles of a drawing, in meters, by layer, including those of inserted blocks. Throws an Error
 * for files that are not DXF.
 */
export function readDxf(text: string): Drawing {
  const { units, perUnit, types, parsed, layerStates, unusable, drawable } = openDxf(text);
  const layers = new Layers();
  for (const entity of drawable.entities) {
    const ids = new Map<string, number>();
    for (const { part, line } of linesOf(entity, { drawable, unusable })) {
      const geometry = geometryOf(
        part,
        line.map((position) => position.map((each) => each * perUnit)),
      );
      const why = whyHidden(part, layerStates.get(layerKey(layerOf(part))));
      if (why !== undefined) unusable.add(part.type, { why });
      else if (geometry === undefined) unusable.add(part.type);
      else layers.add(layerOf(part), { ...geometry, ...NOTHING_ELSE, id: idOf(part, { of: entity, ids }) });
    }
  }
  const parsedTypes = new Set([parsed, ...parsed.blocks].flatMap(({ entities }) => entities.map(({ type }) => type)));
  for (const [type, times] of types) if (!parsedTypes.has(type)) unusable.add(type, { times });
  unusable.rejectIn(layers);
  if (units === 0) layers.reject('$INSUNITS', t('The drawing declares no units. Meters are assumed.'));
  return layers.drawing('meters');
}

/**
 * Reads all lines that the model of a drawing shows, open ones included, in meters. Throws an Error for files that are not
 * DXF.
 */
export function readDxfLines(text: string): readonly (readonly FilePosition[])[] {
  const { perUnit, layerStates, unusable, drawable } = openDxf(text);
  return drawable.entities.flatMap((entity) =>
    linesOf(entity, { drawable, unusable })
      .filter(({ part }) => whyHidden(part, layerStates.get(layerKey(layerOf(part)))) === undefined)
      .map(({ line }) => line.map((position) => position.map((each) => each * perUnit)))
      .filter((line) => line.length > 1 && line.every(isFinitePosition)),
  );
}

/** Parses a drawing. Throws an Error for files that are not DXF, or have no entities or an unknown unit. */
function openDxf(text: string) {
  if (text.startsWith('AutoCAD Binary DXF')) throw new Error(t('The file is binary DXF: save it as ASCII DXF'));
  const { sections, types, count, layerStates } = partsOf(text);
  const parsed = parsedFrom(sections);
  const units = parsed.header.insUnits ?? 0;
  const perUnit = METERS[units];
  if (perUnit === undefined) throw new Error(t('$INSUNITS: {units} is not a supported unit of length', { units }));
  if (count === 0) throw new Error(t('The file contains no DXF entities'));
  const unusable = new UnusableEntities();
  const drawable = drawableOf(withoutHiddenInsertions(parsed, { layerStates, unusable }), unusable);
  return { units, perUnit, types, parsed, layerStates, unusable, drawable };
}

/** Counts of unusable entities, by type and reason. */
class UnusableEntities {
  readonly #counts = new Map<string, { readonly type: string; readonly why: string; times: number }>();

  add(type: string, { why = whyNot(type), times = 1 }: { readonly why?: string; readonly times?: number } = {}): void {
    const key = `${type}: ${why}`;
    const found = this.#counts.get(key);
    if (found === undefined) this.#counts.set(key, { type, why, times });
    else found.times += times;
  }

  rejectIn(layers: Layers): void {
    for (const { type, why, times } of this.#counts.values()) layers.reject(`${times} × ${type}`, why);
  }
}

function whyNot(type: string): string {
  switch (type) {
    case 'LINE':
      return t('A single line has no area: join lines to closed polylines.');
    case 'HATCH':
      return t('A hatching has no outline of its own.');
    default:
      return t('It is not a closed area.');
  }
}

type LayerState = 'off' | 'frozen';

/** Reason why the model does not show an entity; undefined if it shows it. */
function whyHidden(entity: Part, state: LayerState | undefined): string | undefined {
  if (entity.paperSpace === 1) return t('It is in paper space, not in the model.');
  if (entity.visible === false) return t('It is invisible.');
  if (state === undefined) return undefined;
  const layer = layerOf(entity);
  return state === 'off' ? t('Its layer {layer} is off.', { layer }) : t('Its layer {layer} is frozen.', { layer });
}

/** Names of layers are case-insensitive. */
function layerKey(layer: string): string {
  return layer.trim().toLowerCase();
}

interface Seen {
  readonly layerStates: ReadonlyMap<string, LayerState>;
  readonly unusable: UnusableEntities;
}

/**
 * Removes insertions that the model does not show. An insertion on a frozen layer hides its whole block; on a layer that is
 * off, it hides only parts without their own layer.
 */
function withoutHiddenInsertions(parsed: Parsed, { layerStates, unusable }: Seen): Parsed {
  const whyNone = (entity: Entity): string | undefined => {
    if (entity.type !== 'INSERT') return undefined;
    const state = layerStates.get(layerKey(layerOf(entity)));
    return whyHidden(entity, state === 'off' ? undefined : state);
  };
  const entities = parsed.entities.filter((entity) => {
    const why = whyNone(entity);
    if (why !== undefined) unusable.add(entity.type, { why });
    return why === undefined;
  });
  const blocks = parsed.blocks.map((block) => {
    return { ...block, entities: block.entities.filter((entity) => whyNone(entity) === undefined) };
  });
  return { ...parsed, blocks, entities };
}

/** Group types that are structural, or part of the preceding entity. */
const NO_ENTITIES = new Set(['SECTION', 'ENDSEC', 'BLOCK', 'ENDBLK', 'VERTEX', 'SEQEND', 'EOF']);

/**
 * Extracts the sections for the library, the types of drawn entities, and their number without blocks. The library itself
 * silently skips unknown entities, and input that is not DXF.
 */
function partsOf(text: string) {
  const lines = text.split(/\r\n|\r|\n/);
  const sections: string[] = [];
  const types = new Map<string, number>();
  let count = 0;
  const layers = new LayerTable();
  let section = '';
  for (let i = 0; i + 1 < lines.length; i += 2) {
    const code = Number(lines[i]);
    if (!Number.isInteger(code)) {
      throw new Error(t('The file is not DXF: line {number} is not a group code', { number: i + 1 }));
    }
    const value = unescapeDxf((lines[i + 1] ?? '').trim());
    if (code === 0 && value === 'SECTION') section = (lines[i + 3] ?? '').trim();
    if (section === 'TABLES') layers.read(code, value);
    if (section !== 'HEADER' && section !== 'BLOCKS' && section !== 'ENTITIES') continue;
    // The library would take a layer of this name as the start or end of a block.
    const isMisread = code !== 0 && (value === 'BLOCK' || value === 'ENDBLK');
    sections.push(String(code), isMisread ? `${value} ` : value);
    if (code !== 0 || NO_ENTITIES.has(value)) continue;
    types.set(value, (types.get(value) ?? 0) + 1);
    if (section === 'ENTITIES') count++;
  }
  return { sections: sections.join('\n'), types, count, layerStates: layers.states };
}

const FROZEN = 1;

/** Layers of the tables section that are off (negative color) or frozen. */
class LayerTable {
  readonly states = new Map<string, LayerState>();
  #isLayer = false;
  #name = '';

  read(code: number, value: string): void {
    if (code === 0) this.#isLayer = value === 'LAYER';
    if (!this.#isLayer) return;
    if (code === 2) this.#name = layerKey(value);
    if (code === 70 && (Number(value) & FROZEN) !== 0) this.states.set(this.#name, 'frozen');
    if (code === 62 && Number(value) < 0 && !this.states.has(this.#name)) this.states.set(this.#name, 'off');
  }
}

function parsedFrom(sections: string): Parsed {
  try {
    const parsed = parseString(sections);
    return { ...parsed, blocks: parsed.blocks.map((block) => ({ ...block, entities: block.entities ?? [] })) };
  } catch (cause) {
    throw new Error(t('The drawing is damaged: its entities cannot be read'), { cause });
  }
}

/** Part of a block. The library gives it the layer of the insertion, which is correct only if its own is 0. */
interface Part extends Entity {
  readonly ownLayer?: string;
}

/** Removes insertions of external blocks. Throws an Error if the expanded drawing is too large. */
function drawableOf(parsed: Parsed, unusable: UnusableEntities): Parsed {
  const blocks = new Map(parsed.blocks.filter(({ xref }) => !xref).map((block) => [block.name, block]));
  const present = (entities: readonly Entity[]): Entity[] => {
    return entities.filter((entity) => {
      const isPresent = entity.type !== 'INSERT' || blocks.has(entity.block ?? '');
      if (!isPresent) unusable.add(entity.type, { why: t('Its block is not in the file.') });
      return isPresent;
    });
  };
  for (const [name, block] of blocks) {
    const entities = present(block.entities).map((entity): Part => {
      const { layer = '0' } = entity;
      return layer === '0' ? upright(entity) : { ...upright(entity), ownLayer: layer };
    });
    blocks.set(name, { ...block, entities });
  }
  const entities = present(parsed.entities).map(upright);
  const counts = new Map<string, number>();
  const count = entities.reduce((sum, entity) => sum + countOf(entity, { blocks, counts }), 0);
  if (count > ENTITIES_MAX) {
    throw new Error(
      t('The drawing has {count} entities, including those of blocks; the maximum is 200,000', { count }),
    );
  }
  return { ...parsed, blocks: [...blocks.values()], entities };
}

/** Mirrors the positions of polylines that are seen from behind, which the library ignores. */
function upright(entity: Entity): Entity {
  if (entity.extrusionZ !== -1 || entity.vertices === undefined) return entity;
  const vertices = entity.vertices.map(({ x, y, bulge = 0 }) => ({ x: -x, y, bulge: -bulge }));
  return { ...entity, vertices };
}

interface Counted {
  readonly blocks: ReadonlyMap<string, Block>;
  /** Counts by block name; NaN while a block is being counted. */
  readonly counts: Map<string, number>;
}

/** Number of entities to which one entity expands. */
function countOf({ type, block = '', rowCount = 1, columnCount = 1 }: Entity, counted: Counted): number {
  if (type !== 'INSERT') return 1;
  const { blocks, counts } = counted;
  let count = counts.get(block);
  if (count === undefined) {
    counts.set(block, Number.NaN);
    const entities = blocks.get(block)?.entities ?? [];
    // Empty blocks count as one entity, since they also take time.
    count = entities.reduce((sum, entity) => sum + countOf(entity, counted), 1);
    counts.set(block, count);
  }
  if (Number.isNaN(count)) throw new Error(t('The block {name} contains itself', { name: block }));
  return count * Math.max(1, rowCount * columnCount);
}

interface Drawn {
  readonly drawable: Parsed;
  readonly unusable: UnusableEntities;
}

/** Lines of an entity, or of all parts of an inserted block. */
function linesOf(entity: Entity, { drawable, unusable }: Drawn): { part: Part; line: readonly FilePosition[] }[] {
  const isInsertion = entity.type === 'INSERT';
  // Draw entities one at a time, so that a failure of the library affects only one.
  const alone = { ...drawable, entities: [entity], blocks: isInsertion ? drawable.blocks : [] };
  try {
    const { polylines } = toPolylines(alone);
    const parts = isInsertion ? denormalise(alone) : [entity];
    return parts.map((part, index) => ({ part, line: polylines[index]?.vertices ?? [] }));
  } catch {
    unusable.add(entity.type, { why: t('It cannot be drawn: its geometry is invalid.') });
    return [];
  }
}

function layerOf({ ownLayer, layer = '0' }: Part): string {
  return (ownLayer ?? layer).trim();
}

interface Whole {
  /** Entity that contains the part, or the part itself. */
  readonly of: Entity;
  readonly ids: Map<string, number>;
}

/** Id from the handle, prefixed by that of the insertion; repeated ids get a number. */
function idOf({ handle }: Part, { of, ids }: Whole): string | undefined {
  if (handle === undefined || of.handle === undefined) return undefined;
  const id = of.type === 'INSERT' ? `${of.handle}/${handle}` : handle;
  const times = (ids.get(id) ?? 0) + 1;
  ids.set(id, times);
  return times === 1 ? id : `${id}/${times}`;
}

/** Area enclosed by a line, in meters; undefined if it is open. */
function geometryOf({ type }: Part, line: readonly FilePosition[]): Pick<FileShape, 'geometry' | 'radius'> | undefined {
  const [first] = line;
  const last = line.at(-1);
  if (first === undefined || last === undefined) return undefined;
  if (!line.every(isFinitePosition)) return undefined;
  // The library repeats the first point of closed lines.
  if (apart(first, last) >= SAME_M) return undefined;
  const corners = line.slice(0, -1);
  const isRound = type === 'CIRCLE' || type === 'ELLIPSE';
  return (isRound ? circleThrough(corners) : undefined) ?? polygonOf(corners);
}

/** Circle through evenly spaced positions; undefined if they are not on a circle. */
function circleThrough(corners: readonly FilePosition[]): Pick<FileShape, 'geometry' | 'radius'> | undefined {
  const middle = [0, 1].map((axis) => corners.reduce((sum, each) => sum + (each[axis] ?? 0), 0) / corners.length);
  const radii = corners.map((each) => apart(each, middle));
  const [least, most] = [Math.min(...radii), Math.max(...radii)];
  if (least < SAME_M || most - least > SAME_M) return undefined;
  return { geometry: { type: 'Point', coordinates: middle.map(roundMeters) }, radius: roundMeters(most) };
}

function polygonOf(corners: readonly FilePosition[]): Pick<FileShape, 'geometry' | 'radius'> | undefined {
  const places = corners.map((corner) => corner.map(roundMeters));
  const ring = areaRing(places.filter((each, i) => i === 0 || apart(each, places[i - 1] ?? each) > 0));
  return ring === undefined ? undefined : { geometry: { type: 'Polygon', coordinates: [ring] }, radius: undefined };
}

function isFinitePosition([x = Number.NaN, y = Number.NaN]: FilePosition): boolean {
  return Number.isFinite(x + y);
}

function apart([x = 0, y = 0]: FilePosition, [otherX = 0, otherY = 0]: FilePosition): number {
  return Math.hypot(x - otherX, y - otherY);
}
