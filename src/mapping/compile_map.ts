import { hubError } from '../errors.ts';
import { show } from '../model/error_value_text.ts';
import { isSame, parsePointer, pointerOf } from '../model/json_tree.ts';
import type { SourceField, SourceMap, SourceValue } from '../model/source.ts';
import { Problem, problemOf } from '../problem.ts';
import { toAngle, toBoolean, toNumber, toText, toTime } from './convert.ts';
import { isTimeZone } from './local_time.ts';
import { type ItemContext, itemsAt, parsePath, placeOf, type SourcePath, valueAt } from './path.ts';

/**
 * Compiles the map of a source. A map selects values by paths and converts them; nothing in it is evaluated as code.
 *
 *   payload ──items──▶ items ──when──▶ per member of a location: path, or ─▶ default ─▶ lookup ─▶ unit, scale, offset
 */

/** A parsed payload. */
export interface Payload {
  readonly value: unknown;
  readonly topic?: string | undefined;
  readonly sender?: string | undefined;
}

/** A location or a proximity as a client would send it, and the position of its item in the payload: `$/tags/3`. */
export interface MappedItem {
  readonly at: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/** What a map makes of a payload. */
export interface MapResult {
  readonly mapped: readonly MappedItem[];
  /** Problems of items that do not fit the map, with the path and the value found. */
  readonly problems: readonly Problem[];
  /** Number of items that do not meet the conditions. */
  readonly skipped: number;
}

export interface CompiledMap {
  readonly as: 'location' | 'proximity';
  run(payload: Payload): MapResult;
}

/** Maximum number of items in a payload. */
const ITEMS_MAX = 10_000;

const NUMBERS = ['z', 'accuracy', 'floor', 'speed', 'heading_accuracy'] as const;
const ANGLES = ['course', 'true_heading', 'magnetic_heading'] as const;
const TEXTS = ['provider_type', 'source', 'crs', 'elevation_ref'] as const;

/** Members that a proximity does not have. */
const OF_LOCATIONS = [
  ...['x', 'y', 'z', 'crs', 'floor', 'speed', 'heading_accuracy', 'elevation_ref', 'associated'],
  ...ANGLES,
] as readonly (keyof SourceMap)[];

/** Returns the value of a member; undefined without one, or a Problem. */
type Reader = (context: ItemContext) => unknown;
type Convert = (value: unknown, at: string) => unknown;

/** Compiles a map. Throws HUB_BAD_REQUEST naming the member and the value found. */
export function compileMap(map: SourceMap): CompiledMap {
  const as = map.as ?? 'location';
  const itemSegments = map.items == null ? undefined : parsePointer(map.items.replace(/^\$/, ''));
  if (map.items != null && itemSegments === undefined) {
    throw hubError('not_a_json_pointer', { path: 'map.items', found: show(map.items) });
  }
  const timeZone = map.time_zone ?? undefined;
  if (timeZone !== undefined && !isTimeZone(timeZone)) {
    throw hubError('not_a_time_zone', { path: 'map.time_zone', found: show(timeZone) });
  }
  checkMembers(map, as);
  const conditions = (map.when ?? []).map(({ path, in: accepted }, index) => {
    return { path: compiledPath(path, `map.when[${index}].path`), accepted };
  });
  const readers = readersOf(map, timeZone);
  const coordinates = (['x', 'y', 'z'] as const).flatMap((axis) => {
    const field = map[axis];
    return field == null
      ? []
      : [compiledField(field, { at: `map.${axis}`, convert: numberBy(field), isRequired: axis !== 'z' })];
  });
  return {
    as,
    run(payload) {
      const found = itemsIn(payload.value, itemSegments);
      if (found instanceof Problem) return { mapped: [], problems: [found], skipped: 0 };
      const mapped: MappedItem[] = [];
      const problems: Problem[] = [];
      let skipped = 0;
      for (const { trail, item } of found) {
        const context = { ...payload, payload: payload.value, trail, item };
        if (!conditions.every(({ path, accepted }) => isAmong(accepted, valueAt(path, context)))) {
          skipped++;
          continue;
        }
        const value = mapItem(context, { readers, coordinates, as });
        if (value instanceof Problem) problems.push(value);
        else mapped.push({ at: `$${pointerOf(...trail)}`, value });
      }
      return { mapped, problems, skipped };
    },
  };
}

function isAmong(accepted: readonly unknown[], value: unknown): boolean {
  return accepted.some((each) => (each === null ? value == null : isSame(each, value)));
}

function itemsIn(
  payload: unknown,
  segments: readonly string[] | undefined,
): readonly { trail: readonly string[]; item: unknown }[] | Problem {
  const path = segments ?? (Array.isArray(payload) ? ['*'] : []);
  const { items, missing } = itemsAt(payload, path, ITEMS_MAX);
  if (missing !== undefined) return missingAt(`$${pointerOf(...missing)}`);
  if (items.length <= ITEMS_MAX) return items;
  return problemOf('too_many', {
    path: `$${pointerOf(...path)}`,
    limit: ITEMS_MAX,
    unit: 'items',
    found: items.length,
  });
}

interface ItemReaders {
  readonly readers: readonly (readonly [name: string, read: Reader])[];
  readonly coordinates: readonly Reader[];
  readonly as: 'location' | 'proximity';
}

function mapItem(
  context: ItemContext,
  { readers, coordinates, as }: ItemReaders,
): Readonly<Record<string, unknown>> | Problem {
  const value: Record<string, unknown> = { provider_type: 'unknown' };
  if (as === 'location') {
    const position: unknown[] = [];
    for (const read of coordinates) {
      const coordinate = read(context);
      if (coordinate instanceof Problem) return coordinate;
      if (coordinate !== undefined) position.push(coordinate);
    }
    value['position'] = { type: 'Point', coordinates: position };
  }
  for (const [name, read] of readers) {
    const member = read(context);
    if (member instanceof Problem) return member;
    if (member !== undefined) value[name] = member;
  }
  return value;
}

function readersOf(map: SourceMap, timeZone: string | undefined): ItemReaders['readers'] {
  const readers: (readonly [string, Reader])[] = [];
  const add = (name: keyof SourceMap, convert: (field: SourceField) => Convert, isRequired = false): void => {
    const field = map[name] as SourceField | null | undefined;
    if (field == null) return;
    readers.push([name, compiledField(field, { at: `map.${name}`, convert: convert(field), isRequired })]);
  };
  add('provider_id', () => toText, true);
  for (const name of TEXTS) add(name, () => toText, name === 'source' && map.as === 'proximity');
  for (const name of NUMBERS) if (name !== 'z') add(name, numberBy);
  for (const name of ANGLES) add(name, (field) => (value, at) => toAngle(value, at, scalingOf(field)));
  add('associated', () => toBoolean);
  add('timestamp_generated', (field) => {
    const unit = (typeof field === 'object' ? field.unit : undefined) ?? 'iso';
    return (value, at) => toTime(value, at, { unit, timeZone });
  });
  const properties = Object.entries(map.properties ?? {}).map(([name, field]) => {
    const isScaled = typeof field === 'object' && (field.scale != null || field.offset != null);
    const convert: Convert = isScaled ? numberBy(field) : (value) => value;
    return [name, compiledField(field, { at: `map.properties.${name}`, convert, isRequired: false })] as const;
  });
  if (properties.length > 0) readers.push(['properties', (context) => propertiesOf(properties, context)]);
  return readers;
}

function propertiesOf(readers: ItemReaders['readers'], context: ItemContext): object | Problem | undefined {
  const found: (readonly [string, unknown])[] = [];
  for (const [name, read] of readers) {
    const value = read(context);
    if (value instanceof Problem) return value;
    if (value !== undefined) found.push([name, value]);
  }
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

function scalingOf(field: SourceField): { readonly scale: number; readonly offset: number } {
  const { scale, offset } = typeof field === 'object' ? field : {};
  return { scale: scale ?? 1, offset: offset ?? 0 };
}

function numberBy(field: SourceField): Convert {
  const scaling = scalingOf(field);
  return (value, at) => toNumber(value, at, scaling);
}

interface FieldOptions {
  /** Position of the field in the source, for errors. */
  readonly at: string;
  readonly convert: Convert;
  readonly isRequired: boolean;
}

function compiledField(field: SourceField, { at, convert, isRequired }: FieldOptions): Reader {
  const options: SourceValue = typeof field === 'string' ? { path: field } : field;
  const { value, default: fallback, lookup } = options;
  const given = (['path', 'template', 'value'] as const).filter((name) => options[name] != null);
  if (given.length !== 1)
    throw hubError('not_one_of', {
      path: at,
      allowed: 'path, template, value',
      found: given.length === 0 ? 'none' : given.join(', '),
    });
  const replaced = (found: unknown): unknown => {
    if (lookup == null || (typeof found !== 'string' && typeof found !== 'number')) return found;
    const name = String(found);
    return Object.hasOwn(lookup, name) ? lookup[name] : found;
  };
  const finished = (found: unknown, place: string): unknown => {
    const present = isAbsent(found) ? fallback : found;
    if (!isAbsent(present)) return convert(replaced(present), place);
    return isRequired ? missingAt(place, found) : undefined;
  };
  if (options.template != null) {
    const read = compiledTemplate(options.template, at);
    return (context) => {
      const text = read(context);
      return text instanceof Problem ? (fallback == null ? text : finished(undefined, at)) : finished(text, at);
    };
  }
  if (options.path == null) return () => finished(value, at);
  const paths = [options.path, ...(options.or ?? [])].map((path) => compiledPath(path, at));
  return (context) => {
    const path = paths.find((each) => !isAbsent(valueAt(each, context))) ?? (paths[0] as SourcePath);
    return finished(valueAt(path, context), placeOf(path, context));
  };
}

/** Returns the problem of a required value that is absent, null or empty. */
function missingAt(path: string, found?: unknown): Problem {
  return problemOf('missing', { path, ...(found !== undefined && { found: show(found) }) });
}

/** Compiles a string with paths in braces. Its reader returns a Problem if a value is missing. */
function compiledTemplate(template: string, at: string): (context: ItemContext) => string | Problem {
  const parts = template.split(/[{}]/);
  if (parts.length % 2 === 0) throw hubError('not_a_source_path', { path: at, found: show(template) });
  const compiled = parts.map((part, index) => (index % 2 === 0 ? part : compiledPath(part, at)));
  return (context) => {
    let text = '';
    for (const part of compiled) {
      if (typeof part === 'string') {
        text += part;
        continue;
      }
      const place = placeOf(part, context);
      const value = valueAt(part, context);
      if (isAbsent(value)) return missingAt(place, value);
      const converted = toText(value, place);
      if (converted instanceof Problem) return converted;
      text += converted;
    }
    return text;
  };
}

function compiledPath(text: string, at: string): SourcePath {
  const path = parsePath(text);
  if (path === undefined) throw hubError('not_a_source_path', { path: at, found: show(text) });
  return path;
}

/** Absent, null and empty values are not there. An empty field of a CSV file is an empty string. */
function isAbsent(value: unknown): value is undefined | null | '' {
  return value === undefined || value === null || value === '';
}

function checkMembers(map: SourceMap, as: 'location' | 'proximity'): void {
  if (as === 'location') {
    for (const axis of ['x', 'y'] as const) {
      if (map[axis] == null) throw hubError('missing', { path: `map.${axis}` });
    }
    return;
  }
  if (map.source == null) throw hubError('missing', { path: 'map.source' });
  const foreign = OF_LOCATIONS.find((name) => map[name] != null);
  if (foreign !== undefined) throw hubError('not_for_source_map', { path: `map.${foreign}` });
}
