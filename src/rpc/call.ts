import { grouped } from '../model/bounds.ts';
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
import { isObject, type Params, type RequestId, RpcRefusal } from './message.ts';

/** A call, read and found to be right as far as that can be told without the handlers. */
export interface Call {
  readonly method: string;
  /** What handlers are given: without the reserved parameters. Undefined where none were sent. */
  readonly params: Params | undefined;
  /** Of the request; null where it has none. */
  readonly id: RequestId;
  /** Who calls, as the caller says. */
  readonly callerId: string | undefined;
  /** Whether anybody waits for the answer: the request has an id, or says who calls. */
  readonly isAnswered: boolean;
  readonly timeoutMs: number;
  readonly collecting: Collecting;
  /** The one handler that is meant; undefined: all. */
  readonly handlerId: string | undefined;
  /** Leaves out handlers of other zones. */
  readonly zoneId: string | undefined;
}

const RESERVED = ['_caller_id', '_timeout', '_handler_id', '_aggregation'] as const;

const COLLECTING: Readonly<Record<Aggregation, Collecting>> = {
  _all_within_timeout: 'all',
  _return_first_success: 'firstSuccess',
  _return_first_error: 'firstError',
};

/** A call as REST and carriers take it. Throws an RpcRefusal with the id of the request, if it has one. */
export function readCall(value: unknown): Call {
  const { request, id } = readRequest(value);
  const params = readParams(request, id);
  const aggregation = readAggregation(params, id);
  return callOf(request, { id, params, collecting: COLLECTING[aggregation ?? '_all_within_timeout'] });
}

/** A call as a WebSocket client sends it: the first answer is enough, unless it says otherwise. Throws an RpcRefusal. */
export function readSocketCall(value: unknown): Call {
  const { request, id } = readRequest(value);
  const params = readParams(request, id);
  const ways = [
    isSet(request, 'stream', id) && 'stream',
    isSet(request, 'aggregate', id) && 'list',
    COLLECTING[readAggregation(params, id) as Aggregation],
  ].filter((way): way is Collecting => typeof way === 'string');
  if (ways.length > 1) {
    throw new RpcRefusal('invalidParams', 'stream, aggregate and _aggregation: only one of them may be set', id);
  }
  const timeout = request['timeout'] === undefined ? {} : { timeoutMs: readTimeout('timeout', request['timeout'], id) };
  return { ...callOf(request, { id, params, collecting: ways[0] ?? 'first' }), ...timeout };
}

interface Request {
  readonly request: Params & { readonly method: string };
  readonly id: RequestId;
}

/** The ladder of JSON-RPC itself: an object of version 2.0 with a method and, perhaps, an id. */
export function readRequest(value: unknown): Request {
  if (Array.isArray(value)) {
    throw new RpcRefusal('invalidRequest', `request: must be an object, found a batch of ${grouped(value.length)}`);
  }
  if (!isObject(value)) throw new RpcRefusal('invalidRequest', `request: must be an object, found ${show(value)}`);
  const { id = null, jsonrpc, method } = value;
  if (typeof id !== 'string' && typeof id !== 'number' && id !== null && !(id instanceof ExactNumber)) {
    throw new RpcRefusal('invalidRequest', `id: must be a string or a number, found ${show(id)}`);
  }
  if (jsonrpc !== '2.0') throw new RpcRefusal('invalidRequest', `jsonrpc: must be "2.0", found ${show(jsonrpc)}`, id);
  const problem = methodProblem(method);
  if (problem !== undefined) throw new RpcRefusal('invalidRequest', `method: ${problem}`, id);
  return { request: value as Request['request'], id };
}

/** The id under which a refusal of a request is answered; undefined where nobody waits for an answer. */
export function answerId(value: unknown): RequestId | undefined {
  try {
    const { request, id } = readRequest(value);
    const { params } = request;
    const isAnswered = request['id'] !== undefined || (isObject(params) && params['_caller_id'] !== undefined);
    return isAnswered ? id : undefined;
  } catch (error) {
    return error instanceof RpcRefusal ? error.id : null;
  }
}

/** Why something cannot be the name of a method; undefined where it can. */
export function methodProblem(method: unknown): string | undefined {
  if (typeof method !== 'string' || method === '') return `must be a string that is not empty, found ${show(method)}`;
  if (method.length <= METHOD_MAX_CHARACTERS) return undefined;
  return `must have at most ${METHOD_MAX_CHARACTERS} characters, found ${grouped(method.length)}`;
}

/** The parameters of a request; undefined where it has none. Throws an RpcRefusal for positional ones. */
export function readParams({ params }: Params, id: RequestId): Params | undefined {
  if (params === undefined || isObject(params)) return params;
  const found = Array.isArray(params) ? 'a list' : show(params);
  throw new RpcRefusal('invalidParams', `params: must be an object, found ${found}`, id);
}

function readAggregation(params: Params | undefined, id: RequestId): Aggregation | undefined {
  const asked = params?.['_aggregation'];
  if (asked === undefined) return undefined;
  const known = AGGREGATIONS.find((name) => name === asked);
  if (known === undefined) {
    const wanted = `must be one of ${AGGREGATIONS.join(', ')}`;
    throw new RpcRefusal('invalidParams', `_aggregation: ${wanted}, found ${show(asked)}`, id);
  }
  if (params?.['_handler_id'] === undefined) return known;
  throw new RpcRefusal('invalidParams', '_aggregation: must be left out together with _handler_id', id);
}

interface Read {
  readonly id: RequestId;
  readonly params: Params | undefined;
  readonly collecting: Collecting;
}

function callOf(request: Request['request'], { id, params, collecting }: Read): Call {
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
    // Any other value is an affair of the method.
    zoneId: typeof params?.['zone_id'] === 'string' ? params['zone_id'] : undefined,
  };
}

function isReserved(name: string): boolean {
  return RESERVED.some((reserved) => reserved === name);
}

function text(params: Params | undefined, name: (typeof RESERVED)[number], id: RequestId): string | undefined {
  const value = params?.[name];
  if (value === undefined || typeof value === 'string') return value;
  throw new RpcRefusal('invalidParams', `${name}: must be a string, found ${show(value)}`, id);
}

function readTimeout(name: string, sent: unknown, id: RequestId): number {
  const value = ordinary(sent);
  if (typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= TIMEOUT_MAX_MS) return value;
  const wanted = `must be a whole number of milliseconds from 1 to ${grouped(TIMEOUT_MAX_MS)}`;
  throw new RpcRefusal('invalidParams', `${name}: ${wanted}, found ${show(value)}`, id);
}

function isSet(request: Params, name: 'stream' | 'aggregate', id: RequestId): boolean {
  const value = request[name] ?? false;
  if (typeof value === 'boolean') return value;
  throw new RpcRefusal('invalidRequest', `${name}: must be a boolean, found ${show(value)}`, id);
}
