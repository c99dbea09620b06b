import type { ErrorReason } from '../../reasons.ts';
import { signal as value } from '@preact/signals';
import { unsupportedReason } from '../../model/json.ts';
import { pointerOf } from '../../model/json_tree.ts';
import { parseLossless } from '../../model/lossless_numbers.ts';
import { t } from '../languages/language.ts';
import { loadMessages, pathLabel, sentenceOf } from '../problems/sentences.ts';
import { accessToken, renewAccess } from './access.ts';
import { API_PATH } from './api_path.ts';
import type { Entities, Kind } from './entity_kinds.ts';
import { isTransient, pause, backoffMs } from './retry.ts';

/** Reason for which a request failed. */
export interface FailedRequest extends Partial<ErrorReason> {
  readonly message: string;
}

/** Error of a request that the hub rejected or that did not reach it. */
export class RequestError extends Error {
  /** HTTP status; 0 without a response. */
  readonly status: number;
  /** The invalid field, such as `region.coordinates[0]`. */
  readonly field: string | undefined;
  /** Error sentence to show at the field. */
  readonly reason: string;
  /** The invalid value, as JSON. */
  readonly found: string | undefined;
  /** Column of an expression at which it is invalid, from 1. */
  readonly column: number | undefined;

  /** `error` has a message, and the reason if the hub sent one. */
  constructor(status: number, error: FailedRequest, options?: ErrorOptions) {
    const { path, found, column } = error.params ?? {};
    const field = path === undefined ? undefined : String(path);
    const reason = sentenceOf(error);
    super(field === undefined ? reason : t('{label}: {text}', { label: pathLabel(field), text: reason }), options);
    this.name = 'RequestError';
    this.status = status;
    this.field = field;
    this.reason = reason;
    this.found = found === undefined ? undefined : String(found);
    this.column = typeof column === 'number' ? column : undefined;
  }
}

/** Creates the error of a value that the page itself rejects. */
export function problemError({ reason, params }: ErrorReason): RequestError {
  return new RequestError(400, { message: '', reason, params });
}

/**
 * Error of a patch that changes a region in a plane other than the stored one, in which its coordinates have another meaning.
 */
export class OtherPlaneError extends Error {
  /** Stored plane. */
  readonly stored: string;

  constructor(stored: string, options?: ErrorOptions) {
    super(t('It is stored in {kept}', { kept: stored }), options);
    this.name = 'OtherPlaneError';
    this.stored = stored;
  }
}

/** Returns the message for a field, including errors inside it: `region` also gets the error of `region.coordinates[0]`. */
export function errorAt(error: unknown, field: string): string | undefined {
  if (!(error instanceof RequestError) || error.field === undefined) return undefined;
  if (error.field === field) return error.reason;
  return error.field.startsWith(`${field}.`) || error.field.startsWith(`${field}[`) ? error.message : undefined;
}

/** Returns the column at which the expression in a field is invalid, from 1. */
export function columnAt(error: unknown, field: string): number | undefined {
  return error instanceof RequestError && error.field === field ? error.column : undefined;
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** Number of reads that wait for a retry because no hub has responded. */
export const waitingReads = value(0);

/** Time limit for retries of a read: longer than a failover takes. */
const TRY_MS = 15_000;

interface RequestOptions {
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
  /** Fails without retries, for callers that poll anyway. */
  readonly isOnce?: boolean;
  /** Called with the hub's warning about an incomplete response. */
  readonly onWarning?: (warning: string) => void;
}

/**
 * Sends a request to the API. `path` omits the version, and its ids are encoded. Returns the parsed body, or undefined if
 * it is empty. Throws a RequestError. Reads are retried for a while if no hub responds. Writes are not, since they may
 * have been applied: the user decides.
 */
export async function request<T>(
  method: Method,
  path: string,
  { query, ...options }: RequestOptions & { readonly query?: Query } = {},
): Promise<T> {
  const text = await sendWithRetry(method, `${API_PATH}${path}${queryText(query)}`, options);
  return (text === '' ? undefined : JSON.parse(text)) as T;
}

/** Returns the raw body of a response, from a path below the hub's origin. Throws a RequestError. */
export function getText(
  path: string,
  options: Pick<RequestOptions, 'isOnce' | 'signal' | 'onWarning'> = {},
): Promise<string> {
  return sendWithRetry('GET', path, options);
}

async function sendWithRetry(method: Method, url: string, options: RequestOptions): Promise<string> {
  const { signal, isOnce = method !== 'GET' } = options;
  // JSON.stringify writes null for an infinite number.
  const unsupported = options.body === undefined ? undefined : unsupportedReason(options.body);
  if (unsupported !== undefined) {
    await loadMessages();
    throw problemError(unsupported);
  }
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
      throw new RequestError(0, { message: t('The hub cannot be reached') }, { cause });
    }
  };
  let [response, text] = await send();
  if (response.status === 401 && (await renewAccess())) [response, text] = await send();
  if (!response.ok) {
    await loadMessages();
    throw errorOf(response, text);
  }
  const warning = response.headers.get('Warning');
  if (warning !== null) onWarning?.(warning);
  return text;
}

