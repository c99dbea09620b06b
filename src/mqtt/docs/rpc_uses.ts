import Type from 'typebox';
import { RpcRequest, RpcResponse, XCMD } from '../../model/rpc.ts';
import { AnyType } from '../../model/schema.ts';
import type { TopicUse } from './uses.ts';

const RPC = '/omlox/jsonrpc/rpc';
const REQUEST = `${RPC}/{method}/request`;
const RESPONSE = `${RPC}/{method}/response/{_caller_id}`;
const EXPIRY_SECONDS = 120;

const RpcAnnouncement = Type.Object(
  {
    id: Type.String({ description: 'Id of the handler.' }),
    method_name: Type.String({ description: 'The method, as in the topic.' }),
  },
  { title: 'RpcAnnouncement', description: 'Somebody handles a method. Sent anew every 60 s.' },
);

const CoreZoneBroadcast = Type.Object(
  {},
  { title: 'CoreZoneBroadcast', description: 'What a core zone broadcasts.', additionalProperties: AnyType },
);

/** Remote procedure calls by MQTT: the hub handles methods, and calls those of others. */
export function rpcUses(): readonly TopicUse[] {
  const announcement = {
    topics: [`${RPC}/available/{method}`],
    payload: RpcAnnouncement,
    qos: 1,
    isRetained: true,
    expirySeconds: EXPIRY_SECONDS,
  } as const;
  const once = { qos: 1, isRetained: false } as const;
  const request = { ...once, payload: RpcRequest, replyTopic: RESPONSE };
  const response = { ...once, topics: [RESPONSE], payload: RpcResponse };
  const [toAll, toOne] = [[REQUEST], [`${REQUEST}/{handler_id}`]];
  return [
    { ...announcement, action: 'send', summary: 'Announces a method that has a handler at this hub' },
    { ...announcement, action: 'receive', summary: 'Hears of methods that others handle' },
    { ...request, action: 'receive', topics: toAll, summary: 'Takes a call of a method, for all of its handlers' },
    { ...request, action: 'receive', topics: toOne, summary: 'Takes a call of a method, for one of its handlers' },
    { ...request, action: 'send', topics: toOne, summary: 'Calls a method of one of its handlers' },
    { ...response, action: 'send', summary: 'Answers a call' },
    { ...response, action: 'receive', summary: 'Takes the answer to a call' },
    {
      ...once,
      action: 'receive',
      summary: 'Hears what a core zone broadcasts',
      topics: [`${RPC}/${XCMD}/broadcast`],
      payload: CoreZoneBroadcast,
    },
  ];
}
