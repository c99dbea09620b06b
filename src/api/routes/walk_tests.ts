import Type from 'typebox';
import { type WalkFix, walkFigures } from '../../core/walk_figures.ts';
import { zoneTransform } from '../../core/zone/zone_transform.ts';
import { checkPass } from '../../entities/walk_tests.ts';
import { hubError } from '../../errors.ts';
import { checker } from '../../model/check.ts';
import { guarded, quoted } from '../../model/csv.ts';
import { show } from '../../model/error_value_text.ts';
import { idKey } from '../../model/id.ts';
import { isObject } from '../../model/json_tree.ts';
import { formatTime, parseTime } from '../../model/time.ts';
import { WalkPass, type WalkPoint, WalkResult, WalkTest } from '../../model/walk_test.ts';
import type { ApiDeps } from '../deps.ts';
import { NOT_RECORDED, recorded, recordedId, warningOf } from '../history_access.ts';
import { type ApiCall, type ApiRoute, route, valueRoute } from '../route.ts';
import { wordIn } from '../time_range.ts';
import { documentRows } from './document_rows.ts';

const ONE = '/walk_tests/:walk_test_id';
/** Maximum number of positions from which figures are computed. */
const FIXES_MAX = 100_000;

const pass = checker(WalkPass);
const STORED = ['The stored walk test.', WalkTest] as const;

/** The endpoints of walk tests. A test may be of any object, so they need permissions for all. */
export const WALK_TEST_ROUTES: readonly ApiRoute[] = [
  ...documentRows<WalkTest>({
    path: '/walk_tests',
    idName: 'walk_test_id',
    schema: WalkTest,
    noun: 'walk test',
    summaries: {
      list: 'All walk tests',
      create: 'Start a walk test',
      get: 'One walk test',
      replace: 'Replace a walk test',
      remove: 'Delete a walk test',
    },
    removed: 'The walk test is deleted. The recorded positions remain.',
    of: ({ walkTests }) => walkTests,
    prepared: started,
  }),
  valueRoute({
    method: 'POST',
    path: `${ONE}/pass`,
    summary: 'Mark that the tag is at a point',
    permission: { operation: 'UPDATE' },
    body: WalkPass,
    returns: STORED,
    value({ id, body, by }, hub) {
      const { point_id, time } = pass.parse(body);
      const marked = { point_id, time: time ?? formatTime(nowOf(hub)) };
      return hub.walkTests.change(
        id,
        (test) => {
          checkPass(test, marked, '');
          return { ...test, passes: [...(test.passes ?? []), marked] };
        },
        by(),
      );
    },
  }),
  valueRoute({
    method: 'POST',
    path: `${ONE}/finish`,
    summary: 'End a walk test',
    permission: { operation: 'UPDATE' },
    returns: STORED,
    value: ({ id, by }, hub) => {
      const ended = (test: WalkTest) => (test.ended_at == null ? { ...test, ended_at: formatTime(nowOf(hub)) } : test);
      return hub.walkTests.change(id, ended, by());
    },
  }),
  route({
    method: 'GET',
    path: `${ONE}/result`,
    summary: 'Figures of a walk test, by ISO/IEC 18305',
    permission: { operation: 'READ' },
    query: Type.Object({ format: Type.Optional(Type.String({ description: 'json, or csv; json if absent.' })) }),
    notes: {
      description: 'They are computed from the history. Figures without data are null.',
      refusals: NOT_RECORDED.refusals,
    },
    replies: { 200: { description: 'The figures, and the errors at each point.', schema: WalkResult } },
    async handle(call, hub) {
      const { id, query, reply } = call;
      const isCsv = wordIn(query, 'format', ['json', 'csv']) === 'csv';
      const { result, warning } = await resultOf(hub.walkTests.get(id), hub, call);
      const answer = reply.json(isCsv ? csvOf(result) : JSON.stringify(result));
      const type = isCsv ? { 'Content-Type': 'text/csv; charset=utf-8; header=present' } : {};
      return { ...answer, headers: { ...answer.headers, ...type, ...warning } };
    },
  }),
];

/**
 * Returns a new walk test with its start and, if it has no points, those of the anchors of its zone. Throws
 * HUB_BAD_REQUEST for an unknown object or zone.
 */
function started(body: unknown, hub: ApiDeps): unknown {
  if (!isObject(body)) return body;
  checkObject(body as Partial<WalkTest>, hub);
  const { started_at: startedAt, points, zone_id: zoneName } = body as Partial<WalkTest>;
  const ofZone = points == null && typeof zoneName === 'string' ? { points: anchorsOf(zoneName, hub) } : {};
  return { ...body, ...ofZone, ...(startedAt == null && { started_at: formatTime(nowOf(hub)) }) };
}

