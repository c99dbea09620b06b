import { problemOf } from '../problem.ts';
import Type, { type TSchema } from 'typebox';
import { NEAR, numbersOf, REGION } from '../fanout/area_filter.ts';
import { asBoolean, asText } from '../fanout/coerce.ts';
import { compileFilter, type Filter, filterParams } from '../fanout/filter.ts';
import { hasGeojson, type TopicName } from '../fanout/topic_name.ts';
import { isLogged } from '../model/logged_event.ts';
import { Crs } from '../model/schema.ts';
import { isRenderedByShards, type View } from '../model/topics.ts';
import { SocketCommandError } from './wire.ts';
import { isObject } from '../model/json_tree.ts';

export type FrameParams = Readonly<Record<string, unknown>>;

/** View params as sent by the client. */
export interface RequestedView {
  readonly crs?: string;
  readonly zone_id?: string;
}

/** Params of every message that requires a permission. */
const TOKEN_PARAM = { token: Type.Optional(Type.String({ description: 'Access token, if the hub requires one.' })) };

const VIEW_PARAMS = {
  crs: Type.Optional(Crs('Reference system of coordinates: EPSG:4326 if absent, local, a UTM or a UPS code.')),
  zone_id: Type.Optional(
    Type.String({ description: 'Id or foreign id of the zone that local means; that of the location if absent.' }),
  ),
};
const AFTER_PARAM = {
  after: Type.Optional(
    Type.String({
      description:
        'Cursor of the event log: the events after it come first, and each message has a cursor. Also oldest or newest.',
    }),
  ),
};
const GEOJSON_PARAM = {
  geojson: Type.Optional(Type.Boolean({ description: 'True has the same effect as :geojson after the topic.' })),
};

/** Returns the schema of the params of a subscription to a topic. All values may also be sent as strings. */
export function subscriptionParams({ topic, geojson }: TopicName): TSchema {
  const filters = Object.entries(filterParams(topic)).map(([name, schema]) => [name, Type.Optional(schema)]);
  return Type.Object({
    ...Object.fromEntries(filters),
    ...(isRenderedByShards(topic) ? VIEW_PARAMS : {}),
    ...(hasGeojson(topic) && !geojson ? GEOJSON_PARAM : {}),
    ...(isLogged(topic) && !geojson ? AFTER_PARAM : {}),
    ...TOKEN_PARAM,
  });
}

/** Returns the cursor after which a subscription begins; undefined for one that begins now. */
export function afterIn(params: FrameParams): unknown {
  return own(params, 'after');
}

/** Schema of the params of a published message. */
export const PUBLISH_PARAMS = Type.Object(TOKEN_PARAM);

/** Returns the params of a frame; empty if absent or null. Throws a SocketCommandError with `reason`. */
export function readParams(params: unknown, reason: 'subscribeFailed' | 'invalidPayload'): FrameParams {
  if (params === undefined || params === null) return {};
  if (isObject(params)) return params;
  throw new SocketCommandError(reason, problemOf('not_an_object', { path: 'params' }));
}

/**
 * Returns the size of params: the characters of names and strings, plus one per element, without nested values. Stops
 * counting beyond `max`.
 */
export function sizeOf(params: FrameParams, max: number): number {
  let size = 0;
  for (const [name, value] of Object.entries(params)) {
    if (name === 'token') continue;
    size += name.length;
    for (const item of Array.isArray(value) ? value : name === REGION ? [value, ...numbersOf(value)] : [value]) {
      size += typeof item === 'string' ? item.length + 1 : 1;
      if (size > max) return size;
    }
  }
  return size;
}

/** Returns the filter and the view of a subscription. Throws HUB_BAD_REQUEST with the name of an invalid parameter. */
export function readInterest(
  { topic, geojson }: TopicName,
  params: FrameParams,
  checkView: (asked: RequestedView) => View,
): { readonly view: View; readonly filter: Filter | undefined } {
  const crs = own(params, 'crs');
  const zoneId = own(params, 'zone_id');
  const wantsGeojson = own(params, 'geojson');
  const view = checkView({
    ...(crs === undefined ? {} : { crs: asText('crs', crs) }),
    ...(zoneId === undefined ? {} : { zone_id: asText('zone_id', zoneId) }),
  });
  const asGeojson = hasGeojson(topic) && wantsGeojson !== undefined && asBoolean('geojson', wantsGeojson);
  return { view: { ...view, geojson: geojson || asGeojson }, filter: compileFilter(topic, params) };
}

/**
 * Returns the canonical key of a subscription. Keys are equal for the same topic name and equal params, ignoring the
 * token and the order of arrays.
 */
export function identityOf(topicName: string, params: FrameParams): string {
  const entries = Object.entries(params).filter(([name, value]) => name !== 'token' && value !== null);
  const flat = entries.map(([name, value]) => [
    name,
    Array.isArray(value) ? inOrder(name, value.map(flatten)) : name === REGION ? regionKey(value) : flatten(value),
  ]);
  return JSON.stringify([topicName, flat.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1))]);
}

/** Sorts a list of alternatives. The numbers of `near` are one point, whose order matters. */
function inOrder(name: string, values: string[]): readonly string[] {
  return name === NEAR ? values : values.sort();
}

/** Returns the canonical form of a region: its rings differ in their numbers or their lengths. */
function regionKey(region: unknown): string {
  if (typeof region !== 'object' || region === null) return flatten(region);
  const { coordinates } = region as { readonly coordinates?: unknown };
  const lengths = Array.isArray(coordinates) ? coordinates.map((ring) => (Array.isArray(ring) ? ring.length : 0)) : [];
  return `region ${lengths.join(' ')}: ${numbersOf(region).map(flatten).join(' ')}`;
}

/** Returns the canonical form of a value. Nested values have no meaning in params, so they are all equal. */
function flatten(value: unknown): string {
  return typeof value === 'object' && value !== null ? 'nested' : `${typeof value} ${String(value)}`;
}

function own(params: FrameParams, name: string): unknown {
  return Object.hasOwn(params, name) ? (params[name] ?? undefined) : undefined;
}
