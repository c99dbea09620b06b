import { TOPIC_NAMES } from '../../fanout/topic_name.ts';
import { Components, type DocumentSchema } from '../../model/components.ts';
import { OWNER_HINTS } from '../owner_messages.ts';
import { COMMANDS, type Command } from '../commands.ts';
import { answerFrame, commandFrame, eventFrame, ownerFrame, WebsocketError } from './frames.ts';
import { Messages } from './messages.ts';
import { rpcChannel } from './rpc_channel.ts';

/** Describes another protocol for the document, using the components of the document. */
export type DescribeProtocol = (
  components: Components,
  reader: { readonly isKnown: boolean },
) => {
  /** Name as in "Location hub, WebSocket and MQTT". */
  readonly name: string;
  /** Paragraph for the description of the document. */
  readonly description: string;
  readonly servers: DocumentSchema;
  readonly operations: DocumentSchema;
  readonly channels: DocumentSchema;
};

/**
 * Returns the AsyncAPI 3.0 document of a version of the WebSocket API, generated from its commands and topics. `mqtt`
 * adds the messages exchanged with a broker, if one is configured. `prefix` is the path under which clients reach the
 * hub.
 */
export function asyncApiDocument(
  hubVersion: string,
  { version, prefix }: { readonly version: string; readonly prefix: string },
  mqtt?: (components: Components) => ReturnType<DescribeProtocol>,
): DocumentSchema {
  const components = new Components();
  const messages = new Messages(components, CHANNEL);
  const operations = Object.fromEntries(COMMANDS.map((command) => [command.event, received(command, messages)]));
  const events = TOPIC_NAMES.map((name) => messages.refer(`event.${named(name)}`, eventFrame(name)));
  const rpc = rpcChannel(components);
  const more = mqtt?.(components);
  const title = `Location hub, WebSocket ${version}`;
  return {
    asyncapi: '3.0.0',
    info: {
      title: more === undefined ? title : `${title} and ${more.name}`,
      version: hubVersion,
      description: more === undefined ? DESCRIPTION : `${DESCRIPTION}\n\n${more.description}`,
    },
    defaultContentType: 'application/json',
    servers: {
      hub: {
        host: '{address}',
        pathname: `${prefix}/hub/${version}`,
        protocol: 'ws',
        variables: { address: { default: 'localhost:8081', description: 'Name and port of the hub.' } },
      },
      ...more?.servers,
    },
    operations: {
      ...operations,
      event: {
        action: 'send',
        channel: { $ref: CHANNEL },
        summary: 'Sends events to a subscription, in order',
        messages: events,
      },
      ownerHint: {
        action: 'send',
        channel: { $ref: CHANNEL },
        summary: `Names the hub of a cluster that owns most of what the client sends, if the URL has ?${OWNER_HINTS}=true`,
        messages: [messages.refer(`message.${OWNER_HINTS}`, ownerFrame())],
      },
      ...rpc.operations,
      ...more?.operations,
    },
    channels: {
      socket: {
        address: '/ws/socket',
        servers: [{ $ref: '#/servers/hub' }],
        description: 'One connection, which all commands and subscriptions share. Subscriptions end with it.',
        messages: messages.byKey,
        bindings: { ws: { method: 'GET' } },
      },
      rpc: rpc.channel,
      ...more?.channels,
    },
    components: { schemas: components.schemas },
  };
}

const CHANNEL = '#/channels/socket';

const DESCRIPTION = `
Publish and subscribe over one WebSocket. A frame is one JSON object in one text frame, at most 32 KiB from the hub.

- Frames of a connection keep their order; subscribed comes before the first event of its subscription.
- Filters in params all have to hold. A number or a boolean may also come as a string.
- subscription_id in a message can be left out by a setting, and is to Go clients, which cannot bear it.
- A client that does not read what it subscribed to is disconnected with 1013 once its buffer is full; nothing is
  left out before.
- A frame to the hub that is too long closes the connection, if possible with 1009. With authorization a frame
  has at most 64 KiB until a valid token was shown: in the upgrade request, or by a frame before.
- An idle connection is closed; a ping keeps it open.
- The channel rpc is another connection, for remote procedure calls. Its token is that of the upgrade request.
`.trim();

function received({ event, summary, topics, answer }: Command, messages: Messages): DocumentSchema {
  const sent =
    topics === undefined
      ? [messages.refer(event, commandFrame(event))]
      : topics.map((topic) => messages.refer(`${event}.${named(topic)}`, commandFrame(event, topic)));
  const success = answer === undefined ? [] : [messages.refer(answer, answerFrame(answer))];
  const answers = [...success, messages.refer('error', WebsocketError)];
  return {
    action: 'receive',
    channel: { $ref: CHANNEL },
    summary,
    messages: sent,
    reply: { channel: { $ref: CHANNEL }, messages: answers },
  };
}

/** Returns a topic name as part of a key, which must not contain a colon. */
function named(topic: string): string {
  return topic.replace(':', '.');
}
