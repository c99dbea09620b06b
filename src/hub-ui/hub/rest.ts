import { signal as value } from '@preact/signals';
import { unsupportedReason } from '../../model/json.ts';
import { pointerOf } from '../../model/json_tree.ts';
import { parseLossless } from '../../model/lossless_numbers.ts';
import { t } from '../languages/language.ts';
import { partsOf, placeOf } from '../problems/sentences.ts';
import { accessToken, renewAccess } from './access.ts';
import { API_PATH } from './api_path.ts';
import type { Entities, Kind } from './entity_kinds.ts';
import { isTransient, pause, backoffMs } from './retry.ts';

/** A request that the hub refused, or that did not reach it. */
export class RequestError extends Error {
  /** HTTP status; 0 when there was no answer. */
  readonly status: number;
  /** The field that the message names, such as `region.coordinates[0]`. */
  readonly field: string | undefined;
  /** What is wrong, as a sentence that stands beside the field. */
  readonly reason: string;
  /** The message as the hub has sent it. */
  readonly hubMessage: string;

  /** `told` names a field and what is wrong with it; the message is a sentence that says the same. */
  constructor(status: number, hubMessage: string, options?: ErrorOptions) {
    const { field, reason } = partsOf(hubMessage);
    super(field === undefined ? reason : `${placeOf(field)}: ${reason}`, options);
    this.name = 'RequestError';
    this.status = status;
    this.field = field;
    this.reason = reason;
    this.hubMessage = hubMessage;
  }
}

/** A region was to be changed in another plane than it is kept in: there its numbers would mean other places. */
export class OtherPlaneError extends Error {
  /** The plane that it is kept in. */
  readonly kept: string;

  constructor(kept: string, options?: ErrorOptions) {
    super(t('It is kept in {kept}', { kept }), options);
    this.name = 'OtherPlaneError';
    this.kept = kept;
  }
}

