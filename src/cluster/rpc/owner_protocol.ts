import { Packr, RESET_BUFFER_MODE } from 'msgpackr';
import type { Query } from '../../core/item.ts';
import { type ErrorCode, HubError, isErrorCode } from '../../errors.ts';
import { type Borrowed, lend, look } from '../../model/borrowed.ts';
import type { CountedRun } from '../../wire/received_run.ts';

/**
 * Messages between an ingress hub and the owner of its objects.
 *
 * Locations, on `<name>.in.<incarnation of the owner>`:
 *
 *     0  u8 version      4  u32 bytes of the records      8  the records of all runs
 *        then msgpack of [applied, ingress, number, [[names, bytes, count] of each run], version,
 *        [[owner, number] of each request with which they were sent before]]
 *
 * Little-endian. The metadata follows the records, so that these are sent from the buffer in which they were collected.
 *
 * Other requests, on `<name>.ask.<incarnation>`, are msgpack of [VERSION, applied, ingress, number, part, kind, argument,
 * version]. If an answer is larger than a message, each of its parts is requested. Every answer is msgpack of
 * [VERSION, at, …]. Fields that the previous release does not send are at the end, and may be missing.
 */
const VERSION = 2;
const RECORD_BYTES_AT = 4;
export const RECORDS_AT = 8;

/** Head of every request. */
export interface RequestHead {
  /** Configuration that the sender has applied; the receiver must have applied it too. */
  readonly applied: number;
  /** Member id of the ingress hub. */
  readonly ingress: string;
  /** Number of the request at its ingress hub; a repeated one has the same. */
  readonly number: number;
  /** Ownership version by which the request was routed: see ownership.ts; undefined for a request to a certain hub. */
  readonly version: number | undefined;
}

/** Head of a request with locations. */
export interface ForwardHead extends RequestHead {
  /** Earlier requests with the same locations, to members that are removed now, and may have recorded some of them. */
  readonly sentBefore: readonly SentRequest[];
}

/** A request to an owner. */
export interface SentRequest {
  /** Member id. */
  readonly owner: string;
  readonly number: number;
}

/** Locations for their owner. */
export interface ForwardRequest extends ForwardHead {
  /** Parts of the message. */
  readonly runs: readonly CountedRun[];
}

/** Other requests to an owner. */
export type OwnerQuery =
  | { readonly kind: 'read'; readonly argument: Query }
  /** Deletes locations of providers. */
  | { readonly kind: 'forget'; readonly argument: readonly string[] }
  /** Requests the state that was released because of a record of the configuration log. */
  | { readonly kind: 'released'; readonly argument: number }
  /** Waits until the shards are idle. */
  | { readonly kind: 'settle'; readonly argument: null };

export type AskRequest = RequestHead & OwnerQuery & { /** From 0. */ readonly part: number };

/**
 * Outcome of a request. `done`: the locations are processed and journaled. `part`: one part of an answer. `working`: the
 * outcome is not known yet, and the request must be repeated. `gone`: this answer has been dropped. `busy`: nothing was taken,
 * and a retry may succeed. `moved`: the receiver does not serve all objects of the request; `isUntouched`: nor has it processed
 * part of it before. `failed`: it cannot be done.
 */
export type OwnerReply =
  | { readonly at: 'done' | 'busy' | 'working' | 'gone' }
  | { readonly at: 'part'; readonly parts: number; readonly bytes: Uint8Array }
  | { readonly at: 'moved'; readonly applied: number; readonly isUntouched: boolean }
  | { readonly at: 'failed'; readonly error: HubError };

/** A request or an answer is malformed or of another version. */
export class OwnerMessageError extends Error {
  override name = 'DoorMessageError';
}

// Plain lists and values only: neither records of msgpackr, which define structures inline, nor toJSON.
const packr = new Packr({ useRecords: false, useToJSON: false, int64AsType: 'number' });

/** A run that follows the previous ones in the message. */
export interface RunOutline extends Pick<CountedRun, 'names' | 'count'> {
  readonly bytes: number;
}

/** Packs the part after the records of a request. Valid until the next packing. */
export function packTail(head: ForwardHead, runs: readonly RunOutline[]): Borrowed {
  const { applied, ingress, number, sentBefore, version } = head;
  const outlines = runs.map(({ names, bytes, count }) => [names, bytes, count]);
  const earlier = sentBefore.map((request) => [request.owner, request.number]);
  return lend(packr.pack([applied, ingress, number, outlines, version, earlier], RESET_BUFFER_MODE));
}

