import { RPC_MESSAGE_MAX_BYTES, RpcAvailable, RpcRequest, RpcResponse } from '../../model/rpc.ts';
import { type ApiRoute, route, valueRoute } from '../route.ts';

/** Remote procedure calls. Methods are not limited to what is owned: see docs/authorization.md. */
export const RPC_ROUTES: readonly ApiRoute[] = [
  valueRoute({
    path: '/rpc/available',
    summary: 'Callable methods and their handlers',
    versions: ['v2'],
    returns: ['The methods.', RpcAvailable],
    value: (_call, { rpc }) => rpc.available(),
  }),
  route({
    method: 'PUT',
    path: '/rpc',
    summary: 'Call a method',
    versions: ['v2'],
    permission: { operation: 'UPDATE' },
    body: RpcRequest,
    unread: true,
    bodyMaxBytes: RPC_MESSAGE_MAX_BYTES,
    notes: {
      description:
        'One JSON-RPC 2.0 request with parameters by their names. A failure is an error of JSON-RPC, with status 200.',
      refusals: { 403: 'The access token does not permit calls, or not of this method.' },
    },
    replies: {
      200: { description: 'The result, or the error.', schema: RpcResponse },
      204: { description: 'The request has neither an id nor _caller_id, so it gets no response.' },
    },
    async handle({ body, path, token, reply, client }, { rpc }) {
      const by = { path, token, address: client.address?.(), gone: client.gone?.() };
      const response = await rpc.call(body as string, by);
      return response === undefined ? reply.noContent : reply.json(response);
    },
  }),
];
