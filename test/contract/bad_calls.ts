import assert from 'node:assert/strict';
import { ROUTES } from '../../src/api/routes/routes.ts';
import type { TestReply } from '../support/running_hub.ts';
import { filled, IDS, UNKNOWN_ID } from './world.ts';

/** A request that differs from a valid one in a single detail, and the expected error. */
export interface BadCall {
  readonly what: string;
  readonly status: 400 | 404 | 405 | 412;
  /** Start of the message. */
  readonly names: string;
  readonly method?: string;
  readonly path?: string;
  readonly query?: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Endpoints that accept an unknown id, with the reason. */
export const TAKES_UNKNOWN: Readonly<Record<string, string>> = {
  'GET /cluster/owners/{provider_id}': 'any provider has an owner, also before its first location',
  'PUT /providers/{provider_id}/location': 'the location creates its provider',
  'PUT /providers/{provider_id}/proximity': 'the proximity creates its provider',
};

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const BROKEN = '%E0%A4';

/** A method that the path does not support. */
export function badMethod(path: string): BadCall {
  const own = ROUTES.filter((route) => route.path.replaceAll(/:(\w+)/g, '{$1}') === path);
  const method = METHODS.find((name) => own.every((route) => route.method !== name));
  assert.ok(method, `${path} has every method`);
  return { what: 'another method', status: 405, names: 'Cannot', method };
}

/** Conditions of a write that is for another version, and one that is invalid. */
export function badConditions(title: string): BadCall[] {
  if (etagUseOf(title) !== 'write') return [];
  const another = { what: 'an ETag of another version', status: 412, names: 'Cannot' } as const;
  const invalid = { what: 'an invalid ETag', status: 400, names: 'If-Match' } as const;
  return [
    // What a DELETE names is gone when bad calls are made: see test/api/etags.test.ts.
    ...(title.startsWith('DELETE') ? [] : [{ ...another, headers: { 'If-Match': '"another"' } }]),
    { ...invalid, headers: { 'If-Match': 'another' } },
  ];
}

/** How an endpoint uses ETags. */
export function etagUseOf(title: string): 'read' | 'write' | 'create' | undefined {
  return ROUTES.find(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}` === title)?.etag;
}

/** Ids of nothing, and a malformed one. `body` contains none of the ids. */
export function badPaths(title: string, path: string, body: unknown): BadCall[] {
  if (!path.includes('{')) return [];
  const ids = Object.fromEntries(Object.keys(IDS).map((name) => [name, UNKNOWN_ID]));
  const unknown = { what: 'an unknown id', status: 404, names: 'Cannot', path: filled(path, ids), body } as const;
  const broken = { what: 'a broken id', status: 400, names: 'path', path: path.replace(/\{\w+\}/, BROKEN) } as const;
  return title in TAKES_UNKNOWN ? [broken] : [unknown, broken];
}

/** Invalid values of a parameter. */
export function badQueries(name: string): BadCall[] {
  const broken = { what: `a broken ${name}`, status: 400, names: 'query', query: `?${name}=${BROKEN}` } as const;
  // Any string may be the name of an object.
  if (name === 'foreign_id') return [broken];
  // `zone_id` matters only for positions in local coordinates.
  const more = name === 'zone_id' ? 'crs=local&' : '';
  return [broken, { what: `a bad ${name}`, status: 400, names: name, query: `?${more}${name}=bad` }];
}

const NO_JSON = ['', '{', 'no', '{"a":}', '\u0000'];
/** JSON that is no valid body. Sensors accept any JSON value. */
const NO_ENTITY = [true, 7, 'text', null, { type: 7, properties: 'none' }];

/**
 * Strings that are not JSON, and JSON that is no valid body. The validator of rules accepts any string, so its messages
 * start differently.
 */
export function badBodies(title: string, good: unknown): BadCall[] {
  // Errors of JSON-RPC requests are returned with status 200: see rpc.test.ts.
  if (title === 'PUT /rpc') return [];
  // The format of a payload is that of its source: see test/e2e/data_sources.test.ts.
  if (title.endsWith('/data')) return [];
  const isRule = title === 'POST /validator/rules/locating';
  const texts = NO_JSON.map((body) => bad(`the text ${JSON.stringify(body)}`, body, isRule ? '' : 'body'));
  if (title.endsWith('/sensors')) return texts;
  const values: readonly unknown[] = [...NO_ENTITY, ...(Array.isArray(good) ? [[{}]] : [])];
  const entities = isRule ? values.filter((value) => value !== 7) : values;
  return [...texts, ...entities.map((value) => bad(JSON.stringify(value), JSON.stringify(value), ''))];
}

export function bad(what: string, body: unknown, names: string): BadCall {
  return { what, status: 400, names, body };
}

/** Patterns of error types, which have different names in v1. */
const TYPES: Readonly<Record<string, RegExp>> = { v1: /^(bad request|not found)$/ };
const VENDOR_TYPES = /^com\.flowcate\.(http|license)\.\w+$/;

/** An endpoint in a version; an empty string for paths without version. */
interface Versioned {
  readonly version: string;
  readonly title: string;
}

/** Fails unless the reply is the error that the bad call expects. */
export function assertRefused(asked: Versioned, { what, status, names }: BadCall, reply: TestReply): void {
  const title = `${asked.version} ${asked.title}`;
  assert.equal(reply.status, status, `${title} with ${what}: ${reply.status} ${reply.text}`);
  const { type, code, message } = reply.body;
  assert.equal(code, status);
  assert.match(type, TYPES[asked.version] ?? VENDOR_TYPES);
  assert.ok(message.length > 10, reply.text);
  assert.ok(message.startsWith(names), `${title} with ${what}: ${message} does not name ${names}`);
  if (status === 405) assert.match(reply.headers.allow ?? '', /OPTIONS$/);
}
