import Type, { type TSchema } from 'typebox';
import { ALERT_STATES } from '../model/alert.ts';
import { COLLISION_TYPES } from '../model/events.ts';
import { PROVIDER_TYPES } from '../model/provider_type.ts';
import {
  type FilterBox,
  type FilterFields,
  type FilterKey,
  type FilterLimit,
  type KeyValue,
  keyOf,
  TOPICS,
  type Topic,
} from '../model/topics.ts';
import { AREA_PARAMS, type AreaFilter, compileArea } from './area_filter.ts';
import { asBoolean, asId, asNumber, asWord } from './coerce.ts';

/**
 * Filter of a subscription. A row of FILTERS defines with which fields a parameter is compared, and how. All given
 * parameters must match. An event without the field does not match. Parameters without a row are ignored.
 */
export interface Filter {
  (fields: FilterFields): boolean;
  /** Field and its possible values in matching events; undefined if there is no such field. */
  readonly key?: FilterKey | undefined;
  /** Upper bound of a field of every matching event, for a filter without a key. */
  readonly limit?: FilterLimit | undefined;
  /** Bounds of the position of every matching event, for a filter without a key. */
  readonly box?: FilterBox | undefined;
}

/** Combines two filters with AND. An undefined filter matches everything. */
export function both(
  filter: Filter | undefined,
  other: ((fields: FilterFields) => boolean) | undefined,
): Filter | undefined {
  if (filter === undefined || other === undefined) return filter ?? other;
  return withKey((fields) => other(fields) && filter(fields), filter);
}

function withKey(
  test: (fields: FilterFields) => boolean,
  { key, limit, box }: Pick<Filter, 'key' | 'limit' | 'box'>,
): Filter {
  return Object.assign((fields: FilterFields) => test(fields), { key, limit, box });
}

type Field = FilterFields[number];
type Params = Readonly<Record<string, unknown>>;
/** Comparison of a parameter with a field. */
interface Compare {
  /** Schema of the parameter's values, for the API documents. */
  readonly schema: TSchema;
  /** Returns the test of a field, given the parameter's value. */
  readonly test: (name: string, value: unknown) => (field: Field) => boolean;
  /**
   * Returns the index keys of a subscription, which are the values that match. Strings are more selective than words
   * and numbers.
   */
  readonly keys?: { readonly tells: 'much' | 'little'; readonly of: (name: string, value: unknown) => KeyValue[] };
  /** Returns the greatest value that matches. */
  readonly most?: (name: string, value: unknown) => number;
}

const texts = {
  tells: 'much',
  of: (name: string, value: unknown) => (Array.isArray(value) ? value : [value]).map((item) => asId(name, item)),
} as const;

/** Equal to the value, or to any element of an array. UUIDs are compared case-insensitively. */
const anyOf: Compare = {
  schema: Type.Union([Type.String(), Type.Array(Type.String())], { description: 'Equal to it, or to any of them.' }),
  test: isAnyOf,
  keys: texts,
};

function isAnyOf(name: string, value: unknown): (field: Field) => boolean {
  const wanted = (Array.isArray(value) ? value : [value]).map((item) => asId(name, item));
  const [only] = wanted;
  if (only !== undefined && wanted.length === 1) return sameText(only);
  const exact = new Set(wanted);
  const uuids = new Set(wanted.filter(isUuid).map((uuid) => uuid.toLowerCase()));
  return (field) => {
    if (typeof field !== 'string') return false;
    return exact.has(field) || (field.length === UUID_LENGTH && uuids.has(field.toLowerCase()));
  };
}

const text: Compare = {
  schema: Type.String({ description: 'Equal to it.' }),
  test: (name, value) => sameText(asId(name, value)),
  keys: texts,
};

const equals: Compare = {
  schema: Type.Number({ description: 'Equal to it.' }),
  test(name, value) {
    const wanted = asNumber(name, value);
    return (field) => field === wanted;
  },
  keys: { tells: 'little', of: (name, value) => [asNumber(name, value)] },
};

