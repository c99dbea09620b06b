import Type, { type TObject } from 'typebox';
import type { Components, DocumentSchema } from '../../model/components.ts';
import { RpcResponse, RpcSocketRequest } from '../../model/rpc.ts';
import { Properties } from '../../model/schema.ts';
import { Messages } from './messages.ts';

const CHANNEL = '#/channels/rpc';

const jsonrpc = Type.Literal('2.0', { description: 'Always 2.0.' });
const id = Type.Union([Type.String(), Type.Number()], { description: 'By which the response is known.' });
const handled = Type.String({ minLength: 1, description: 'Name of the method that the client handles.' });

const RegisterRequest = Type.Object(
  {
    jsonrpc,
    method: Type.Literal('register'),
    params: Type.Object({
      method: handled,
      zone_id: Type.Optional(
        Type.String({ description: 'The zone that it is for, whatever its name; any if absent.' }),
      ),
    }),
    id: Type.Optional(id),
  },
  { description: 'The client handles a method from now on. Sent again it changes the zone.' },
);

const UnregisterRequest = Type.Object(
  { jsonrpc, method: Type.Literal('unregister'), params: Type.Object({ method: handled }), id: Type.Optional(id) },
  { description: 'The client does not handle the method any more.' },
);

const ForwardedRequest = Type.Object(
  {
    jsonrpc,
    method: Type.String({ description: 'A method that the client handles.' }),
    params: Type.Optional(Properties),
    id: Type.Optional(
      Type.Integer({ minimum: 10_000, description: "The hub's own. Without it nobody waits for a response." }),
    ),
  },
  { description: 'A call for the client as a handler, which answers it with a response of the same id.' },
);

/** The channel of remote procedure calls, with its operations by their names. */
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
    register: operation('receive', 'Handles a method', ['rpc.register', RegisterRequest]),
    unregister: operation('receive', 'Handles it no more', ['rpc.unregister', UnregisterRequest]),
    call: operation('receive', 'Calls a method', ['rpc.call', RpcSocketRequest]),
    forward: operation('send', 'Asks a handler', ['rpc.forward', ForwardedRequest]),
  };
  return {
    operations,
    channel: {
      address: '/ws/rpc',
      servers: [{ $ref: '#/servers/hub' }],
      description: 'Remote procedure calls. What a client handles, and what it waits for, ends with its connection.',
      messages: messages.byKey,
      bindings: { ws: { method: 'GET' } },
    },
  };
}