/** The message for a field, or for one inside it: `region` gets that of `region.coordinates[0]`, too. */
export function errorAt(error: unknown, field: string): string | undefined {
  if (!(error instanceof RequestError) || error.field === undefined) return undefined;
  if (error.field === field) return error.reason;
  return error.field.startsWith(`${field}.`) || error.field.startsWith(`${field}[`) ? error.message : undefined;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** How many reads wait until they are asked again, since no hub has answered them. */
export const waitingReads = value(0);

/** For how long a read is tried again: longer than a cluster is without an owner. */
const TRY_MS = 15_000;

interface RequestOptions {
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  /** Whether to fail at once, as is right where the caller asks again anyway. */
  readonly isOnce?: boolean;
  /** Told what the hub says of an answer that lacks something. */
  readonly onWarning?: (warning: string) => void;
}

/**
 * One request to the API. Paths are below the version, with ids already encoded. Returns the body of the answer, or
 * undefined when there is none. Throws a RequestError. What only reads is tried again for a while where no hub answers;
 * of a change nobody would know whether it was made, so that is for the user to repeat.
 */
export async function request<T>(
  method: Method,
  path: string,
  { query, ...options }: RequestOptions & { readonly query?: Query } = {},
): Promise<T> {
  const text = await sendWithRetry(method, `${API_PATH}${path}${queryText(query)}`, options);
  return (text === '' ? undefined : JSON.parse(text)) as T;
}

/** The body of an answer as it is, from a path below the hub's origin. Throws a RequestError. */
export function getText(
  path: string,
  options: Pick<RequestOptions, 'isOnce' | 'signal' | 'onWarning'> = {},
): Promise<string> {
  return sendWithRetry('GET', path, options);
}

async function sendWithRetry(method: Method, url: string, options: RequestOptions): Promise<string> {
  const { signal, isOnce = method !== 'GET' } = options;
  // JSON.stringify would write null for a number that is too large.
  const unsupported = options.body === undefined ? undefined : unsupportedReason(options.body);
  if (unsupported !== undefined) throw new RequestError(400, unsupported);
  const beganMs = Date.now();
  for (let attempt = 1; ; attempt++) {
    try {
      return await sendOnce(method, url, options);
    } catch (error) {
      const waitMs = backoffMs(attempt, Math.random);
      const isLast = isOnce || Date.now() + waitMs - beganMs > TRY_MS;
      if (isLast || !(error instanceof RequestError) || !isTransient(error.status)) throw error;
      waitingReads.value++;
      await pause(waitMs, signal).finally(() => waitingReads.value--);
    }
  }
}

async function sendOnce(method: Method, url: string, { body, signal, onWarning }: RequestOptions): Promise<string> {
  const send = async (): Promise<[Response, string]> => {
    const headers: Record<string, string> = {};
    if (accessToken.peek() !== undefined) headers['Authorization'] = `Bearer ${accessToken.peek()}`;
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    try {
      const sent = body === undefined ? null : JSON.stringify(body);
      const response = await fetch(url, { method, headers, body: sent, signal: signal ?? null });
      return [response, await response.text()];
    } catch (cause) {
      if (signal?.aborted) throw cause;
      throw new RequestError(0, t('The hub cannot be reached'), { cause });
    }
  };
  let [response, text] = await send();
  if (response.status === 401 && (await renewAccess())) [response, text] = await send();
  if (!response.ok) throw errorOf(response, text);
  const warning = response.headers.get('Warning');
  if (warning !== null) onWarning?.(warning);
  return text;
}

export function get<T>(path: string, query?: Query): Promise<T> {
  return request<T>('GET', path, query === undefined ? {} : { query });
}

/** A draft of an entity: without id the hub makes one. */
export type Draft<K extends Kind> = Partial<Entities[K]>;

/** All entities of a kind. */
export function listEntities<K extends Kind>(kind: K): Promise<readonly Entities[K][]> {
  return get(`/${kind}/summary`);
}

/** The same with every digit of their properties and sensors, which JavaScript numbers may not hold. */
export async function listExactly<K extends Kind>(
  kind: K,
  query?: { readonly crs: string; readonly zone_id: string },
): Promise<readonly Entities[K][]> {
  return parseLossless(await getText(`${API_PATH}/${kind}/summary${queryText(query)}`)) as readonly Entities[K][];
}

/** Creates an entity; returns it as it is kept. */
export function createEntity<K extends Kind>(kind: K, draft: Draft<K>): Promise<Entities[K]> {
  return request('POST', `/${kind}`, { body: draft });
}

/** Replaces an entity as a whole: members that are left out are gone. */
export async function replaceEntity<K extends Kind>(kind: K, entity: Entities[K]): Promise<void> {
  await request('PUT', entityPath(kind, entity.id), { body: entity });
}

/**
 * Changes the members in which an entity differs from what it was, and leaves all others as they are in the hub: also
 * those that replies show in another form than they are kept in, such as a region in the meters of a zone. A region is
 * changed in the plane that it is kept in, or an OtherPlaneError is thrown; `alsoPlane` changes the plane with it.
 */
export async function patchEntity<K extends Kind>(
  kind: K,
  id: string,
  {
    before,
    after,
    alsoPlane = false,
  }: { readonly before: Draft<K>; readonly after: Draft<K>; readonly alsoPlane?: boolean },
): Promise<void> {
  const [old, next] = [before, after] as readonly [
    Readonly<Record<string, unknown>>,
    Readonly<Record<string, unknown>>,
  ];
  const isSame = (name: string): boolean => JSON.stringify(old[name]) === JSON.stringify(next[name]);
  const names = new Set([...Object.keys(old), ...Object.keys(next)]);
  const operations = [...names].flatMap((name): readonly object[] => {
    const path = pointerOf(name);
    if (alsoPlane && name === 'crs') return setting(path, next[name]);
    if (name === 'properties') return changes(path, old[name], next[name]);
    return isSame(name) ? [] : setting(path, next[name]);
  });
  const isGuarded = !alsoPlane && !isSame('region') && isSame('crs') && old['crs'] !== undefined;
  if (isGuarded) operations.unshift({ op: 'test', path: '/crs', value: old['crs'] });
  if (operations.length === 0) return;
  try {
    await request('PATCH', entityPath(kind, id), { body: operations });
  } catch (error) {
    if (isGuarded && error instanceof RequestError && error.field?.startsWith('patch[0].')) {
      throw new OtherPlaneError(/found "([^"]+)"$/.exec(error.hubMessage)?.[1] ?? t('another plane'), { cause: error });
    }
    throw error;
  }
}

/**
 * The operations that change one value into another: inside objects those of the members that differ, since the page may
 * not have the others to the last digit.
 */
function changes(path: string, old: unknown, next: unknown): readonly object[] {
  if (JSON.stringify(old) === JSON.stringify(next)) return [];
  if (!isObject(old) || !isObject(next)) return setting(path, next);
  const names = new Set([...Object.keys(old), ...Object.keys(next)]);
  return [...names].flatMap((name) => changes(path + pointerOf(name), old[name], next[name]));
}

function setting(path: string, value: unknown): readonly object[] {
  if (value !== undefined) return [{ op: 'add', path, value }];
  // What is shown may not be kept, and only what is there can be removed.
  return [
    { op: 'add', path, value: null },
    { op: 'remove', path },
  ];
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export async function deleteEntity(kind: Kind, id: string): Promise<void> {
  await request('DELETE', entityPath(kind, id));
}

/** Path of an entity below the version. */
export function entityPath(kind: Kind, id: string): string {
  return `/${kind}/${encodeURIComponent(id)}`;
}

/** A query as it stands behind a path; nothing where it has no values. */
export function queryText(query: Query | undefined): string {
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined);
  if (given.length === 0) return '';
  return `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}

function errorOf({ status, statusText }: Response, text: string): RequestError {
  try {
    const { message } = JSON.parse(text) as { readonly message?: unknown };
    if (typeof message === 'string') return new RequestError(status, message);
  } catch {
    // Not from the hub itself, but from a proxy before it.
  }
  return new RequestError(status, t('The hub answered {status} {statusText}', { status, statusText }).trim());
}
