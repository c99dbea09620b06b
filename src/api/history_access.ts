import { hubError } from '../errors.ts';
import { timingOfFence, timingOfObject } from '../core/fence/timing.ts';
import type { ReplyBody, HttpReply } from '../exchange.ts';
import { type Cursor, cursorOf } from '../history/queries/cursor.ts';
import type { HistoryAnswer } from '../history/queries/query_pool.ts';
import type { PositionsQuery, HistoryQuery, Timeouts } from '../history/queries/query.ts';
import type { Author } from '../model/audit.ts';
import type { ApiDeps, HistoryApi } from './deps.ts';
import type { ApiCall } from './route.ts';

/** History queries in the API: access checks and replies. */

/** Requires permission to read any. */
export const READ_ANY = { operation: 'READ' } as const;

export const NOT_RECORDED = { refusals: { 404: 'The hub records no history, or not that topic.' } };

/** The history. Throws HUB_NOT_FOUND if it is off. */
export function recorded({ history }: ApiDeps): HistoryApi {
  if (history !== undefined) return history;
  throw hubError('no_history');
}

type Recorded = 'trackable' | 'provider' | 'fence';

/** The recorded spelling of an id: history files compare UUIDs case-sensitively, unlike everything else. */
export function recordedId(kind: Recorded, id: string, { entities }: ApiDeps): string {
  return entities.get(kind, id)?.id ?? id;
}

/**
 * The recorded id of an object in the path. Rejects with HUB_NOT_FOUND if there is neither such an entity nor a record
 * of it.
 */
export async function knownId(kind: Recorded, { id, client }: ApiCall, api: ApiDeps): Promise<string> {
  const known = api.entities.get(kind, id)?.id;
  if (known !== undefined) return known;
  const { bytes, missingHubs = [] } = await recorded(api).ask({ ask: 'known', kind, id }, client.gone?.());
  // A hub that did not reply may have records: the reply says that its rows are missing.
  if (Buffer.from(bytes).toString() === 'true' || missingHubs.length > 0) return id;
  throw hubError('not_recorded', { kind, id });
}

/** Current fence timeouts of entities, which end visits without an exit. */
export function timeoutsIn({ entities }: ApiDeps): Timeouts {
  const set = (list: readonly { readonly id: string }[], timeoutOf: (entity: never) => number | undefined) =>
    new Map(
      list.flatMap((entity) => {
        const timeout = timeoutOf(entity as never);
        // Both 0 and -1 are infinite.
        return timeout === undefined ? [] : [[entity.id, timeout > 0 ? timeout : Number.POSITIVE_INFINITY] as const];
      }),
    );
  return {
    fences: set(entities.list('fence'), (fence) => timingOfFence(fence).fenceTimeout),
    trackables: set(entities.list('trackable'), (trackable) => timingOfObject(trackable).fenceTimeout),
    providers: set(entities.list('provider'), (provider) => timingOfObject(provider).fenceTimeout),
  };
}

/** Ids of the owned objects, as recorded; undefined if the call may list all. */
export function ownedIds(kind: Recorded, { owned }: ApiCall, api: ApiDeps): readonly string[] | undefined {
  return owned?.all(`${kind}_id`).map((id) => recordedId(kind, id, api));
}

interface Asking {
  readonly history: HistoryApi;
  readonly question: HistoryQuery;
  /** Media type of the answer. */
  readonly mediaType: string;
}

interface AskingPlaces extends Asking {
  readonly question: PositionsQuery;
}

/** Runs a query, and adds the link to the next page and warnings about missing rows. */
export async function replied(call: ApiCall, { history, question, mediaType }: Asking): Promise<HttpReply> {
  const answer = await history.ask(question, call.client.gone?.(), call.by());
  const { bytes, missingHubs = [] } = answer;
  const body = mediaType.includes('json') && missingHubs.length > 0 ? namingMissing(bytes, missingHubs) : bytes;
  return answered(call, { ...answer, mediaType, body });
}

/** Positions fetched at once for a streamed reply. */
const STREAMED_AT_ONCE = 50_000;

/**
 * Streams the whole list as CSV. Each part is fetched after the client has read the previous ones, so only one is in
 * memory. Fetching stops when the client disconnects. The connection is closed if a part fails, or lacks files or hubs
 * that the header does not name.
 */
export async function streamed(call: ApiCall, { history, question, mediaType }: AskingPlaces): Promise<HttpReply> {
  const gone = call.client.gone?.();
  const ask = (cursor: Cursor | undefined, hasHeader: boolean, by?: Author) =>
    history.ask({ ...question, cursor, hasHeader, limit: STREAMED_AT_ONCE }, gone, by);
  const first = await ask(question.cursor, true, call.by());
  const body = first.next === undefined ? first.bytes : { parts: parts() };
  return answered(call, { ...first, next: undefined, mediaType, body });

  async function* parts(): AsyncGenerator<Uint8Array> {
    yield first.bytes;
    for (let { next } = first; next !== undefined; ) {
      const part = await ask(cursorOf('places', next), false);
      if (part.damaged > first.damaged) throw new Error('A file of the history cannot be read');
      const missing = part.missingHubs?.find((hub) => first.missingHubs?.includes(hub) !== true);
      if (missing !== undefined) throw new Error(`The rows of hub ${missing} are missing`);
      yield part.bytes;
      ({ next } = part);
    }
  }
}

interface Answered extends Pick<HistoryAnswer, 'next' | 'damaged' | 'missingHubs'> {
  readonly mediaType: string;
  readonly body: ReplyBody;
}

function answered(call: ApiCall, { next, mediaType, body, ...lacking }: Answered): HttpReply {
  const answer = call.reply.json(body);
  const links = next === undefined ? {} : { Link: `<${addressOf(call, next)}>; rel="next"` };
  const warning = warningOf(lacking);
  return { ...answer, headers: { ...answer.headers, 'Content-Type': mediaType, ...links, ...warning } };
}

/** Warning header about incomplete answers. */
export function warningOf({ damaged, missingHubs = [] }: Pick<HistoryAnswer, 'damaged' | 'missingHubs'>): {
  readonly Warning?: string;
} {
  const lacks = [
    ...(damaged === 0 ? [] : [`${damaged} files of these hours cannot be read`]),
    ...missingHubs.map((hub) => `hub ${hub.replaceAll(/[^ -~]|["\\\\]/g, '?')} has not answered, its rows are missing`),
  ];
  return lacks.length === 0 ? {} : { Warning: lacks.map((text) => `199 hub "${text}"`).join(', ') };
}

/** A JSON object with the names of hubs whose rows are missing, before its own members. */
function namingMissing(bytes: Uint8Array, missingHubs: readonly string[]): Uint8Array {
  return Buffer.concat([Buffer.from(`{"missing_hubs":${JSON.stringify(missingHubs)},`), bytes.subarray(1)]);
}

/** The URL of a list as requested, without a cursor or with another one. */
export function addressOf({ path, query }: ApiCall, cursor?: string): string {
  const given = Object.entries(query as object).filter(([name]) => name !== 'cursor');
  const parameters = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  if (cursor !== undefined) parameters.set('cursor', cursor);
  return parameters.size === 0 ? path : `${path}?${parameters}`;
}
