import { HubError } from '../errors.ts';
import type { HttpReply } from '../exchange.ts';
import type { Question } from '../history/queries/question.ts';
import type { ApiDeps, HistoryApi } from './deps.ts';
import type { Call } from './route.ts';

/** Questions about the past: whether they can be asked, and what becomes of an answer. */

/** Any may be read. */
export const READ_ANY = { operation: 'READ' } as const;

export const NOT_RECORDED = { refusals: { 404: 'The hub records no history, or not that topic.' } };

/** The history, where there is one. Throws HUB_NOT_FOUND. */
export function recorded({ history }: ApiDeps): HistoryApi {
  if (history !== undefined) return history;
  throw new HubError('HUB_NOT_FOUND', 'Cannot look into the past: the hub records no history, see the setting history');
}

type Recorded = 'trackable' | 'provider' | 'fence';

/** The id that something is recorded by: files compare UUIDs with regard to case, and nothing else does. */
export function recordedId(kind: Recorded, id: string, { entities }: ApiDeps): string {
  return entities.get(kind, id)?.id ?? id;
}

/** What a list is to be limited to; undefined for all. */
export function ownedIds(kind: Recorded, { owned }: Call, api: ApiDeps): readonly string[] | undefined {
  return owned?.all(`${kind}_id`).map((id) => recordedId(kind, id, api));
}

interface Asking {
  readonly history: HistoryApi;
  readonly question: Question;
  /** Of the answer. */
  readonly mediaType: string;
}

/** Asks, and says where the next part is, and whether something is missing. */
export async function replied(call: Call, { history, question, mediaType }: Asking): Promise<HttpReply> {
  const { bytes, next, damaged } = await history.ask(question, call.client.gone?.());
  const answer = call.reply.json(bytes);
  const links = next === undefined ? {} : { Link: `<${addressOf(call, next)}>; rel="next"` };
  const missing = damaged === 0 ? {} : { Warning: `199 hub "${damaged} files of these hours cannot be read"` };
  return { ...answer, headers: { ...answer.headers, 'Content-Type': mediaType, ...links, ...missing } };
}

/** The address of a list as it was asked for, without a cursor or with another one. */
export function addressOf({ path, query }: Call, cursor?: string): string {
  const given = Object.entries(query as object).filter(([name]) => name !== 'cursor');
  const parameters = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
  if (cursor !== undefined) parameters.set('cursor', cursor);
  return parameters.size === 0 ? path : `${path}?${parameters}`;
}
