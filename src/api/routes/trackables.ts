import Type from 'typebox';
import { roundDegrees, roundMeters } from '../../core/geo/rounding.ts';
import type { QueryResult } from '../../core/item.ts';
import { hubError } from '../../errors.ts';
import { TrackableMotion } from '../../model/events.ts';
import { Fence } from '../../model/fence.ts';
import { HORIZON_DEFAULT_MS, HORIZON_MAX_MS, HORIZON_MIN_MS, TrackableForecast } from '../../model/forecast.ts';
import { Location } from '../../model/location.ts';
import { LocationProvider } from '../../model/provider.ts';
import { AnyType, ArrayOf, IdArray } from '../../model/schema.ts';
import { formatTime } from '../../model/time.ts';
import { Trackable } from '../../model/trackable.ts';
import type { ApiDeps } from '../deps.ts';
import { lastLocationsOfAll } from '../last_locations.ts';
import { idList, textList } from '../responses.ts';
import { existing, requireEntity } from '../lookup.ts';
import { answersTo } from '../naming.ts';
import { onlyReadable } from '../ownership.ts';
import { PAGE_HEADERS, PAGE_QUERY } from '../page.ts';
import { PRESENT } from '../present.ts';
import { oneOf } from '../read_one.ts';
import { type ApiCall, type ApiRoute, route } from '../route.ts';
import { integerIn, type QueryParameters } from '../time_range.ts';
import { relatedAs } from '../versions.ts';
import { SPATIAL_QUERY, SUBDIVIDE_QUERY, VIEW_QUERY, viewOf } from '../view.ts';
import { entityRows } from './entity_rows.ts';

const WRITE_QUERY = Type.Object({
  force_location_update: Type.Optional(
    Type.Boolean({ description: 'Whether the newest locations of its providers are evaluated at once.' }),
  ),
  ...SUBDIVIDE_QUERY,
});

const own = { operation: 'READ', resource: 'trackable_id' } as const;

