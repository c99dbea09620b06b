import { bytesBeyond, grouped } from '../model/bounds.ts';
import { parseExactJson, UnsupportedJson, unsupportedReason } from '../model/json.ts';
import { type ExactNumber, ordinary } from '../model/lossless_numbers.ts';
import { RPC_ERRORS, RPC_MESSAGE_MAX_BYTES, type RpcError, type RpcErrorName, type RpcId } from '../model/rpc.ts';

/** Answer of a handler, without the id of its request. */
export type RpcAnswer = { readonly result: unknown } | { readonly error: RpcError };

export type RpcParams = Readonly<Record<string, unknown>>;

/** Id of a request. It is returned digit by digit as it was sent. */
export type RequestId = RpcId | ExactNumber;

/** Rejection of a call before any handler was called, answered as an error of JSON-RPC. */
export class RpcRejection extends Error {
  readonly code: number;
  readonly reason: RpcErrorName;
  /** Id of the request, as far as it was read. */
  readonly id: RequestId;

  constructor(reason: RpcErrorName, message: string, id: RequestId = null) {
    super(message);
    this.name = 'RpcRefusal';
    this.code = RPC_ERRORS[reason];
    this.reason = reason;
    this.id = id;
  }
}

/** Answer with an error. */
export function failure(reason: RpcErrorName, message: string, data?: unknown): RpcAnswer {
  return { error: { code: RPC_ERRORS[reason], message, ...(data !== undefined && { data }) } };
}

/**
 * Parses a message, with all numbers as they were sent. Throws an RpcRefusal if it is too long, is not JSON, or cannot
 * be forwarded unchanged. `depthMax`: most levels of nested JSON.
 */
export function readMessage(text: string, depthMax?: number): unknown {
  checkSize(text);
  return readLongMessage(text, depthMax);
}

/** Throws an RpcRefusal with the request's `id` if a message is too long. */
export function checkSize(text: string, id: RequestId = null): void {
  const bytes = bytesBeyond(text, RPC_MESSAGE_MAX_BYTES);
  if (bytes === undefined) return;
  const wanted = `must have at most ${grouped(RPC_MESSAGE_MAX_BYTES)} bytes`;
  throw new RpcRejection('tooMuch', `message: ${wanted}, found ${grouped(bytes)}`, id);
}

/**
 * Like readMessage without a bound on length: for transports that bound it, or if a rejection needs the request's id.
 */
export function readLongMessage(text: string, depthMax?: number): unknown {
  try {
    const value = parseExactJson(text, depthMax);
    const problem = unsupportedReason(value, { root: 'message', ...(depthMax !== undefined && { depthMax }) });
    if (problem === undefined) return value;
    throw new RpcRejection('invalidRequest', problem);
  } catch (cause) {
    if (cause instanceof UnsupportedJson) throw new RpcRejection('invalidRequest', cause.message);
    if (cause instanceof SyntaxError)
      throw new RpcRejection('notJson', `message: must be JSON, found ${cause.message}`);
    throw cause;
  }
}

/** Result or error of a response; undefined if it is not a JSON-RPC response, which has exactly one of them. */
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

/** Whether a JSON value is an object, neither an array nor null. */
export function isObject(value: unknown): value is RpcParams {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
