import Type, { type Static } from 'typebox';
import { AnyType, documented, Maybe, OneOf, Properties } from './schema.ts';

/** Remote procedure calls: JSON-RPC 2.0 with the reserved parameters of the omlox Hub API. */

/** What a call can fail with, beside the errors that a handler answers itself. */
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
  notJson: 'what was sent is not JSON.',
  invalidRequest: 'it is no request of JSON-RPC 2.0, or a batch of them.',
  unknownMethod: 'nobody handles the method.',
  invalidParams: 'a parameter does not fit; the message names it and the value found.',
  internal: 'a handler has answered what is no response of JSON-RPC 2.0.',
  unknownHandler: 'no handler of the method has that id, or it has gone before it answered.',
  timeout: 'nobody has answered in time, or not everybody who had to.',
  noSuccess: 'all handlers have answered an error; `data.responses` has them.',
  tooMuch: 'a bound of the hub is reached; the message names it and the value found.',
  notAuthenticated: 'a valid access token is needed.',
  notAuthorized: 'the access token does not permit it.',
  nobodyForXcmd: 'nobody has announced com.omlox.core.xcmd.',
};

/** What a core zone broadcasts, as it was sent. */
export const XcmdBroadcast = Type.Record(Type.String(), Type.Unknown(), {
  title: 'XcmdBroadcast',
  description: 'A broadcast of a core zone, as it was sent.',
});

/** The methods that the standard reserves for the hub; the last one is that of core zones. */
export const PING = 'com.omlox.ping';
export const IDENTIFY = 'com.omlox.identify';
export const XCMD = 'com.omlox.core.xcmd';

/** Which answers of several handlers make the result of a call. */
export const AGGREGATIONS = ['_all_within_timeout', '_return_first_success', '_return_first_error'] as const;
export type Aggregation = (typeof AGGREGATIONS)[number];

/** How long a call waits for its answers, in milliseconds. */
export const TIMEOUT_DEFAULT_MS = 5_000;
export const TIMEOUT_MAX_MS = 60_000;

/** Bytes of a request, and of a response: a longer one takes more than a few milliseconds to read. */
export const RPC_MESSAGE_MAX_BYTES = 256 << 10;
/** Characters of the name of a method. */
export const METHOD_MAX_CHARACTERS = 256;
/** Characters of the id of a handler that a carrier announces. */
export const HANDLER_ID_MAX_CHARACTERS = 256;

const RpcId = Type.Union([Type.String(), Type.Number()], {
  title: 'RpcId',
  description: 'The id of a request, by which its response is known.',
});
export type RpcId = Static<typeof RpcId> | null;

const jsonrpc = Type.Literal('2.0', { description: 'Always 2.0.' });
const method = Type.String({
  minLength: 1,
  description: 'Name of the method.',
  ...documented({ maxLength: METHOD_MAX_CHARACTERS }),
});

/** Parameters by their names. Those of a method are its own affair; those with an underscore are for the hub. */
const RpcParams = Type.Object(
  {
    _caller_id: Type.Optional(Type.String({ description: 'Who calls. With it a request without an id is answered.' })),
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
          '_all_within_timeout, which is meant when it is left out: the answers of all handlers. ' +
          '_return_first_success: the first that is no error. _return_first_error: the first error.',
      }),
    ),
    zone_id: Type.Optional(
      Type.String({ description: 'Leaves out handlers that have registered for another zone, whatever its name is.' }),
    ),
  },
  { title: 'RpcParams', description: 'Parameters by their names.', additionalProperties: true },
);

/** A call, as a client sends it. */
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
    message: Type.String({ description: 'What could not be done, and what was found.' }),
    data: Type.Optional(AnyType),
  },
  { title: 'RpcError', description: 'Why a call has failed: an error of the hub, or one of the handler.' },
);
export type RpcError = Static<typeof RpcError>;

/** An answer: it has either a result or an error. */
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

/** The methods that can be called, each with the ids of those that handle it. */
export const RpcAvailable = Type.Record(
  Type.String(),
  Type.Object(
    { handler_id: Type.Array(Type.String(), { description: 'Ids of its handlers.' }) },
    { title: 'RpcHandlers', description: 'Who handles a method.' },
  ),
  { title: 'RpcAvailable', description: 'Methods by their names.' },
);
export type RpcAvailable = Static<typeof RpcAvailable>;

/** What a WebSocket client sends: a call with more to say about its answers. */
export const RpcSocketRequest = Type.Object(
  {
    jsonrpc,
    method,
    params: Type.Optional(Properties),
    id: Maybe(RpcId),
    stream: Type.Optional(Type.Boolean({ description: 'Every response is sent on as it comes.' })),
    aggregate: Type.Optional(Type.Boolean({ description: 'The result is a list of all responses.' })),
    timeout: Type.Optional(
      Type.Integer({ minimum: 1, maximum: TIMEOUT_MAX_MS, description: 'As the parameter _timeout.' }),
    ),
  },
  {
    title: 'RpcSocketRequest',
    description: 'A call. It is answered with the first response, unless it asks for others.',
  },
);
