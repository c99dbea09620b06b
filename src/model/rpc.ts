import Type, { type Static } from 'typebox';
import { AnyType, documented, Maybe, OneOf, Properties } from './schema.ts';

/** Remote procedure calls: JSON-RPC 2.0 with the reserved parameters of the omlox Hub API. */

/** Errors of a call other than those returned by a handler. */
export const RPC_ERRORS = {
  notJson: -32700,
  invalidRequest: -32600,
  unknownMethod: -32601,
  invalidParams: -32602,
  internal: -32603,
  unknownHandler: -32000,
  timeout: -32001,
  noSuccess: -32002,
  tooMuch: -32010,
  notAuthenticated: -32011,
  notAuthorized: -32012,
  nobodyForXcmd: -32050,
} as const;
export type RpcErrorName = keyof typeof RPC_ERRORS;

const MEANINGS: Readonly<Record<RpcErrorName, string>> = {
  notJson: 'the request is not JSON.',
  invalidRequest: 'the request is not a JSON-RPC 2.0 request, or it is a batch.',
  unknownMethod: 'no handler is registered for the method.',
  invalidParams: 'a parameter is invalid; the message names it and the value found.',
  internal: 'a handler returned an invalid JSON-RPC 2.0 response.',
  unknownHandler: 'no handler of the method has that id, or it disconnected before it replied.',
  timeout: 'no handler replied in time, or not all required ones did.',
  noSuccess: 'all handlers returned an error; see `data.responses`.',
  tooMuch: 'a bound of the hub is reached; the message names it and the value found.',
  notAuthenticated: 'a valid access token is needed.',
  notAuthorized: 'the access token does not permit it.',
  nobodyForXcmd: 'no handler is registered for com.omlox.core.xcmd.',
};

/** A broadcast of a core zone, as it was sent. */
export const XcmdBroadcast = Type.Record(Type.String(), Type.Unknown(), {
  title: 'XcmdBroadcast',
  description: 'A broadcast of a core zone, as it was sent.',
});

/** Methods that the standard reserves for the hub; the last one is for core zones. */
export const PING = 'com.omlox.ping';
export const IDENTIFY = 'com.omlox.identify';
export const XCMD = 'com.omlox.core.xcmd';

/** Params that select which replies of several handlers form the result of a call. */
export const AGGREGATIONS = ['_all_within_timeout', '_return_first_success', '_return_first_error'] as const;
export type Aggregation = (typeof AGGREGATIONS)[number];

/** Default and limits of the time that a call waits for replies, in milliseconds. */
export const TIMEOUT_DEFAULT_MS = 5_000;
export const TIMEOUT_MAX_MS = 60_000;

/** Maximum size of requests and responses. Longer ones take more than a few milliseconds to parse. */
export const RPC_MESSAGE_MAX_BYTES = 256 << 10;
/** Maximum length of a method name. */
export const METHOD_MAX_CHARACTERS = 256;
/** Maximum length of a handler id announced by a carrier. */
export const HANDLER_ID_MAX_CHARACTERS = 256;

const RpcId = Type.Union([Type.String(), Type.Number()], {
  title: 'RpcId',
  description: 'Id of a request, repeated in its response.',
});
export type RpcId = Static<typeof RpcId> | null;

const jsonrpc = Type.Literal('2.0', { description: 'Always 2.0.' });
const method = Type.String({
  minLength: 1,
  description: 'Name of the method.',
  ...documented({ maxLength: METHOD_MAX_CHARACTERS }),
});

/** Parameters by name. Those with an underscore are for the hub; all others belong to the method. */
const RpcParams = Type.Object(
  {
    _caller_id: Type.Optional(
      Type.String({ description: 'Id of the caller. With it, a request without an id gets a reply.' }),
    ),
    _timeout: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: TIMEOUT_MAX_MS,
        description: `Milliseconds to wait for answers; ${TIMEOUT_DEFAULT_MS} when left out.`,
      }),
    ),
    _handler_id: Type.Optional(Type.String({ description: 'The one handler that is called; all when left out.' })),
    _aggregation: Type.Optional(
      OneOf(AGGREGATIONS, {
        title: 'RpcAggregation',
        description:
          '_all_within_timeout (default): the replies of all handlers. ' +
          '_return_first_success: the first success. _return_first_error: the first error.',
      }),
    ),
    zone_id: Type.Optional(Type.String({ description: 'Excludes handlers registered for another zone.' })),
  },
  { title: 'RpcParams', description: 'Parameters by their names.', additionalProperties: true },
);

/** A call as sent by a client. */
export const RpcRequest = Type.Object(
  { jsonrpc, method, params: Type.Optional(RpcParams), id: Maybe(RpcId) },
  { title: 'RpcRequest', description: 'A JSON-RPC 2.0 request with parameters by their names.' },
);

const meanings = (Object.keys(RPC_ERRORS) as RpcErrorName[])
  .map((name) => `${RPC_ERRORS[name]}: ${MEANINGS[name]}`)
  .join(' ');

/** An error of JSON-RPC. */
export const RpcError = Type.Object(
  {
    code: Type.Integer({ description: `Those of the hub are ${meanings}` }),
    message: Type.String({ description: 'What failed, and the value found.' }),
    data: Type.Optional(AnyType),
  },
  {
    title: 'RpcError',
    description:
      'Why a call failed. The data of an error of the hub has its `reason` and `params`; a handler has its own.',
  },
);
export type RpcError = Static<typeof RpcError>;

/** A reply: it has either a result or an error. */
export const RpcResponse = Type.Object(
  {
    jsonrpc,
    id: Type.Union([RpcId, Type.Null()]),
    result: Type.Optional(AnyType),
    error: Type.Optional(RpcError),
  },
  { title: 'RpcResponse', description: 'A JSON-RPC 2.0 response: a result or an error.' },
);
export type RpcResponse = Static<typeof RpcResponse>;

/** Callable methods, each with the ids of its handlers. */
export const RpcAvailable = Type.Record(
  Type.String(),
  Type.Object(
    { handler_id: Type.Array(Type.String(), { description: 'Ids of its handlers.' }) },
    { title: 'RpcHandlers', description: 'Handlers of a method.' },
  ),
  { title: 'RpcAvailable', description: 'Methods by their names.' },
);
export type RpcAvailable = Static<typeof RpcAvailable>;

/** A call as sent by a WebSocket client, with options for its replies. */
export const RpcSocketRequest = Type.Object(
  {
    jsonrpc,
    method,
    params: Type.Optional(Properties),
    id: Maybe(RpcId),
    stream: Type.Optional(Type.Boolean({ description: 'Whether each response is forwarded as it arrives.' })),
    aggregate: Type.Optional(Type.Boolean({ description: 'Whether the result is a list of all responses.' })),
    timeout: Type.Optional(
      Type.Integer({ minimum: 1, maximum: TIMEOUT_MAX_MS, description: 'As the parameter _timeout.' }),
    ),
  },
  {
    title: 'RpcSocketRequest',
    description: 'A call. Its result is the first response unless the call requests others.',
  },
);
