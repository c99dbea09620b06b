import { hubError } from '../../errors.ts';
import Type, { type TObject, type TProperties } from 'typebox';
import {
  COUNTED_KINDS,
  FORMATS,
  type Format,
  type VisitFilter,
  type PositionsQuery,
  type HistoryQuery,
  type PositionFields,
  type PositionKind,
} from '../../history/queries/query.ts';
import {
  DwellReply,
  FlowsReply,
  HeatmapReply,
  HistoryEventsReply,
  OccupancyReply,
  PlacesReply,
  QualityReply,
  SnapshotReply,
  TracksReply,
  TripsReply,
  VisitsReply,
} from '../../model/history_replies.ts';
import { idKey } from '../../model/id.ts';
import {
  AREA_QUERY,
  areaOf,
  idsIn,
  integerIn,
  numberIn,
  PART_QUERY,
  type QueryParameters,
  partOf,
  SPAN_QUERY,
  spanOf,
  timeIn,
  wordIn,
} from '../time_range.ts';
import type { ApiDeps } from '../deps.ts';
import {
  knownId,
  NOT_RECORDED,
  ownedIds,
  READ_ANY,
  recorded,
  recordedId,
  replied,
  streamed,
  timeoutsIn,
} from '../history_access.ts';
import { type ApiCall, type ApiRoute, route } from '../route.ts';
import { VIEW_QUERY, type ViewQuery, viewOf } from '../view.ts';

const SPANS = 'Times are RFC 3339, and the range includes its start, not its end.';
const { crs, zone_id } = VIEW_QUERY;
const SHOWN_QUERY = { crs, zone_id };
const KINDS = ['trackable', 'provider'] as const;
const KIND_QUERY = {
  kind: Type.Optional(Type.String({ description: 'Kind of objects: trackable or provider; trackable if absent.' })),
};
const FENCE_QUERY = {
  fence_id: Type.Optional(Type.String({ description: 'Ids of fences, separated by commas; all if absent.' })),
};
/** Parameters of queries that count objects in fences. */
const COUNTED_QUERY = {
  kind: Type.Optional(
    Type.String({
      description:
        'Counted objects: trackable, provider, or all. If absent each object counts once: trackables, and providers ' +
        'that no trackable has.',
    }),
  ),
};
const COUNTED_IN_FENCES_QUERY = { ...FENCE_QUERY, ...COUNTED_QUERY };
const STEP = (what: string) => Type.Optional(Type.Integer({ minimum: 1, description: `${what}, in milliseconds.` }));
const [STEP_MAX_MS, DAY_MS] = [366 * 86_400_000, 86_400_000] as const;
const MEDIA_TYPES: Readonly<Record<Format, string>> = {
  json: 'application/json',
  geojson: 'application/geo+json',
  csv: 'text/csv; charset=utf-8; header=present',
  mfjson: 'application/json',
};

const OWN = { ...READ_ANY, resource: 'trackable_id' } as const;
const PERMISSIONS = { owned: { ...OWN, owned: 'reply' }, path: OWN, any: READ_ANY } as const;

