import { hubError, type HubError } from '../../errors.ts';
import Type, { type TSchema } from 'typebox';
import type { BoundingBox, ObjectsQuery, Span, TrackQuery, PositionKind } from '../../history/queries/query.ts';
import {
  Conformance,
  LandingPage,
  MovingCollection,
  MovingCollections,
  MovingFeature,
  MovingFeatures,
  TemporalGeometrySequence,
} from '../../model/moving_features.ts';
import { show } from '../../model/error_value_text.ts';
import { parseTime } from '../../model/time.ts';
import { PART_QUERY, type QueryParameters, partOf } from '../time_range.ts';
import type { ApiDeps } from '../deps.ts';
import {
  addressOf,
  knownId,
  NOT_RECORDED,
  ownedIds,
  READ_ANY,
  recorded,
  recordedId,
  replied,
  warningOf,
} from '../history_access.ts';
import { type ApiCall, type ApiRoute, route } from '../route.ts';

/**
 * The history in the format of OGC API – Moving Features 1.0, read-only: two collections, their items, and the path of
 * each item as temporal geometries. Moving Features requires write access and temporal properties, so no conformance
 * class of it is claimed.
 */
const CONFORMS_TO = [
  'http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/core',
  'http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/json',
  'http://www.opengis.net/spec/ogcapi-common-2/1.0/conf/collections',
];
const CRS = 'http://www.opengis.net/def/crs/OGC/1.3/CRS84';
const ROOT = '/ogc/mf';
const [JSON_TYPE, GEOJSON_TYPE] = ['application/json', 'application/geo+json'] as const;
const OPENAPI_TYPE = 'application/vnd.oai.openapi+json;version=3.1';
/** Maximum points in time of one query. */
const LEAVES_MAX = 100;
/** The end of an interval is inclusive, that of a history range exclusive, and times have microseconds. */
const MICROSECOND_MS = 0.001;
/** All valid times. */
const EVER: Span = { fromMs: Date.UTC(1970, 0, 1), toMs: Date.UTC(9999, 11, 31) };

const KINDS = {
  trackable: { whose: 'motions', title: 'Trackables', description: 'Positions of trackables.' },
  provider: { whose: 'locations', title: 'Location providers', description: 'Positions of location providers.' },
} as const satisfies Readonly<Record<string, { whose: PositionKind; title: string; description: string }>>;
type Kind = keyof typeof KINDS;

const BOX_QUERY = {
  bbox: Type.Optional(
    Type.String({ description: 'west,south,east,north in degrees, or with heights: west,south,low,east,north,high.' }),
  ),
  datetime: Type.Optional(
    Type.String({
      description: 'A time, or an interval that includes both ends: from/to, from/.. or ../to. Unbounded if absent.',
    }),
  ),
};
const LEAF_QUERY = {
  leaf: Type.Optional(
    Type.String({
      description: 'Times at which positions are interpolated, separated by commas. Excludes subTrajectory.',
    }),
  ),
  subTrajectory: Type.Optional(
    Type.Boolean({ description: 'Whether positions are interpolated at both ends of datetime. Requires datetime.' }),
  ),
};

export const MOVING_FEATURES_ROUTES: readonly ApiRoute[] = [
  document('', { summary: 'Landing page of Moving Features', schema: LandingPage, of: landingPage }),
  document('/conformance', {
    summary: 'Conformance classes of Moving Features',
    schema: Conformance,
    of: () => ({ conformsTo: CONFORMS_TO }),
  }),
  document('/collections', {
    summary: 'The collections of Moving Features',
    schema: MovingCollections,
    of: (base) => ({
      collections: [collection('trackable', base), collection('provider', base)],
      links: [link(`${base}/collections`, 'self')],
    }),
  }),
  ...rowsOf('trackable'),
  ...rowsOf('provider'),
];

interface Fixed {
  readonly summary: string;
  readonly schema: TSchema;
  /** `base`: path of the landing page, as requested. */
  of(base: string): object;
}

/** A document without user data. */
function document(path: string, { summary, schema, of }: Fixed): ApiRoute {
  return route({
    method: 'GET',
    path: ROOT + path,
    summary,
    versions: ['v2'],
    permission: 'public',
    notes: NOT_RECORDED,
    replies: { 200: { description: 'The document.', schema } },
    handle(call, api) {
      recorded(api);
      return call.reply.json(JSON.stringify(of(baseOf(call))));
    },
  });
}

