import { bytesBeyond, grouped } from '../model/bounds.ts';
import { parseExactJson, UnsupportedJson, unsupportedReason } from '../model/json.ts';
import { type ExactNumber, ordinary } from '../model/lossless_numbers.ts';
import { RPC_ERRORS, RPC_MESSAGE_MAX_BYTES, type RpcError, type RpcErrorName, type RpcId } from '../model/rpc.ts';

/** What a handler has answered, without the id under which it was asked. */
export type Answer = { readonly result: unknown } | { readonly error: RpcError };

export type Params = Readonly<Record<string, unknown>>;

/** The id of a request: it goes back as it came, digit by digit. */
export type RequestId = RpcId | ExactNumber;

/** Ends a call before anybody was asked: answered as an error of JSON-RPC. */
export class RpcRefusal extends Error {
  readonly code: number;
  readonly reason: RpcErrorName;
  /** Of the request, as far as it was read. */
  readonly id: RequestId;

  constructor(reason: RpcErrorName, message: string, id: RequestId = null) {
    super(message);
    this.name = 'RpcRefusal';
    this.code = RPC_ERRORS[reason];
    this.reason = reason;
    this.id = id;
  }
}

/** The answer that says why something was refused or has failed. */
export function failure(reason: RpcErrorName, message: string, data?: unknown): Answer {
  return { error: { code: RPC_ERRORS[reason], message, ...(data !== undefined && { data }) } };
}

/**
 * The value of a message, with all numbers as they were sent. Throws an RpcRefusal where it is too long, is no JSON, or
 * cannot be handed on without a change. `depthMax`: levels that JSON may be nested.
 */
export function readMessage(text: string, depthMax?: number): unknown {
  checkSize(text);
  return readLongMessage(text, depthMax);
}

/** Throws an RpcRefusal where a message is too long. `id`: of the request. */
export function checkSize(text: string, id: RequestId = null): void {
  const bytes = bytesBeyond(text, RPC_MESSAGE_MAX_BYTES);
  if (bytes === undefined) return;
  const wanted = `must have at most ${grouped(RPC_MESSAGE_MAX_BYTES)} bytes`;
  throw new RpcRefusal('tooMuch', `message: ${wanted}, found ${grouped(bytes)}`, id);
}

/** As readMessage, of any length: for what has come over a way that bounds it, and whose refusal needs its id. */
export function readLongMessage(text: string, depthMax?: number): unknown {
  try {
    const value = parseExactJson(text, depthMax);
    const problem = unsupportedReason(value, { root: 'message', ...(depthMax !== undefined && { depthMax }) });
    if (problem === undefined) return value;
    throw new RpcRefusal('invalidRequest', problem);
  } catch (cause) {
    if (cause instanceof UnsupportedJson) throw new RpcRefusal('invalidRequest', cause.message);
    if (cause instanceof SyntaxError) throw new RpcRefusal('notJson', `message: must be JSON, found ${cause.message}`);
    throw cause;
  }
}

/** What a response says; undefined where it is none of JSON-RPC, which has either a result or an error. */
export function readAnswer(value: unknown): Answer | undefined {
  if (!isObject(value) || Object.hasOwn(value, 'result') === Object.hasOwn(value, 'error')) return undefined;
  if (Object.hasOwn(value, 'result')) return { result: value['result'] };
  const { error } = value;
  if (!isObject(error) || !Number.isInteger(ordinary(error['code'])) || typeof error['message'] !== 'string')
    return undefined;
  return { error: error as RpcError };
}

/** A response as a text. */
export function responseText(id: RequestId, answer: Answer): string {
  return JSON.stringify({ jsonrpc: '2.0', id, ...answer });
}

/** Whether a value from JSON is an object, neither a list nor null. */
export function isObject(value: unknown): value is Params {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