export const HISTORY_ROUTES: readonly ApiRoute[] = [
  placesRow('trackable'),
  placesRow('provider'),
  asking('/history/snapshot', {
    summary: 'Positions of all objects at a point in time',
    permission: 'owned',
    query: {
      at: Type.Optional(Type.String({ description: 'Point in time, RFC 3339; now if absent.' })),
      max_age: STEP('Maximum age of a position; 600,000 if absent'),
      ...{ ...KIND_QUERY, ...AREA_QUERY, ...SHOWN_QUERY, ...PART_QUERY },
    },
    reply: SnapshotReply,
    question: ({ query, call, now, api }) => ({
      ask: 'snapshot',
      atMs: timeIn(query, 'at') ?? now,
      maxAgeMs: integerIn(query, 'max_age', { least: 1, most: 7 * DAY_MS }) ?? 600_000,
      shown: shownAs(call, api),
      ...{ ...areaOf(query), ...partOf(query, 'snapshot'), ...ofKind(query, call, api) },
    }),
  }),
  asking('/history/tracks', {
    summary: 'Positions of many objects, one per step, as columns',
    permission: 'owned',
    query: {
      ...SPAN_QUERY,
      step: STEP('Step, of which the last position of each object is listed; 1,000 if absent'),
      ...{ ...KIND_QUERY, ...AREA_QUERY, ...PART_QUERY },
    },
    reply: TracksReply,
    question: ({ query, call, now, api }) => ({
      ask: 'tracks',
      stepMs: integerIn(query, 'step', { least: 1, most: STEP_MAX_MS }) ?? 1000,
      ...{ ...spanOf(query, now), ...areaOf(query), ...partOf(query, 'tracks'), ...ofKind(query, call, api) },
    }),
  }),
  asking('/history/events', {
    summary: 'Fence events or collision events, as they were published',
    query: {
      topic: Type.Optional(Type.String({ description: 'fence_events, or collision_events. fence_events if absent.' })),
      ...{ ...SPAN_QUERY, ...FENCE_QUERY },
      trackable_id: Type.Optional(Type.String({ description: 'Ids of trackables, separated by commas.' })),
      provider_id: Type.Optional(Type.String({ description: 'Ids of providers, separated by commas.' })),
      event_type: Type.Optional(Type.String({ description: 'event_type, or collision_type, of the events.' })),
      ...PART_QUERY,
    },
    reply: HistoryEventsReply,
    question: ({ query, now, api }) => ({
      ask: 'events',
      topic: wordIn(query, 'topic', ['fence_events', 'collision_events']) ?? 'fence_events',
      fenceIds: recordedIn(query, 'fence', api),
      trackableIds: recordedIn(query, 'trackable', api),
      providerIds: recordedIn(query, 'provider', api),
      eventType: query.event_type === undefined ? undefined : String(query.event_type),
      ...{ ...spanOf(query, now), ...partOf(query, 'events') },
    }),
  }),
  asking('/fences/:fence_id/visits', {
    summary: 'Visits of a fence',
    query: { ...SPAN_QUERY, ...COUNTED_QUERY, ...PART_QUERY },
    reply: VisitsReply,
    question: async ({ query, call, now, api }) => ({
      ...{ ask: 'visits', fenceIds: [await knownId('fence', call, api)], trackableId: undefined },
      ...{ ...countedBy(query, api), ...spanOf(query, now), ...partOf(query, 'visits') },
    }),
  }),
  asking('/trackables/:trackable_id/visits', {
    summary: 'Visits of a trackable',
    permission: 'path',
    query: { ...SPAN_QUERY, ...PART_QUERY },
    reply: VisitsReply,
    question: async ({ query, call, now, api }) => ({
      ...{ ask: 'visits', fenceIds: readableFences(call, api), trackableId: await knownId('trackable', call, api) },
      ...{ counted: 'trackable', timeouts: timeoutsIn(api), ...spanOf(query, now), ...partOf(query, 'visits') },
    }),
  }),
  asking('/analytics/dwell', {
    summary: 'Dwell times in fences',
    query: {
      ...SPAN_QUERY,
      step: STEP('Length of the steps whose dwell times are listed, too; none if absent'),
      ...COUNTED_IN_FENCES_QUERY,
    },
    reply: DwellReply,
    question: ({ query, now, api }) => ({
      ...{ ask: 'dwell', fenceIds: recordedIn(query, 'fence', api) },
      stepMs: integerIn(query, 'step', { least: 1, most: STEP_MAX_MS }),
      ...{ ...countedBy(query, api), ...spanOf(query, now) },
    }),
  }),
  asking('/analytics/occupancy', {
    summary: 'Number of objects in fences over time',
    query: { ...SPAN_QUERY, step: STEP('Between two samples; 60,000 if absent'), ...COUNTED_IN_FENCES_QUERY },
    reply: OccupancyReply,
    question: ({ query, now, api }) => ({
      ...{ ask: 'occupancy', fenceIds: recordedIn(query, 'fence', api) },
      stepMs: integerIn(query, 'step', { least: 1, most: STEP_MAX_MS }) ?? 60_000,
      ...{ ...countedBy(query, api), ...spanOf(query, now) },
    }),
  }),
  asking('/analytics/flows', {
    summary: 'Transitions of objects between fences',
    query: { ...SPAN_QUERY, ...COUNTED_IN_FENCES_QUERY },
    reply: FlowsReply,
    question: ({ query, now, api }) => ({
      ...{ ask: 'flows', fenceIds: recordedIn(query, 'fence', api) },
      ...{ ...countedBy(query, api), ...spanOf(query, now) },
    }),
  }),
  asking('/analytics/heatmap', {
    summary: 'Dwell times by the cells of a grid',
    query: {
      ...{ ...SPAN_QUERY, ...KIND_QUERY, ...AREA_QUERY },
      grid: Type.Optional(Type.String({ description: 'metres for squares, or h3. metres if absent.' })),
      cell: Type.Optional(Type.Number({ description: 'Length of a side of a square in meters; 1 if absent.' })),
      resolution: Type.Optional(Type.Integer({ description: 'Resolution of H3, 0 to 15; 13 if absent.' })),
      max_gap: STEP('Maximum time that an object counts at a position; 60,000 if absent'),
    },
    reply: HeatmapReply,
    question: ({ query, now }) => ({
      ask: 'heatmap',
      whose: whoseOf(query),
      grid: wordIn(query, 'grid', ['metres', 'h3']) ?? 'metres',
      cellMeters: numberIn(query, 'cell', { least: 0.01, most: 1e6 }) ?? 1,
      resolution: integerIn(query, 'resolution', { least: 0, most: 15 }) ?? 13,
      maxGapMs: integerIn(query, 'max_gap', { least: 1, most: DAY_MS }) ?? 60_000,
      ...{ ...spanOf(query, now), ...areaOf(query) },
    }),
  }),
  asking('/analytics/quality', {
    summary: 'Accuracy, gaps and jumps of positions by the cells of a grid',
    query: {
      ...{ ...SPAN_QUERY, ...KIND_QUERY, ...AREA_QUERY },
      cell: Type.Optional(Type.Number({ description: 'Length of a side of a square in meters; 1 if absent.' })),
      max_gap: STEP('Time between two positions of an object above which it is a gap; 5,000 if absent'),
      max_speed: Type.Optional(
        Type.Number({ description: 'Meters per second between two positions above which it is a jump; 10 if absent.' }),
      ),
    },
    reply: QualityReply,
    question: ({ query, now }) => ({
      ask: 'quality',
      whose: whoseOf(query),
      cellMeters: numberIn(query, 'cell', { least: 0.01, most: 1e6 }) ?? 1,
      maxGapMs: integerIn(query, 'max_gap', { least: 1, most: DAY_MS }) ?? 5000,
      maxSpeed: numberIn(query, 'max_speed', { least: 0.01, most: 1e6 }) ?? 10,
      ...{ ...spanOf(query, now), ...areaOf(query) },
    }),
  }),
  asking('/analytics/trips', {
    summary: 'Stops and trips of a trackable',
    query: {
      trackable_id: Type.String({ description: 'Id of the trackable.' }),
      ...SPAN_QUERY,
      radius: Type.Optional(Type.Number({ description: 'Radius of a stop, in meters; 2 if absent.' })),
      min_stop: STEP('Minimum duration of a stop; 30,000 if absent'),
      max_gap: STEP('A trip ends where the object is silent for longer; 3,600,000 if absent'),
    },
    reply: TripsReply,
    question: async ({ query, call, now, api }) => ({
      ask: 'trips',
      id: await knownId('trackable', { ...call, id: neededIn(query, 'trackable_id') }, api),
      radiusMeters: numberIn(query, 'radius', { least: 0.01, most: 1e6 }) ?? 2,
      minStopMs: integerIn(query, 'min_stop', { least: 1, most: STEP_MAX_MS }) ?? 30_000,
      maxGapMs: integerIn(query, 'max_gap', { least: 1, most: STEP_MAX_MS }) ?? 3_600_000,
      ...spanOf(query, now),
    }),
  }),
];

