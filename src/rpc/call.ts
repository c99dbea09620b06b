import { type Problem, problemOf } from '../problem.ts';
import { ExactNumber, ordinary } from '../model/lossless_numbers.ts';
import {
  AGGREGATIONS,
  type Aggregation,
  METHOD_MAX_CHARACTERS,
  TIMEOUT_DEFAULT_MS,
  TIMEOUT_MAX_MS,
} from '../model/rpc.ts';
import { show } from '../model/error_value_text.ts';
import type { Collecting } from './collected.ts';
import { type RpcParams, type RequestId, RpcRejection } from './message.ts';
import { isObject } from '../model/json_tree.ts';

/** A validated call, before its handlers are looked up. */
export interface RpcCall {
  readonly method: string;
  /** Params for the handlers, without the reserved ones; undefined if the request has none. */
  readonly params: RpcParams | undefined;
  /** Id of the request; null if it has none. */
  readonly id: RequestId;
  /** Id of the caller, as given by itself. */
  readonly callerId: string | undefined;
  /** Whether the caller expects an answer, because the request has an id or contains its caller. */
  readonly isAnswered: boolean;
  readonly timeoutMs: number;
  readonly collecting: Collecting;
  /** The only handler to call; undefined for all. */
  readonly handlerId: string | undefined;
  /** Zone that excludes handlers of other zones. */
  readonly zoneId: string | undefined;
}

const RESERVED = ['_caller_id', '_timeout', '_handler_id', '_aggregation'] as const;

const COLLECTING: Readonly<Record<Aggregation, Collecting>> = {
  _all_within_timeout: 'all',
  _return_first_success: 'firstSuccess',
  _return_first_error: 'firstError',
};

/** Reads a call from REST or a carrier. Throws an RpcRejection with the id of the request, if it has one. */
export function readCall(value: unknown): RpcCall {
  const { request, id } = readRequest(value);
  const params = readParams(request, id);
  const aggregation = readAggregation(params, id);
  return callOf(request, { id, params, collecting: COLLECTING[aggregation ?? '_all_within_timeout'] });
}

/** Reads a call from a WebSocket client. By default, the first answer completes it. Throws an RpcRejection. */
export function readSocketCall(value: unknown): RpcCall {
  const { request, id } = readRequest(value);
  const params = readParams(request, id);
  const ways = [
    isSet(request, 'stream', id) && 'stream',
    isSet(request, 'aggregate', id) && 'list',
    COLLECTING[readAggregation(params, id) as Aggregation],
  ].filter((way): way is Collecting => typeof way === 'string');
  if (ways.length > 1) {
    throw new RpcRejection('invalidParams', problemOf('several_collections'), id);
  }
  const timeout = request['timeout'] === undefined ? {} : { timeoutMs: readTimeout('timeout', request['timeout'], id) };
  return { ...callOf(request, { id, params, collecting: ways[0] ?? 'first' }), ...timeout };
}

interface Request {
  readonly request: RpcParams & { readonly method: string };
  readonly id: RequestId;
}

/** Validates the JSON-RPC envelope: an object of version 2.0 with a method and an optional id. */
export function readRequest(value: unknown): Request {
  if (Array.isArray(value)) {
    throw new RpcRejection('invalidRequest', problemOf('batch', { path: 'request', count: value.length }));
  }
  if (!isObject(value))
    throw new RpcRejection('invalidRequest', problemOf('not_an_object', { path: 'request', found: show(value) }));
  const { id = null, jsonrpc, method } = value;
  if (typeof id !== 'string' && typeof id !== 'number' && id !== null && !(id instanceof ExactNumber)) {
    throw new RpcRejection('invalidRequest', problemOf('not_a_string_or_number', { path: 'id', found: show(id) }));
  }
  if (jsonrpc !== '2.0')
    throw new RpcRejection(
      'invalidRequest',
      problemOf('not_value', { path: 'jsonrpc', expected: '"2.0"', found: show(jsonrpc) }),
      id,
    );
  const problem = methodProblem(method);
  if (problem !== undefined) throw new RpcRejection('invalidRequest', problem.at('method'), id);
  return { request: value as Request['request'], id };
}