export const TRACKABLE_ROUTES: readonly ApiRoute[] = [
  ...entityRows({
    kind: 'trackable',
    path: '/trackables',
    resource: 'trackable_id',
    schema: Trackable,
    writeQuery: WRITE_QUERY,
    showsReplaced: true,
  }),
  route({
    method: 'GET',
    path: '/trackables/motions',
    summary: 'Motions of all trackables',
    permission: { operation: 'READ', resource: 'trackable_id', owned: 'reply' },
    query: Type.Object({ ...VIEW_QUERY, ...PAGE_QUERY }),
    replies: { 200: { description: 'The motions.', schema: ArrayOf(TrackableMotion), headers: PAGE_HEADERS } },
    async handle(call, hub) {
      const view = viewOf(call, hub);
      return lastLocationsOfAll({ kind: 'trackable', ask: 'trackable_motions', view }, call, hub);
    },
  }),
  route({
    method: 'GET',
    path: '/trackables/:trackable_id/motion',
    summary: 'Motion of a trackable',
    permission: own,
    query: Type.Object(VIEW_QUERY),
    replies: { 200: { description: 'The motion.', schema: TrackableMotion } },
    handle: (call, hub) => oneOf('trackable', 'trackable_motion', call, hub),
  }),
  route({
    method: 'GET',
    path: '/trackables/:trackable_id/forecast',
    summary: 'Forecast of a trackable',
    versions: ['v2'],
    permission: own,
    query: Type.Object({
      horizon: Type.Optional(
        Type.Integer({
          minimum: HORIZON_MIN_MS,
          maximum: HORIZON_MAX_MS,
          description: `Length of the forecast in milliseconds; ${HORIZON_DEFAULT_MS} if absent.`,
        }),
      ),
    }),
    exactQuery: true,
    notes: {
      description:
        'It needs a filter of the kind cv. Positions decide, without the delays and tolerances of fences. Fences that the ' +
        'trackable is outside of and is not expected to enter are left out.',
    },
    replies: { 200: { description: 'The forecast.', schema: TrackableForecast } },
    async handle(call, hub) {
      const { id } = requireEntity('trackable', call.id, hub);
      const bounds = { least: HORIZON_MIN_MS, most: HORIZON_MAX_MS };
      const horizonMs = integerIn(call.query as QueryParameters, 'horizon', bounds) ?? HORIZON_DEFAULT_MS;
      const answers = await answersTo({ ask: 'forecast', id, horizonMs }, call, hub);
      return call.reply.json(JSON.stringify(forecastReply({ id, horizonMs }, answers, call, hub)));
    },
  }),
  route({
    method: 'GET',
    path: '/trackables/:trackable_id/location',
    summary: 'The effective location of a trackable',
    permission: own,
    query: Type.Object(VIEW_QUERY),
    replies: { 200: { description: 'The location.', schema: Location } },
    handle: (call, hub) => oneOf('trackable', 'trackable_location', call, hub),
  }),
  route({
    method: 'GET',
    path: '/trackables/:trackable_id/locations',
    summary: 'Last locations of all providers of a trackable',
    permission: own,
    query: Type.Object(VIEW_QUERY),
    replies: { 200: { description: 'The locations.', schema: ArrayOf(Location) } },
    async handle(call, hub) {
      const { id } = requireEntity('trackable', call.id, hub);
      const view = viewOf(call, hub);
      return call.reply.json(textList(await answersTo({ ask: 'trackable_locations', id, view }, call, hub), view));
    },
  }),
  route({
    method: 'GET',
    path: '/trackables/:trackable_id/fences',
    summary: 'Fences that a trackable is in',
    permission: own,
    query: Type.Object({ ...VIEW_QUERY, ...SPATIAL_QUERY }),
    replies: { 200: { description: 'The fences.', schema: ArrayOf(Fence) } },
    async handle(call, hub) {
      const { id } = requireEntity('trackable', call.id, hub);
      const spatial = call.query.spatial_query === true;
      const fences = idList(await answersTo({ ask: 'trackable_fences', id, spatial }, call, hub));
      return call.reply.json(
        PRESENT.fence.many(onlyReadable(existing('fence', fences, hub), 'fence_id', call.visibility), call, hub),
      );
    },
  }),
  route({
    method: 'GET',
    path: '/trackables/:trackable_id/providers',
    summary: 'Providers of a trackable',
    permission: own,
    replies: {
      200: { description: 'The providers.', schema: ArrayOf(LocationProvider), v1: IdArray },
    },
    handle({ id, version, visibility, reply }, hub) {
      const trackable = requireEntity('trackable', id, hub);
      const assigned = existing('provider', trackable.location_providers ?? [], hub);
      const providers = onlyReadable(assigned, 'provider_id', visibility);
      const related = relatedAs(version) === 'ids' ? providers.map((provider) => provider.id) : providers;
      return reply.json(JSON.stringify(related));
    },
  }),
  route({
    method: 'GET',
    path: '/trackables/:trackable_id/sensors',
    summary: 'Sensor data of all providers of a trackable',
    permission: own,
    replies: {
      200: { description: 'The sensor data of each provider that has some.', schema: ArrayOf(AnyType) },
    },
    handle({ id, visibility, reply }, hub) {
      const trackable = requireEntity('trackable', id, hub);
      const assigned = existing('provider', trackable.location_providers ?? [], hub);
      const providers = onlyReadable(assigned, 'provider_id', visibility);
      return reply.json(JSON.stringify(providers.map(({ sensors }) => sensors).filter((sensors) => sensors != null)));
    },
  }),
];

/** Returns the forecast among the answers, without fences that the token may not read. Throws HUB_NOT_FOUND without one. */
function forecastReply(
  { id, horizonMs }: { readonly id: string; readonly horizonMs: number },
  answers: readonly QueryResult[],
  { visibility }: Pick<ApiCall, 'visibility'>,
  hub: ApiDeps,
): TrackableForecast {
  const found = answers.find((answer) => 'forecast' in answer);
  if (found === undefined) throw hubError('no_velocity', { id });
  const nowMs = hub.events.now();
  const { lon, lat, sigmaMeters, fences } = found.forecast;
  const ids = existing(
    'fence',
    fences.map(([fence]) => fence),
    hub,
  );
  const readable = new Set(onlyReadable(ids, 'fence_id', visibility).map((fence) => fence.id));
  return {
    trackable_id: id,
    timestamp: formatTime(nowMs),
    horizon: horizonMs,
    position: { type: 'Point', coordinates: [roundDegrees(lon), roundDegrees(lat)] },
    accuracy: roundMeters(sigmaMeters),
    fences: fences
      .filter(([fence]) => readable.has(fence))
      .map(([fence, { event, probability, afterMs }]) => ({
        ...{ fence_id: fence, event, probability: Math.round(probability * 1000) / 1000 },
        ...(afterMs !== undefined && { time: formatTime(nowMs + afterMs) }),
      })),
  };
}