interface Asking {
  readonly query: QueryParameters;
  readonly call: ApiCall;
  readonly now: number;
  readonly api: ApiDeps;
}

interface Row {
  readonly summary: string;
  /**
   * `owned`: the reply is limited to owned entities. `path`: the trackable of the path must be owned. Default:
   * permission to read any is required.
   */
  readonly permission?: 'owned' | 'path';
  readonly query: TProperties;
  readonly reply: TObject;
  question(asking: Asking): HistoryQuery | Promise<HistoryQuery>;
}

function asking(path: string, { summary, permission, query, reply, question }: Row): ApiRoute {
  return route({
    method: 'GET',
    path,
    summary,
    versions: ['v2'],
    permission: PERMISSIONS[permission ?? 'any'],
    query: Type.Object(query),
    exactQuery: true,
    notes: { description: SPANS, ...NOT_RECORDED },
    replies: { 200: { description: 'The recorded data.', schema: reply } },
    async handle(call, api) {
      const history = recorded(api);
      const asked = await question({ query: call.query as QueryParameters, call, now: history.now(), api });
      return replied(call, { history, question: asked, mediaType: MEDIA_TYPES.json });
    },
  });
}

function placesRow(kind: (typeof KINDS)[number]): ApiRoute {
  return route({
    method: 'GET',
    path: kind === 'trackable' ? '/trackables/:trackable_id/history' : '/providers/:provider_id/history',
    summary: kind === 'trackable' ? 'Positions of a trackable' : 'Positions of a provider',
    versions: ['v2'],
    permission: { ...READ_ANY, resource: `${kind}_id` },
    query: Type.Object({
      ...SPAN_QUERY,
      step: STEP('Step, of which the last position is listed; all if absent'),
      ...{ ...SHOWN_QUERY, ...PART_QUERY },
      format: Type.Optional(Type.String({ description: `${FORMATS.join(', ')}; json if absent.` })),
    }),
    exactQuery: true,
    notes: { description: `${SPANS} Without limit a CSV has all positions of the range.`, ...NOT_RECORDED },
    replies: { 200: { description: 'The positions.', schema: PlacesReply } },
    async handle(call, api) {
      const history = recorded(api);
      const query = call.query as QueryParameters;
      const format = wordIn(query, 'format', FORMATS) ?? 'json';
      const question: PositionsQuery = {
        ...{ ask: 'places', whose: kind === 'trackable' ? 'motions' : 'locations', hasHeader: true },
        id: '',
        stepMs: integerIn(query, 'step', { least: 1, most: STEP_MAX_MS }),
        shown: shownAs(call, api),
        format,
        ...{ ...spanOf(query, history.now()), ...partOf(query, 'places') },
      };
      const asking = {
        ...{ history, mediaType: MEDIA_TYPES[format] },
        question: { ...question, id: await knownId(kind, call, api) },
      };
      return format === 'csv' && query.limit === undefined ? streamed(call, asking) : replied(call, asking);
    },
  });
}

