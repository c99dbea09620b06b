import Type from 'typebox';
import type { TopicStyle } from '../../model/mqtt.ts';
import { RpcRequest, RpcResponse, XcmdBroadcast } from '../../model/rpc.ts';
import { availableTopics, broadcastTopics, requestTopic, responseTopic } from '../rpc_topics.ts';
import type { TopicUse } from './uses.ts';

const EXPIRY_SECONDS = 120;
const [METHOD, HANDLER, CALLER] = ['{method}', '{handler_id}', '{_caller_id}'] as const;

const RpcAnnouncement = Type.Object(
  {
    id: Type.String({ description: 'Id of the handler.' }),
    method_name: Type.String({ description: 'The method, as in the topic.' }),
    zone_id: Type.Optional(Type.String({ description: 'Zone of the handler; any zone if absent.' })),
  },
  { title: 'RpcAnnouncement', description: 'Announces the handler of a method. Repeated every 60 s.' },
);

/**
 * Returns the topic uses for remote procedure calls. The hub handles methods and calls those of other handlers. It
 * accepts both topic styles.
 */
export function rpcUses(style: TopicStyle): readonly TopicUse[] {
  const both = ['slash', 'plain'] as const;
  const own = style === 'both' ? both : [style];
  const announcement = { payload: RpcAnnouncement, isRetained: true, expirySeconds: EXPIRY_SECONDS } as const;
  const send = { action: 'send', qos: 1, isRetained: false } as const;
  const receive = { action: 'receive', qos: 0, isRetained: false } as const;
  const requests = (styles: readonly (typeof both)[number][], handler: string | undefined) => ({
    topics: styles.map((each) => requestTopic(METHOD, handler, each)),
    payload: RpcRequest,
    replyTopic: responseTopic(METHOD, CALLER, styles[0] ?? 'slash'),
  });
  const responses = (styles: readonly (typeof both)[number][]) => ({
    topics: styles.map((each) => responseTopic(METHOD, CALLER, each)),
    payload: RpcResponse,
  });
  return [
    {
      ...{ ...send, ...announcement, topics: availableTopics(METHOD, style) },
      summary: 'Announces a method that has a handler at this hub',
    },
    {
      ...{ ...receive, ...announcement, topics: availableTopics(METHOD, 'both') },
      summary: 'Receives announcements of methods that others handle',
    },
    { ...receive, ...requests(both, undefined), summary: 'Receives a call of a method for all of its handlers' },
    { ...receive, ...requests(both, HANDLER), summary: 'Receives a call of a method for one of its handlers' },
    { ...send, ...requests(own, HANDLER), summary: 'Calls a method of one of its handlers' },
    { ...send, ...responses(own), summary: 'Answers a call' },
    { ...receive, ...responses(both), summary: 'Receives the answer to a call' },
    {
      ...{ ...receive, topics: broadcastTopics(), payload: XcmdBroadcast },
      summary: 'Receives broadcasts of core zones, and publishes them on the topic xcmd_broadcast of the WebSocket',
    },
  ];
}