function landingPage(base: string): object {
  return {
    title: 'History of the hub',
    description: 'Positions of trackables and location providers.',
    links: [
      link(base, 'self'),
      link(`${base.slice(0, -ROOT.length)}/openapi.json`, 'service-desc', OPENAPI_TYPE),
      link(`${base}/conformance`, 'conformance'),
      link(`${base}/collections`, 'data'),
    ],
  };
}

function collection(kind: Kind, base: string): object {
  const { title, description } = KINDS[kind];
  const path = `${base}/collections/${kind}s`;
  return {
    ...{ id: `${kind}s`, title, description, itemType: 'movingfeature', updateFrequency: 0, crs: [CRS] },
    extent: { spatial: { bbox: [[-180, -90, 180, 90]] }, temporal: { interval: [[null, null]] } },
    links: [link(path, 'self'), link(`${path}/items`, 'items', GEOJSON_TYPE)],
  };
}

function rowsOf(kind: Kind): readonly ApiRoute[] {
  const path = `${ROOT}/collections/${kind}s`;
  const { whose } = KINDS[kind];
  const resource = `${kind}_id` as const;
  const common = { method: 'GET', versions: ['v2'], exactQuery: true } as const;
  return [
    document(path.slice(ROOT.length), {
      summary: `The collection of ${kind}s`,
      schema: MovingCollection,
      of: (base) => collection(kind, base),
    }),
    route({
      ...common,
      path: `${path}/items`,
      summary: `The ${kind}s with positions`,
      permission: { ...READ_ANY, resource, owned: 'reply' },
      query: Type.Object({ ...BOX_QUERY, ...PART_QUERY }),
      notes: NOT_RECORDED,
      replies: { 200: { description: 'The features.', schema: MovingFeatures, mediaType: GEOJSON_TYPE } },
      async handle(call, api) {
        const history = recorded(api);
        const query = call.query as QueryParameters;
        const question: ObjectsQuery = {
          ask: 'objects',
          ...{ whose, ...intervalOf(query), box: boxOf(query), only: ownedIds(kind, call, api) },
          ...{ href: addressOf(call), ...partOf(query, 'objects') },
        };
        return replied(call, { history, question, mediaType: GEOJSON_TYPE });
      },
    }),
    route({
      ...common,
      path: `${path}/items/:${kind}_id`,
      summary: `A ${kind} as a moving feature`,
      permission: { ...READ_ANY, resource },
      notes: { ...NOT_RECORDED, description: 'Includes deleted objects with history.' },
      replies: { 200: { description: 'The feature.', schema: MovingFeature, mediaType: GEOJSON_TYPE } },
      handle: (call, api) => feature(kind, call, api),
    }),
    route({
      ...common,
      path: `${path}/items/:${kind}_id/tgsequence`,
      summary: `The path of a ${kind} as temporal geometries`,
      permission: { ...READ_ANY, resource },
      query: Type.Object({ ...BOX_QUERY, ...LEAF_QUERY, ...PART_QUERY }),
      notes: {
        ...NOT_RECORDED,
        description:
          'A geometry ends after ten minutes without a position. bbox excludes geometries without a position in it. ' +
          '`limit` counts positions.',
      },
      replies: { 200: { description: 'The geometries.', schema: TemporalGeometrySequence } },
      async handle(call, api) {
        const history = recorded(api);
        const query = call.query as QueryParameters;
        const question: TrackQuery = {
          ask: 'way',
          ...{ whose, id: await knownId(kind, call, api), ...intervalOf(query), ...momentsOf(query) },
          ...{ box: boxOf(query), href: addressOf(call), ...partOf(query, 'way') },
        };
        return replied(call, { history, question, mediaType: JSON_TYPE });
      },
    }),
  ];
}