function shownAs(call: ApiCall, api: ApiDeps): PositionFields {
  const { crs: name, zoneId } = viewOf(call as ApiCall<ViewQuery>, api);
  const zone = zoneId === undefined ? undefined : api.entities.get('zone', zoneId);
  return { crs: name, zone, providers: namedProviders(call, api), hiddenZones: hiddenZones(call, api) };
}

/** The providers visible to the caller, deleted ones by ownership; undefined for all. */
function namedProviders({ visibility, owned }: ApiCall, { entities }: ApiDeps): ReadonlySet<string> | undefined {
  if (visibility === undefined || visibility.seesAll('provider_id')) return undefined;
  const seen = entities.list('provider').filter(({ id }) => visibility.sees(['provider_id'], id));
  return new Set([...seen.map(({ id }) => idKey(id)), ...(owned?.all('provider_id') ?? [])]);
}

/** Zones whose position is hidden from the caller, since they follow others. */
function hiddenZones({ visibility }: ApiCall, { entities }: ApiDeps): ReadonlySet<string> {
  if (visibility === undefined || !entities.hasMobileZones) return new Set();
  const hidden = entities.list('zone').filter(({ id }) => !visibility.seesPlaceOf(id));
  return new Set(hidden.map(({ id }) => idKey(id)));
}

function whoseOf(query: QueryParameters): PositionKind {
  return wordIn(query, 'kind', KINDS) === 'provider' ? 'locations' : 'motions';
}

/** The kind of objects, and the limit to some of them. */
function ofKind(
  query: QueryParameters,
  call: ApiCall,
  api: ApiDeps,
): { readonly whose: PositionKind; readonly only: readonly string[] | undefined } {
  const whose = whoseOf(query);
  return { whose, only: ownedIds(whose === 'motions' ? 'trackable' : 'provider', call, api) };
}

/** The objects counted in fences, and the timeouts after which they leave. */
function countedBy(query: QueryParameters, api: ApiDeps): Pick<VisitFilter, 'counted' | 'timeouts'> {
  return { counted: wordIn(query, 'kind', COUNTED_KINDS) ?? 'object', timeouts: timeoutsIn(api) };
}

/** The fences visible to the caller; undefined for all. */
function readableFences({ visibility }: ApiCall, { entities }: ApiDeps): readonly string[] | undefined {
  if (visibility === undefined || visibility.seesAll('fence_id')) return undefined;
  return entities
    .list('fence')
    .map(({ id }) => id)
    .filter((id) => visibility.sees(['fence_id'], id));
}

/** Ids, separated by commas. */
function recordedIn(
  query: QueryParameters,
  kind: 'trackable' | 'provider' | 'fence',
  api: ApiDeps,
): readonly string[] | undefined {
  return idsIn(query, `${kind}_id`)?.map((id) => recordedId(kind, id, api));
}

function neededIn(query: QueryParameters, name: string): string {
  const value = query[name];
  if (value !== undefined && value !== '') return String(value);
  throw hubError('missing', { path: name });
}
