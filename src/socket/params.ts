import Type, { type TSchema } from 'typebox';
import { asBoolean, asText } from '../fanout/coerce.ts';
import { compileFilter, type Filter, filterParams } from '../fanout/filter.ts';
import { hasGeojson, type TopicName } from '../fanout/topic_name.ts';
import { Crs } from '../model/schema.ts';
import { isRenderedByShards, type View } from '../model/topics.ts';
import { CommandError, isObject } from './wire.ts';

export type Params = Readonly<Record<string, unknown>>;

/** What a view asks for, as it was sent. */
export interface AskedView {
  readonly crs?: string;
  readonly zone_id?: string;
}

/** What a message has to be allowed by. */
const TOKEN_PARAM = { token: Type.Optional(Type.String({ description: 'Access token, where the hub wants one.' })) };

const VIEW_PARAMS = {
  crs: Type.Optional(Crs('How coordinates are given: EPSG:4326 if absent, local, a UTM or a UPS code.')),
  zone_id: Type.Optional(
    Type.String({ description: 'Id or foreign id of the zone that local means; that of the location if absent.' }),
  ),
};
const GEOJSON_PARAM = {
  geojson: Type.Optional(Type.Boolean({ description: 'As if :geojson stood after the topic.' })),
};

/** The params of a subscription to a topic, for the documents. Values may come as strings, too. */
export function subscriptionParams({ topic, geojson }: TopicName): TSchema {
  const filters = Object.entries(filterParams(topic)).map(([name, schema]) => [name, Type.Optional(schema)]);
  return Type.Object({
    ...Object.fromEntries(filters),
    ...(isRenderedByShards(topic) ? VIEW_PARAMS : {}),
    ...(hasGeojson(topic) && !geojson ? GEOJSON_PARAM : {}),
    ...TOKEN_PARAM,
  });
}

/** The params of a message that a client publishes. */
export const PUBLISH_PARAMS = Type.Object(TOKEN_PARAM);

/** The params of a frame; none when absent or null. Throws a CommandError with the given reason. */
export function readParams(params: unknown, reason: 'subscribeFailed' | 'invalidPayload'): Params {
  if (params === undefined || params === null) return {};
  if (isObject(params)) return params;
  throw new CommandError(reason, 'params: must be an object');
}

/** Characters of names and texts, and one for each element, without walking what is nested. Counting ends beyond `max`. */
export function sizeOf(params: Params, max: number): number {
  let size = 0;
  for (const [name, value] of Object.entries(params)) {
    if (name === 'token') continue;
    size += name.length;
    for (const item of Array.isArray(value) ? value : [value]) {
      size += typeof item === 'string' ? item.length + 1 : 1;
      if (size > max) return size;
    }
  }
  return size;
}

/** The filter and the view of a subscription. Throws HUB_BAD_REQUEST naming the parameter. */
export function readInterest(
  { topic, geojson }: TopicName,
  params: Params,
  checkView: (asked: AskedView) => View,
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
 * The same text for subscriptions that are the same: same topic name, equal params without the token, arrays without
 * regard to order.
 */
export function identityOf(topicName: string, params: Params): string {
  const entries = Object.entries(params).filter(([name, value]) => name !== 'token' && value !== null);
  const flat = entries.map(([name, value]) => [
    name,
    Array.isArray(value) ? value.map(flatten).sort() : flatten(value),
  ]);
  return JSON.stringify([topicName, flat.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1))]);
}

/** A parameter is flat. What is nested, at any depth, means nothing, and so makes no difference. */
function flatten(value: unknown): string {
  return typeof value === 'object' && value !== null ? 'nested' : `${typeof value} ${String(value)}`;
}

function own(params: Params, name: string): unknown {
  return Object.hasOwn(params, name) ? (params[name] ?? undefined) : undefined;
}