const atMost: Compare = {
  schema: Type.Number({ description: 'At most that.' }),
  test(name, value) {
    const limit = asNumber(name, value);
    return (field) => typeof field === 'number' && field <= limit;
  },
  most: asNumber,
};

const flag: Compare = {
  schema: Type.Boolean({ description: 'Equal to it.' }),
  test(name, value) {
    const wanted = asBoolean(name, value);
    return (field) => field === wanted;
  },
  keys: { tells: 'little', of: (name, value) => [asBoolean(name, value)] },
};

function word(words: readonly string[]): Compare {
  return {
    schema: Type.Enum([...words], { description: 'Equal to it.' }),
    test(name, value) {
      const wanted = asWord(name, value, words);
      return (field) => field === wanted;
    },
    keys: { tells: 'little', of: (name, value) => [asWord(name, value, words)] },
  };
}

const providerType = word(PROVIDER_TYPES);
const fenceEventType = word(['region_entry', 'region_exit']);
const objectType = word(['trackable', 'location_provider']);
const changeType = word(['create', 'update', 'delete']);
const collisionType = word(COLLISION_TYPES);

interface Row {
  readonly param: string;
  /** Names of the fields in TOPICS. All of them must match. */
  readonly fields: readonly string[];
  readonly compare: Compare;
}

function row(param: string, compare: Compare, ...fields: readonly string[]): Row {
  return { param, compare, fields: fields.length === 0 ? [param] : fields };
}

const CHANGES = [row('id', anyOf), row('event_type', changeType)];

const FILTERS: Readonly<Record<Topic, readonly Row[]>> = {
  location_updates: [
    row('provider_id', anyOf),
    row('source', text),
    row('provider_type', providerType),
    row('associated', flag),
    row('accuracy', atMost),
    row('floor', equals),
  ],
  trackable_motions: [
    row('id', anyOf),
    row('trackable_id', anyOf, 'id'),
    row('provider_id', anyOf),
    row('name', text),
    row('accuracy', atMost),
    row('floor', equals),
  ],
  fence_events: [
    row('fence_id', anyOf),
    row('foreign_id', anyOf),
    row('provider_id', anyOf),
    row('trackable_id', anyOf),
    row('event_type', fenceEventType),
    row('object_type', objectType),
  ],
  collision_events: [row('collision_type', collisionType), row('floor', equals, 'floor_1', 'floor_2')],
  collision_forecast: [row('floor', equals)],
  proximity_updates: [row('provider_id', anyOf), row('source', text), row('provider_type', providerType)],
  provider_changes: CHANGES,
  trackable_changes: CHANGES,
  fence_changes: CHANGES,
  zone_changes: CHANGES,
  anchor_changes: CHANGES,
  xcmd_broadcast: [],
  alert_changes: [
    ...CHANGES,
    row('rule_id', anyOf),
    row('state', word(ALERT_STATES)),
    row('fence_id', anyOf),
    row('trackable_id', anyOf),
    row('other_trackable_id', anyOf),
    row('provider_id', anyOf),
  ],
};

/**
 * Compiles the filter parameters of a subscription. Without any, returns undefined, which matches everything. A
 * null parameter counts as absent. Throws HUB_BAD_REQUEST with the name of an invalid parameter.
 */
