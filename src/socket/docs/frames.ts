import { REASON_MEMBERS } from '../../model/error_body.ts';
import Type, { type TObject } from 'typebox';
import { TOPIC_NAMES, type TopicName, topicName } from '../../fanout/topic_name.ts';
import { FeatureCollection, FenceEventCollection } from '../../model/geojson.ts';
import { EVENT_TOPICS } from '../../model/logged_event.ts';
import { AnyType, documented, OneOf, Properties } from '../../model/schema.ts';
import { TOPIC_PAYLOADS } from '../../model/topic_payloads.ts';
import { OWNER_HINTS, OwnerHint } from '../owner_messages.ts';
import { PUBLISH_PARAMS, subscriptionParams } from '../params.ts';
import { WIRE_ERROR_MEANINGS, WIRE_ERRORS, type WireError } from '../wire.ts';

/** Schemas of the WebSocket frames, for the API documents. */

const id = Type.Integer({ minimum: 1, description: 'The subscription.' });

const cursor = Type.Optional(
  Type.String({
    description:
      'Only in a subscription with params.after: position in the event log after these events. The payload may then be ' +
      'empty.',
  }),
);

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
    description: Type.String({ description: 'The invalid field, and the value found.' }),
    ...REASON_MEMBERS,
  },
  { title: 'WebsocketError', description: 'A command failed, wholly or in part. The connection stays open.' },
);

const topic = OneOf(TOPIC_NAMES, { title: 'WebsocketTopic', description: 'The topic of a subscription.' });

/** Frames for any topic, named as in the omlox Hub API. */
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
    { title: 'WebsocketSubscriptionResponse', description: 'The subscription exists.' },
  ),
  Type.Object(
    {
      event: Type.Literal('message', { description: 'Always message.' }),
      topic,
      subscription_id: Type.Optional(id),
      payload: Type.Array(AnyType, { description: 'One or more items of the topic.' }),
    },
    { title: 'WebsocketMessage', description: 'Events for a subscription, or items that a client publishes.' },
  ),
  WebsocketError,
];

/** Returns the schema of the frame that a client sends for a command, optionally for one topic. */
export function commandFrame(event: string, topic?: string): TObject {
  const name = topicName(topic);
  if (name === undefined) return Type.Object({ event: Type.Literal(event), subscription_id: id });
  const frame = { event: Type.Literal(event), topic: Type.Literal(topic ?? '') };
  if (event === 'subscribe') return Type.Object({ ...frame, params: Type.Optional(subscriptionParams(name)) });
  return Type.Object({ ...frame, params: Type.Optional(PUBLISH_PARAMS), payload: payloadOf(name) });
}

/** Returns the schema of the response to a successful command. */
export function answerFrame(event: string): TObject {
  return Type.Object({
    event: Type.Literal(event),
    topic: Type.String({ description: 'As it was subscribed to.' }),
    subscription_id: id,
  });
}

/** Returns the schema of the frame that contains events of a topic. */
export function eventFrame(topic: string): TObject {
  const name = topicName(topic);
  return Type.Object({
    event: Type.Literal('message'),
    topic: Type.Literal(topic),
    subscription_id: Type.Optional(id),
    payload: name === undefined ? Type.Array(Type.Unknown()) : payloadOf(name),
    ...(name !== undefined && isLogged(name) && { cursor }),
  });
}

/** Whether the event log has the events of a topic, so that a subscription can begin after a cursor. */
function isLogged({ topic, geojson }: TopicName): boolean {
  return !geojson && EVENT_TOPICS.some((logged) => logged === topic);
}

/** Returns the schema of the message that names the owner of a client's locations. */
export function ownerFrame(): TObject {
  return Type.Object({
    event: Type.Literal('message'),
    topic: Type.Literal(OWNER_HINTS),
    payload: Type.Array(OwnerHint, { description: 'One.' }),
  });
}

function payloadOf({ topic, geojson }: TopicName) {
  const collection = topic === 'fence_events' ? FenceEventCollection : FeatureCollection;
  const element = geojson ? collection : TOPIC_PAYLOADS[topic];
  return Type.Array(element, { description: 'One or more.' });
}