/** Returns the id for the response to a rejected request; undefined if the sender expects no response. */
export function answerId(value: unknown): RequestId | undefined {
  try {
    const { request, id } = readRequest(value);
    const { params } = request;
    const isAnswered = request['id'] !== undefined || (isObject(params) && params['_caller_id'] !== undefined);
    return isAnswered ? id : undefined;
  } catch (error) {
    return error instanceof RpcRejection ? error.id : null;
  }
}

/** Returns why a value is not a valid method name; undefined if it is. */
export function methodProblem(method: unknown): Problem | undefined {
  if (typeof method !== 'string' || method === '') return problemOf('not_a_filled_string', { found: show(method) });
  if (method.length <= METHOD_MAX_CHARACTERS) return undefined;
  return problemOf('too_many', { limit: METHOD_MAX_CHARACTERS, unit: 'characters', found: method.length });
}

/** Returns the params of a request; undefined if it has none. Throws an RpcRejection for positional params. */
export function readParams({ params }: RpcParams, id: RequestId): RpcParams | undefined {
  if (params === undefined || isObject(params)) return params;
  throw new RpcRejection('invalidParams', problemOf('not_an_object', { path: 'params', found: show(params) }), id);
}

function readAggregation(params: RpcParams | undefined, id: RequestId): Aggregation | undefined {
  const asked = params?.['_aggregation'];
  if (asked === undefined) return undefined;
  const known = AGGREGATIONS.find((name) => name === asked);
  if (known === undefined) {
    const where = { path: '_aggregation', allowed: AGGREGATIONS, found: show(asked) };
    throw new RpcRejection('invalidParams', problemOf('out_of_choices', where), id);
  }
  if (params?.['_handler_id'] === undefined) return known;
  throw new RpcRejection('invalidParams', problemOf('not_with', { path: '_aggregation', member: '_handler_id' }), id);
}

interface Read {
  readonly id: RequestId;
  readonly params: RpcParams | undefined;
  readonly collecting: Collecting;
}

function callOf(request: Request['request'], { id, params, collecting }: Read): RpcCall {
  const callerId = text(params, '_caller_id', id);
  const timeout = params?.['_timeout'];
  return {
    method: request.method,
    params: params && Object.fromEntries(Object.entries(params).filter(([name]) => !isReserved(name))),
    id,
    callerId,
    isAnswered: request['id'] !== undefined || callerId !== undefined,
    timeoutMs: timeout === undefined ? TIMEOUT_DEFAULT_MS : readTimeout('_timeout', timeout, id),
    collecting,
    handlerId: text(params, '_handler_id', id),
    // A zone_id of another type is passed to the method.
    zoneId: typeof params?.['zone_id'] === 'string' ? params['zone_id'] : undefined,
  };
}

function isReserved(name: string): boolean {
  return RESERVED.some((reserved) => reserved === name);
}

function text(params: RpcParams | undefined, name: (typeof RESERVED)[number], id: RequestId): string | undefined {
  const value = params?.[name];
  if (value === undefined || typeof value === 'string') return value;
  throw new RpcRejection('invalidParams', problemOf('not_a_string', { path: name, found: show(value) }), id);
}

function readTimeout(name: string, sent: unknown, id: RequestId): number {
  const value = ordinary(sent);
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= TIMEOUT_MAX_MS) return value;
  const where = { path: name, limit: TIMEOUT_MAX_MS, found: show(value) };
  throw new RpcRejection('invalidParams', problemOf('not_a_timeout', where), id);
}

function isSet(request: RpcParams, name: 'stream' | 'aggregate', id: RequestId): boolean {
  const value = request[name] ?? false;
  if (typeof value === 'boolean') return value;
  throw new RpcRejection('invalidRequest', problemOf('not_a_boolean', { path: name, found: show(value) }), id);
}
