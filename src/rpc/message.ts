import type { HubError } from '../errors.ts';
import { bytesBeyond } from '../model/bounds.ts';
import { type Problem, problemOf } from '../problem.ts';
import { parseExactJson, UnsupportedJson, unsupportedReason } from '../model/json.ts';
import { type ExactNumber, ordinary } from '../model/lossless_numbers.ts';
import { RPC_ERRORS, RPC_MESSAGE_MAX_BYTES, type RpcError, type RpcErrorName, type RpcId } from '../model/rpc.ts';
import { isObject } from '../model/json_tree.ts';

/** Answer of a handler, without the id of its request. */
export type RpcAnswer = { readonly result: unknown } | { readonly error: RpcError };

export type RpcParams = Readonly<Record<string, unknown>>;

/** Id of a request, with a number's original digits. */
export type RequestId = RpcId | ExactNumber;

/** Rejection of a call before any handler is called, answered as a JSON-RPC error. */
export class RpcRejection extends Error {
  readonly reason: RpcErrorName;
  readonly code: number;
  /** The error in the response. */
  readonly error: RpcError;
  /** Id of the request; null if it was not read. */
  readonly id: RequestId;

  constructor(reason: RpcErrorName, problem: Problem | HubError, id: RequestId = null) {
    super(problem instanceof Error ? problem.message : String(problem));
    this.name = 'RpcRefusal';
    const { reason: why, params } = problem;
    this.code = RPC_ERRORS[reason];
    this.error = { code: this.code, message: this.message, data: { reason: why, params } };
    this.reason = reason;
    this.id = id;
  }
}

/** Returns the rejection of a request that would exceed a bound, such as `open_calls`. */
export function limitReached(path: string, limit: number, count: number, id: RequestId = null): RpcRejection {
  return new RpcRejection('tooMuch', problemOf('limit_reached', { path, limit, count }), id);
}

/** Returns an answer with an error. */
export function failure(name: RpcErrorName, problem: Problem, data: object = {}): RpcAnswer {
  const { reason, params } = problem;
  return { error: { code: RPC_ERRORS[name], message: String(problem), data: { reason, params, ...data } } };
}

/**
 * Parses a message, preserving the digits of all numbers. Throws an RpcRejection if it is too long, is not JSON, or
 * cannot be forwarded unchanged. `depthMax` is the maximum nesting.
 */
export function readMessage(text: string, depthMax?: number): unknown {
  checkSize(text);
  return readLongMessage(text, depthMax);
}

/** Throws an RpcRejection with the request's `id` if a message is too long. */
export function checkSize(text: string, id: RequestId = null): void {
  const bytes = bytesBeyond(text, RPC_MESSAGE_MAX_BYTES);
  if (bytes === undefined) return;
  const where = { path: 'message', limit: RPC_MESSAGE_MAX_BYTES, found: bytes };
  throw new RpcRejection('tooMuch', problemOf('body_too_large', where), id);
}

/** Like readMessage without a bound on length, for transports that bound it, or to read the id for a rejection. */
export function readLongMessage(text: string, depthMax?: number): unknown {
  try {
    const value = parseExactJson(text, depthMax);
    const problem = unsupportedReason(value, { root: 'message', ...(depthMax !== undefined && { depthMax }) });
    if (problem === undefined) return value;
    throw new RpcRejection('invalidRequest', problem);
  } catch (cause) {
    if (cause instanceof UnsupportedJson) throw new RpcRejection('invalidRequest', cause.problem);
    if (cause instanceof SyntaxError)
      throw new RpcRejection('notJson', problemOf('not_json', { path: 'message' }, cause.message));
    throw cause;
  }
}

/**
 * Returns the result or error of a response; undefined if it is not a JSON-RPC response, which has exactly one of them.
 */
export function readAnswer(value: unknown): RpcAnswer | undefined {
  if (!isObject(value) || Object.hasOwn(value, 'result') === Object.hasOwn(value, 'error')) return undefined;
  if (Object.hasOwn(value, 'result')) return { result: value['result'] };
  const { error } = value;
  if (!isObject(error) || !Number.isInteger(ordinary(error['code'])) || typeof error['message'] !== 'string')
    return undefined;
  return { error: error as RpcError };
}

/** Serializes a response. */
export function responseText(id: RequestId, answer: RpcAnswer): string {
  return JSON.stringify({ jsonrpc: '2.0', id, ...answer });
}