export function get<T>(path: string, query?: Query): Promise<T> {
  return request<T>('GET', path, query === undefined ? {} : { query });
}

/** Partial entity. The hub generates an id if it has none. */
export type Draft<K extends Kind> = Partial<Entities[K]>;

/** All entities of a kind. */
export function listEntities<K extends Kind>(kind: K): Promise<readonly Entities[K][]> {
  return get(`/${kind}/summary`);
}

/** Lists entities with every digit of the numbers in properties and sensors, which may exceed JavaScript numbers. */
export async function listExactly<K extends Kind>(
  kind: K,
  query?: { readonly crs: string; readonly zone_id: string },
): Promise<readonly Entities[K][]> {
  return parseLossless(await getText(`${API_PATH}/${kind}/summary${queryText(query)}`)) as readonly Entities[K][];
}

/** Creates an entity and returns the stored version. */
export function createEntity<K extends Kind>(kind: K, draft: Draft<K>): Promise<Entities[K]> {
  return request('POST', `/${kind}`, { body: draft });
}

/** Replaces an entity; omitted members are removed. */
export async function replaceEntity<K extends Kind>(kind: K, entity: Entities[K]): Promise<void> {
  await request('PUT', entityPath(kind, entity.id), { body: entity });
}

/**
 * Patches only the members that differ between two versions of an entity. Responses may have other members in a form that
 * differs from the stored one, such as a region in the meters of a zone. Throws an OtherPlaneError if the region is stored in
 * another plane, unless `alsoPlane` changes the plane as well.
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
      const stored = error.found?.startsWith('"') === true ? (JSON.parse(error.found) as string) : t('another plane');
      throw new OtherPlaneError(stored, { cause: error });
    }
    throw error;
  }
}

/**
 * Returns the JSON Patch operations that turn one value into another. Objects are patched per member, since the page may
 * lack digits of the other members.
 */
function changes(path: string, old: unknown, next: unknown): readonly object[] {
  if (JSON.stringify(old) === JSON.stringify(next)) return [];
  if (!isObject(old) || !isObject(next)) return setting(path, next);
  const names = new Set([...Object.keys(old), ...Object.keys(next)]);
  return [...names].flatMap((name) => changes(path + pointerOf(name), old[name], next[name]));
}

function setting(path: string, value: unknown): readonly object[] {
  if (value !== undefined) return [{ op: 'add', path, value }];
  // The member may be shown but not stored, and `remove` requires that it exists.
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

/** API path of an entity, without the version. */
export function entityPath(kind: Kind, id: string): string {
  return `/${kind}/${encodeURIComponent(id)}`;
}

/** Formats a query string with its `?`; empty without values. */
export function queryText(query: Query | undefined): string {
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== undefined);
  if (given.length === 0) return '';
  return `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}

function errorOf({ status, statusText }: Response, text: string): RequestError {
  try {
    const body = JSON.parse(text) as FailedRequest;
    if (typeof body.message === 'string') return new RequestError(status, body);
  } catch {
    // The response comes from a proxy, not from the hub.
  }
  return new RequestError(status, {
    message: t('The hub answered {status} {statusText}', { status, statusText }).trim(),
  });
}