/** Writes the part before the records. */
export function writeForwardHead(view: DataView, recordBytes: number): void {
  view.setUint32(0, VERSION, true);
  view.setUint32(RECORD_BYTES_AT, recordBytes, true);
}

/** Reads a request with locations. Its records are not checked: see checkRun. Throws a OwnerMessageError. */
export function unpackForward(bytes: Uint8Array): ForwardRequest {
  const what = 'Cannot read locations of another hub';
  if (bytes.length < RECORDS_AT) throw new OwnerMessageError(`${what}: ${bytes.length} bytes are no request`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  checkVersion(what, view.getUint8(0));
  const end = RECORDS_AT + view.getUint32(RECORD_BYTES_AT, true);
  if (end > bytes.length) throw new OwnerMessageError(`${what}: ${bytes.length} bytes end within the records`);
  const [applied, ingress, number, outlines, version, earlier] = unpacked(what, bytes.subarray(end));
  if (!Array.isArray(earlier) || !earlier.every(isSentRequest)) {
    throw malformed(what, 'sentBefore', earlier, 'a list of owners and numbers');
  }
  const head = checkedHead(what, { applied, ingress, number, version });
  if (!Array.isArray(outlines)) throw malformed(what, 'runs', outlines, 'a list');
  let at = RECORDS_AT;
  const runs = outlines.map((row: unknown): CountedRun => {
    if (!isRunRow(row)) throw malformed(what, 'a run', row, 'names, a number of bytes and a number of records');
    const [names, size, count] = row;
    const start = at;
    at += size;
    if (at > end) throw malformed(what, 'bytes of a run', size, `at most ${end - start}`);
    return { names, bytes: bytes.subarray(start, at), count };
  });
  if (at !== end) throw malformed(what, 'bytes of all runs', at - RECORDS_AT, `${end - RECORDS_AT}`);
  const sentBefore = earlier.map(([owner, before]) => ({ owner, number: before }));
  return { ...head, sentBefore, runs };
}

export function packAsk({ applied, ingress, number, part, kind, argument, version }: AskRequest): Uint8Array {
  return packr.pack([VERSION, applied, ingress, number, part, kind, argument, version]);
}

/** Reads any other request. Throws a OwnerMessageError. */
export function unpackAsk(bytes: Uint8Array): AskRequest {
  const what = 'Cannot read what another hub asks';
  const [format, applied, ingress, number, part, kind, argument, version] = unpacked(what, bytes);
  checkVersion(what, format);
  const head = checkedHead(what, { applied, ingress, number, version });
  if (!isCount(part)) throw malformed(what, 'part', part, 'a whole number');
  const asked = { kind, argument };
  if (!isAsked(asked)) throw malformed(what, 'argument', argument, `what belongs to ${JSON.stringify(kind)}`);
  return { ...head, part, ...asked };
}

export function packReply(reply: OwnerReply): Uint8Array {
  switch (reply.at) {
    case 'part':
      return packr.pack([VERSION, reply.at, reply.parts, reply.bytes]);
    case 'moved':
      return packr.pack([VERSION, reply.at, reply.applied, reply.isUntouched]);
    case 'failed':
      return packr.pack([VERSION, reply.at, reply.error.code, reply.error.message]);
    default:
      return packr.pack([VERSION, reply.at]);
  }
}

/** Reads an answer; bytes in it are a copy. Throws a OwnerMessageError. */
export function unpackReply(bytes: Borrowed): OwnerReply {
  const what = 'Cannot read the answer of another hub';
  const [version, at, first, second] = unpacked(what, look(bytes));
  checkVersion(what, version);
  switch (at) {
    case 'done':
    case 'busy':
    case 'working':
    case 'gone':
      return { at };
    case 'part':
      if (!isCount(first) || first === 0) throw malformed(what, 'parts', first, 'a whole number from 1');
      if (!(second instanceof Uint8Array)) throw malformed(what, 'part', second, 'bytes');
      return { at, parts: first, bytes: new Uint8Array(second) };
    case 'moved':
      if (!isCount(first)) throw malformed(what, 'applied', first, 'a whole number');
      return { at, applied: first, isUntouched: second === true };
    case 'failed':
      return { at, error: new HubError(errorCode(first), String(second)) };
    default:
      throw malformed(what, 'at', at, 'one of done, busy, working, gone, part, moved, failed');
  }
}

/** Packs a whole answer into its own memory. */
export function packAnswer(answer: unknown): Uint8Array {
  return packr.pack(answer);
}

/** Unpacks the answer from its parts. Throws a OwnerMessageError. */
export function unpackAnswer(parts: readonly Uint8Array[]): unknown {
  const [first, ...more] = parts;
  try {
    return packr.unpack(first !== undefined && more.length === 0 ? first : Buffer.concat(parts));
  } catch (cause) {
    throw new OwnerMessageError('Cannot read the answer of another hub: its parts are not msgpack', { cause });
  }
}

function errorCode(code: unknown): ErrorCode {
  // Later versions may have more codes.
  return typeof code === 'string' && isErrorCode(code) ? code : 'HUB_INTERNAL';
}

function unpacked(what: string, bytes: Uint8Array): readonly unknown[] {
  let value: unknown;
  try {
    value = packr.unpack(bytes);
  } catch (cause) {
    throw new OwnerMessageError(`${what}: ${bytes.length} bytes are not msgpack`, { cause });
  }
  if (!Array.isArray(value)) throw malformed(what, 'it', value, 'a list');
  return value;
}

function checkVersion(what: string, version: unknown): void {
  if (version !== VERSION) throw malformed(what, 'version', version, `${VERSION}`);
}

function checkedHead(what: string, head: Record<keyof RequestHead, unknown>): RequestHead {
  const { applied, ingress, number, version } = head;
  if (!isCount(applied)) throw malformed(what, 'applied', applied, 'a whole number');
  if (typeof ingress !== 'string' || ingress === '') throw malformed(what, 'ingress', ingress, 'a string');
  if (!isCount(number)) throw malformed(what, 'number', number, 'a whole number');
  if (version === undefined || version === null) return { applied, ingress, number, version: undefined };
  if (!isCount(version)) throw malformed(what, 'ownership version', version, 'a whole number');
  return { applied, ingress, number, version };
}

function isSentRequest(row: unknown): row is readonly [owner: string, number: number] {
  return Array.isArray(row) && row.length === 2 && typeof row[0] === 'string' && isCount(row[1]);
}

function isRunRow(row: unknown): row is readonly [names: readonly string[], bytes: number, count: number] {
  return Array.isArray(row) && row.length === 3 && isTexts(row[0]) && isCount(row[1]) && isCount(row[2]);
}

function isAsked(asked: { readonly kind: unknown; readonly argument: unknown }): asked is OwnerQuery {
  switch (asked.kind) {
    case 'read':
      return isQuery(asked.argument);
    case 'forget':
      return isTexts(asked.argument);
    case 'released':
      return isCount(asked.argument);
    default:
      return asked.kind === 'settle';
  }
}

/** Required members of each query. */
const QUERY: Readonly<Record<Query['ask'], readonly ('id' | 'view' | 'spatial')[]>> = {
  provider_location: ['id', 'view'],
  provider_locations: ['view'],
  trackable_location: ['id', 'view'],
  trackable_locations: ['id', 'view'],
  trackable_motion: ['id', 'view'],
  trackable_motions: ['view'],
  fence_locations: ['id', 'spatial', 'view'],
  fence_motions: ['id', 'spatial', 'view'],
  fence_providers: ['id', 'spatial'],
  fence_trackables: ['id', 'spatial'],
  provider_fences: ['id', 'spatial'],
  trackable_fences: ['id', 'spatial'],
  stays: [],
  heard: [],
};
const MEMBERS = {
  id: (value: unknown) => typeof value === 'string',
  spatial: (value: unknown) => typeof value === 'boolean',
  view: (value: unknown) => isObject(value) && typeof value['crs'] === 'string',
} as const;

function isQuery(value: unknown): value is Query {
  if (!isObject(value) || typeof value['ask'] !== 'string' || !Object.hasOwn(QUERY, value['ask'])) return false;
  for (const list of ['only', 'fences']) if (value[list] !== undefined && !isTexts(value[list])) return false;
  return QUERY[value['ask'] as Query['ask']].every((member) => MEMBERS[member](value[member]));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string');
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

const SHOWN_MAX = 100;

function malformed(what: string, field: string, value: unknown, wanted: string): OwnerMessageError {
  const text = JSON.stringify(value) ?? 'missing';
  const shown = text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX)}…`;
  return new OwnerMessageError(`${what}: ${field} must be ${wanted}, but is ${shown}`);
}
