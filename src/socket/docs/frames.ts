import Type, { type TObject } from 'typebox';
import { TOPIC_NAMES, type TopicName, topicName } from '../../fanout/topic_name.ts';
import { FeatureCollection, FenceEventCollection } from '../../model/geojson.ts';
import { AnyType, documented, OneOf, Properties } from '../../model/schema.ts';
import { TOPIC_PAYLOADS } from '../../model/topic_payloads.ts';
import { PUBLISH_PARAMS, subscriptionParams } from '../params.ts';
import { WIRE_ERROR_MEANINGS, WIRE_ERRORS, type WireError } from '../wire.ts';

/** The frames of the WebSocket protocol as schemas, for the documents. */

const id = Type.Integer({ minimum: 1, description: 'The subscription.' });

const meanings = (Object.keys(WIRE_ERRORS) as WireError[])
  .map((error) => `${WIRE_ERRORS[error]}: ${WIRE_ERROR_MEANINGS[error]}`)
  .join(' ');

const WebsocketErrorCode = Type.Enum(Object.values(WIRE_ERRORS), {
  title: 'WebsocketErrorCode',
  description: meanings,
  ...documented({ type: 'integer' }),
});

export const WebsocketError = Type.Object(
  {
    event: Type.Literal('error', { description: 'Always error.' }),
    code: WebsocketErrorCode,
    description: Type.String({ description: 'What does not fit, and what was found.' }),
  },
  { title: 'WebsocketError', description: 'A command could not be done, or not all of it. The connection stays open.' },
);

const topic = OneOf(TOPIC_NAMES, { title: 'WebsocketTopic', description: 'What a subscription is to.' });

/** The frames of every topic together, named as the omlox Hub API does. */
export const WEBSOCKET_FRAMES: readonly TObject[] = [
  Type.Object(
    {
      event: Type.Literal('subscribe', { description: 'Always subscribe.' }),
      topic,
      params: Type.Optional(Properties),
    },
    { title: 'WebsocketSubscriptionRequest', description: 'A client subscribes to a topic; params are its filters.' },
  ),
  Type.Object(
    { event: Type.Literal('subscribed', { description: 'Always subscribed.' }), topic, subscription_id: id },
    { title: 'WebsocketSubscriptionResponse', description: 'The subscription is there.' },
  ),
  Type.Object(
    {
      event: Type.Literal('message', { description: 'Always message.' }),
      topic,
      subscription_id: Type.Optional(id),
      payload: Type.Array(AnyType, { description: 'One or more of what the topic is about.' }),
    },
    { title: 'WebsocketMessage', description: 'What a subscription is told, or a client publishes.' },
  ),
  WebsocketError,
];

/** The frame that a client sends for a command; with a topic, the one for that topic. */
export function commandFrame(event: string, topic?: string): TObject {
  const name = topicName(topic);
  if (name === undefined) return Type.Object({ event: Type.Literal(event), subscription_id: id });
  const frame = { event: Type.Literal(event), topic: Type.Literal(topic ?? '') };
  if (event === 'subscribe') return Type.Object({ ...frame, params: Type.Optional(subscriptionParams(name)) });
  return Type.Object({ ...frame, params: Type.Optional(PUBLISH_PARAMS), payload: payloadOf(name) });
}

/** The frame that answers a command which was done. */
export function answerFrame(event: string): TObject {
  return Type.Object({
    event: Type.Literal(event),
    topic: Type.String({ description: 'As it was subscribed to.' }),
    subscription_id: id,
  });
}

/** The frame that carries events of a topic to a subscription. */
export function eventFrame(topic: string): TObject {
  const name = topicName(topic);
  return Type.Object({
    event: Type.Literal('message'),
    topic: Type.Literal(topic),
    subscription_id: Type.Optional(id),
    payload: name === undefined ? Type.Array(Type.Unknown()) : payloadOf(name),
  });
}

function payloadOf({ topic, geojson }: TopicName) {
  const collection = topic === 'fence_events' ? FenceEventCollection : FeatureCollection;
  const element = geojson ? collection : TOPIC_PAYLOADS[topic];
  return Type.Array(element, { description: 'One or more.' });
}