export function compileFilter(topic: Topic, params: Params): Filter | undefined {
  const names: readonly string[] = TOPICS[topic];
  const tests: ((fields: FilterFields) => boolean)[] = [];
  const found: Found = {};
  for (const { param, fields, compare } of FILTERS[topic]) {
    const value = given(params, param);
    if (value === undefined) continue;
    const passes = compare.test(param, value);
    note(found, compare, { at: names.indexOf(fields[0] as string), param, value });
    for (const name of fields) {
      const at = names.indexOf(name);
      tests.push((event) => passes(event[at]));
    }
  }
  if (hasPair(topic)) tests.push(...collisionPair(params));
  const at = names.indexOf('lon');
  const area = at < 0 ? undefined : compileArea((name) => given(params, name));
  if (area !== undefined) tests.push(withPosition(area, at));
  const [first] = tests;
  if (first === undefined) return undefined;
  const key = found.much ?? found.little;
  const test = tests.length === 1 ? first : (event: FilterFields) => tests.every((each) => each(event));
  if (key !== undefined) return withKey(test, { key });
  const [west, south, east, north] = area?.box ?? [];
  const isBounded = west !== undefined && south !== undefined && east !== undefined && north !== undefined;
  return withKey(test, isBounded ? { box: { at, west, south, east, north } } : { limit: found.limit });
}

function withPosition(area: AreaFilter, at: number): (fields: FilterFields) => boolean {
  return (fields) => {
    const [lon, lat] = [fields[at], fields[at + 1]];
    return typeof lon === 'number' && typeof lat === 'number' && area.contains(lon, lat);
  };
}

/** Index keys of a subscription: the first one of each selectivity. */
interface Found {
  much?: FilterKey;
  little?: FilterKey;
  limit?: FilterLimit;
}

function note(
  found: Found,
  { keys, most }: Compare,
  { at, param, value }: { readonly at: number; readonly param: string; readonly value: unknown },
): void {
  if (keys !== undefined) found[keys.tells] ??= { at, values: keys.of(param, value).map(keyOf) };
  if (most !== undefined) found.limit ??= { at, most: most(param, value) };
}

/** Returns the filter parameters of a topic by name, with the schemas of their values. */
export function filterParams(topic: Topic): Readonly<Record<string, TSchema>> {
  const rows = FILTERS[topic].map(({ param, compare }) => [param, compare.schema] as const);
  const isPositioned = (TOPICS[topic] as readonly string[]).includes('lon');
  return {
    ...Object.fromEntries([...rows, ...(hasPair(topic) ? COLLISION_PARAMS : [])]),
    ...(isPositioned && AREA_PARAMS),
  };
}

/** Whether the events of a topic are about two trackables. */
function hasPair(topic: Topic): boolean {
  return topic === 'collision_events' || topic === 'collision_forecast';
}

/** Parameter names, each followed by its older name. */
const COLLISION_IDS = ['collision_id_1', 'object_id_1', 'collision_id_2', 'object_id_2'];

const COLLISION_PARAMS = COLLISION_IDS.map((name) => {
  const description = 'One of the two trackables; with an id of 1 and one of 2 exactly these two.';
  return [name, Type.String({ description })] as const;
});

/**
 * Returns the filter for the objects of a collision. One id matches either object. Two ids match the two objects, in
 * any order.
 */
function collisionPair(params: Params): readonly ((fields: FilterFields) => boolean)[] {
  const [a, b] = [1, 2].map((n) => {
    const name = COLLISION_IDS.find(
      (candidate) => candidate.endsWith(`${n}`) && given(params, candidate) !== undefined,
    );
    return name === undefined ? undefined : text.test(name, given(params, name));
  });
  if (a !== undefined && b !== undefined) {
    return [([one, two]) => (a(one) && b(two)) || (a(two) && b(one))];
  }
  const either = a ?? b;
  return either === undefined ? [] : [([one, two]) => either(one) || either(two)];
}

/** Returns a parameter, ignoring inherited names such as `constructor`. */
function given(params: Params, name: string): unknown {
  return Object.hasOwn(params, name) ? (params[name] ?? undefined) : undefined;
}

function sameText(wanted: string): (field: Field) => boolean {
  if (!isUuid(wanted)) return (field) => field === wanted;
  const lower = wanted.toLowerCase();
  return (field) => typeof field === 'string' && field.length === UUID_LENGTH && field.toLowerCase() === lower;
}

const UUID_LENGTH = 36;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function isUuid(value: string): boolean {
  return UUID.test(value);
}
