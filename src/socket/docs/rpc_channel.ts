import Type, { type TObject } from 'typebox';
import type { Components, DocumentSchema } from '../../model/components.ts';
import { RpcResponse, RpcSocketRequest } from '../../model/rpc.ts';
import { Properties } from '../../model/schema.ts';
import { Messages } from './messages.ts';

const CHANNEL = '#/channels/rpc';

const jsonrpc = Type.Literal('2.0', { description: 'Always 2.0.' });
const id = Type.Union([Type.String(), Type.Number()], { description: 'Repeated in the response.' });
const handled = Type.String({ minLength: 1, description: 'Name of the method that the client handles.' });

const RegisterRequest = Type.Object(
  {
    jsonrpc,
    method: Type.Literal('register'),
    params: Type.Object({
      method: handled,
      zone_id: Type.Optional(Type.String({ description: 'Zone in which the client handles it; all zones if absent.' })),
    }),
    id: Type.Optional(id),
  },
  { description: 'Registers the client as a handler of a method. Repeating it changes the zone.' },
);

const UnregisterRequest = Type.Object(
  { jsonrpc, method: Type.Literal('unregister'), params: Type.Object({ method: handled }), id: Type.Optional(id) },
  { description: 'Removes the client as a handler of the method.' },
);

const ForwardedRequest = Type.Object(
  {
    jsonrpc,
    method: Type.String({ description: 'A method that the client handles.' }),
    params: Type.Optional(Properties),
    id: Type.Optional(
      Type.Integer({ minimum: 10_000, description: 'Assigned by the hub. Without it no response is expected.' }),
    ),
  },
  { description: 'A call for the client as a handler. It answers with a response of the same id.' },
);

/** Returns the channel and the operations of remote procedure calls. */
export function rpcChannel(components: Components): {
  readonly channel: DocumentSchema;
  readonly operations: DocumentSchema;
} {
  const messages = new Messages(components, CHANNEL);
  const response = messages.refer('rpc.response', RpcResponse);
  const operation = (
    action: 'receive' | 'send',
    summary: string,
    [key, frame]: readonly [string, TObject],
  ): DocumentSchema => ({
    action,
    channel: { $ref: CHANNEL },
    summary,
    messages: [messages.refer(key, frame)],
    reply: { channel: { $ref: CHANNEL }, messages: [response] },
  });
  const operations = {
    register: operation('receive', 'Registers a handler of a method', ['rpc.register', RegisterRequest]),
    unregister: operation('receive', 'Removes a handler of a method', ['rpc.unregister', UnregisterRequest]),
    call: operation('receive', 'Calls a method', ['rpc.call', RpcSocketRequest]),
    forward: operation('send', 'Forwards a call to a handler', ['rpc.forward', ForwardedRequest]),
  };
  return {
    operations,
    channel: {
      address: '/ws/rpc',
      servers: [{ $ref: '#/servers/hub' }],
      description: 'Remote procedure calls. Closing the connection removes its handlers and cancels its calls.',
      messages: messages.byKey,
      bindings: { ws: { method: 'GET' } },
    },
  };
}