/** Throws HUB_BAD_REQUEST for an object that does not exist. */
function checkObject({ object_type: type, object_id: id }: Partial<WalkTest>, { entities }: ApiDeps): void {
  if ((type !== 'trackable' && type !== 'provider') || typeof id !== 'string') return;
  if (entities.get(type, id) !== undefined) return;
  const reason = type === 'trackable' ? 'not_a_trackable' : 'not_a_provider';
  throw hubError(reason, { path: 'object_id', found: show(id) });
}

/** Returns the anchors of a zone as points. Throws HUB_BAD_REQUEST for an unknown zone. */
function anchorsOf(zoneName: string, { entities }: ApiDeps): readonly WalkPoint[] {
  const zone = entities.zoneBy(zoneName);
  if (zone === undefined) throw hubError('unknown_zone', { path: 'zone_id', found: show(zoneName) });
  const names = new Set([zone.id, ...(zone.foreign_id == null ? [] : [zone.foreign_id])].map(idKey));
  const plane = zoneTransform(zone);
  return entities.list('anchor').flatMap((anchor): WalkPoint[] => {
    if (anchor.zone_id == null || !names.has(idKey(anchor.zone_id))) return [];
    const { local_position: local, georeferenced_position: global } = anchor;
    const at: [number, number] = [Number.NaN, Number.NaN];
    if (global == null && local != null)
      plane?.toWgs84(local.coordinates[0] as number, local.coordinates[1] as number, at);
    const coordinates = global?.coordinates ?? (Number.isFinite(at[0]) ? at : undefined);
    if (coordinates === undefined) return [];
    const position = { type: 'Point' as const, coordinates: [...coordinates] };
    return [{ id: anchor.id, position, ...(zone.floor != null && { floor: zone.floor }) }];
  });
}

/** Returns the figures of a test from the history, and a header if rows are missing. Rejects with HUB_BAD_REQUEST. */
async function resultOf(test: WalkTest, hub: ApiDeps, { client, by }: ApiCall) {
  const history = recorded(hub);
  const toMs = test.ended_at == null ? history.now() : parseTime(test.ended_at);
  const fromMs = test.started_at == null ? toMs : Math.min(parseTime(test.started_at), toMs);
  const isTrackable = test.object_type === 'trackable';
  const answer = await history.ask(
    {
      ask: 'places',
      whose: isTrackable ? 'motions' : 'locations',
      id: recordedId(isTrackable ? 'trackable' : 'provider', test.object_id, hub),
      // A span excludes its end.
      ...{ fromMs, toMs: toMs + 1, stepMs: undefined, limit: FIXES_MAX, cursor: undefined },
      shown: { crs: 'EPSG:4326', zone: undefined, providers: undefined, hiddenZones: new Set() },
      ...{ format: 'fixes', hasHeader: false },
    },
    client.gone?.(),
    by(),
  );
  const fixes = JSON.parse(Buffer.from(answer.bytes).toString()) as readonly WalkFix[];
  if (fixes.length > FIXES_MAX) {
    throw hubError('too_many', { path: 'ended_at', limit: FIXES_MAX, unit: 'positions', found: fixes.length });
  }
  const { missingHubs = [] } = answer;
  const missing = missingHubs.length === 0 ? {} : { missing_hubs: [...missingHubs] };
  return { result: { ...missing, ...walkFigures({ test, fixes, fromMs, toMs }) }, warning: warningOf(answer) };
}

const COLUMNS = ['point_id', 'time', 'marked', 'horizontal_error', 'vertical_error', 'floor_hit'] as const;
const FIGURES = ['mean', 'rmse', 'ce50', 'ce95', 've95', 'floor_hit_rate'] as const;
const MORE_FIGURES = ['latency_p95', 'update_rate', 'availability', 'positions'] as const;

/** Returns a line for each pass, then an empty line, then a line for each figure, and for the availability per zone. */
function csvOf(result: WalkResult): string {
  const field = (value: unknown): string => (typeof value === 'string' ? quoted(guarded(value)) : String(value ?? ''));
  const lines = [
    COLUMNS.join(),
    ...result.passes.map((each) => COLUMNS.map((column) => field(each[column])).join()),
    '',
    'figure,value',
    ...[...FIGURES, ...MORE_FIGURES].map((name) => `${name},${field(result[name])}`),
    ...result.zones.map(({ source, availability }) => `${field(`availability of ${source}`)},${availability}`),
    ...result.missed.map((id) => `missed,${field(id)}`),
  ];
  return lines.map((line) => `${line}\r\n`).join('');
}

function nowOf({ events }: ApiDeps): number {
  return events.now();
}