/** A feature created from its history. Throws HUB_NOT_FOUND if neither an entity nor history exists. */
async function feature(kind: Kind, call: ApiCall, api: ApiDeps) {
  const history = recorded(api);
  const id = recordedId(kind, call.id, api);
  const { whose } = KINDS[kind];
  const list = { limit: 1, cursor: undefined, href: '', box: undefined };
  const question = { ask: 'objects', whose, ...EVER, only: [id], ...list } as const;
  const found = await history.ask(question, call.client.gone?.(), call.by());
  const { features } = JSON.parse(Buffer.from(found.bytes).toString()) as { readonly features: readonly object[] };
  if (features.length === 0 && found.missingHubs === undefined && api.entities.get(kind, id) === undefined) {
    throw hubError('not_recorded', { kind, id });
  }
  const base = `${baseOf(call)}/collections/${kind}s`;
  const path = `${base}/items/${encodeURIComponent(id)}`;
  const links = [link(path, 'self', GEOJSON_TYPE), link(base, 'collection'), link(`${path}/tgsequence`, 'tgsequence')];
  const missing = found.missingHubs && { missing_hubs: found.missingHubs };
  const known = features[0] ?? { type: 'Feature', id, geometry: null, properties: { kind } };
  const answer = call.reply.json(JSON.stringify({ ...known, ...missing, links }));
  return { ...answer, headers: { ...answer.headers, 'Content-Type': GEOJSON_TYPE, ...warningOf(found) } };
}

/** Path of the landing page, as requested. */
function baseOf({ path }: ApiCall): string {
  return path.slice(0, path.indexOf(ROOT) + ROOT.length);
}

function link(href: string, rel: string, type: string = JSON_TYPE) {
  return { href, rel, type };
}

/** The interval of `datetime`, with an inclusive end. */
function intervalOf({ datetime }: QueryParameters): Span {
  if (datetime === undefined) return EVER;
  const ends = String(datetime).split('/');
  const [first = '', last = first] = ends;
  if (ends.length > 2) throw badDatetime(datetime);
  const isOpen = (end: string): boolean => ends.length === 2 && (end === '..' || end === '');
  const fromMs = isOpen(first) ? EVER.fromMs : parseTime(first);
  const lastMs = isOpen(last) ? EVER.toMs : parseTime(last);
  if (fromMs <= lastMs) return { fromMs, toMs: lastMs + MICROSECOND_MS };
  throw badDatetime(datetime);
}

function badDatetime(found: unknown): HubError {
  return hubError('not_a_datetime', { path: 'datetime', found: show(found) });
}

/** Points in time for interpolation. Throws HUB_BAD_REQUEST. */
function momentsOf(query: QueryParameters): {
  readonly leafMs: readonly number[] | undefined;
  readonly endsMs: readonly number[] | undefined;
} {
  const isCut = query.subTrajectory === true;
  const { fromMs, toMs } = intervalOf(query);
  const lastMs = toMs - MICROSECOND_MS;
  if (query.leaf === undefined) {
    if (!isCut) return { leafMs: undefined, endsMs: undefined };
    if (fromMs > EVER.fromMs && toMs < EVER.toMs) return { leafMs: undefined, endsMs: [fromMs, lastMs] };
    throw hubError('open_datetime', { path: 'subTrajectory' });
  }
  if (isCut) throw hubError('not_with', { path: 'leaf', member: 'subTrajectory' });
  const texts = String(query.leaf).split(',');
  const leafMs = texts.map((text) => parseTime(text.trim()));
  const bad = texts.find((_, i) => Number.isNaN(leafMs[i]));
  if (bad !== undefined) {
    throw hubError('not_a_time', { path: 'leaf', found: show(bad) });
  }
  if (leafMs.length > LEAVES_MAX) {
    throw hubError('too_many', {
      path: 'leaf',
      limit: String(LEAVES_MAX),
      unit: 'moments',
      found: String(leafMs.length),
    });
  }
  const within = [...new Set(leafMs)].filter((ms) => ms >= fromMs && ms <= lastMs).sort((a, b) => a - b);
  return { leafMs: within, endsMs: undefined };
}

/** Four numbers, or six with heights. Throws HUB_BAD_REQUEST. */
function boxOf({ bbox }: QueryParameters): BoundingBox | undefined {
  if (bbox === undefined) return undefined;
  const numbers = String(bbox)
    .split(',')
    .map((text) => (text.trim() === '' ? Number.NaN : Number(text)));
  const isFlat = numbers.length === 4;
  const [west, south, low, east, north, high] = (
    isFlat ? [numbers[0], numbers[1], 0, numbers[2], numbers[3], 0] : numbers
  ) as [number, number, number, number, number, number];
  const isBox =
    (isFlat || numbers.length === 6) &&
    [west, east].every((lon) => Math.abs(lon) <= 180) &&
    south >= -90 &&
    north <= 90;
  if (isBox && south <= north && low <= high) {
    return { west, south, east, north, ...(isFlat ? { low: undefined, high: undefined } : { low, high }) };
  }
  throw hubError('not_a_bbox_with_heights', { path: 'bbox', found: show(bbox) });
}
