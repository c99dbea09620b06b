import type { Components, DocumentSchema } from '../../model/components.ts';
import { CHANGE_TYPES } from '../../model/events.ts';
import type { BrokerSettings } from '../broker_connection.ts';
import { addressOf, KEEPALIVE_SECONDS, OFFLINE, PACKET_BYTES_MAX, SESSION_SECONDS } from '../session.ts';
import { statusTopics } from '../topics.ts';
import { nodeOf } from '../home_assistant_documents.ts';
import { homeAssistantUses } from './home_assistant_uses.ts';
import { rpcUses } from './rpc_uses.ts';
import { inboundUses, outboundUses, type PublishSettings, type TopicUse } from './uses.ts';

/** Version of the MQTT bindings of AsyncAPI. */
const BINDING = { bindingVersion: '0.2.0' };
const SERVER = 'broker';

const DESCRIPTION = `
By MQTT the hub is a client of the server ${SERVER}, as are its peers. Each message is one JSON object, except lists of
locations. The hub accepts topics with and without a leading slash, and publishes those that are channels here.
A name in braces is one level of a topic, percent-encoded where it has one of / + # %.
`.trim();

const PARAMETERS: Readonly<Record<string, DocumentSchema>> = {
  provider_id: { description: 'Id of a location provider.' },
  source: { description: 'Id or foreign id of the zone that a proximity is in.' },
  trackable_id: { description: 'Id of a trackable.' },
  fence_id: { description: 'Id of a fence.' },
  id: { description: 'Id of the entity.' },
  event_type: { description: 'Type of the change.', enum: CHANGE_TYPES },
  uns: { description: 'The property com.flowcate.uns of a trackable: one level or more.' },
  method: { description: 'Name of a method.' },
  handler_id: { description: 'Id of one of its handlers.' },
  _caller_id: { description: 'The parameter of the call.' },
};

interface Describing extends PublishSettings {
  readonly broker: BrokerSettings;
  readonly homeAssistant: { readonly prefix: string; readonly ownerId: string } | undefined;
  /** Whether the reader is authenticated. The address of the broker is hidden from others. */
  readonly isKnown: boolean;
}

/** Returns the MQTT part of the AsyncAPI document: the broker, a channel for each topic, and the hub's operations. */
export function describeMqtt(settings: Describing, components: Components) {
  const channels = new Channels(components);
  const { style, homeAssistant } = settings;
  const ofHomeAssistant =
    homeAssistant === undefined
      ? []
      : homeAssistantUses({ prefix: homeAssistant.prefix, node: nodeOf(homeAssistant.ownerId) });
  const uses = [...inboundUses(), ...outboundUses(settings), ...rpcUses(style), ...ofHomeAssistant];
  for (const use of uses) channels.add(use);
  const { byKey, operations } = channels;
  const servers: DocumentSchema = { [SERVER]: serverOf(settings) };
  return {
    name: 'MQTT',
    description: DESCRIPTION,
    servers,
    channels: byKey as DocumentSchema,
    operations: operations as DocumentSchema,
  };
}

/** Shown instead of the broker's address if that is hidden. */
const HIDDEN: DocumentSchema = {
  host: '{broker}',
  variables: {
    broker: { description: 'Host and port of the broker. They are shown to clients with an access token.' },
  },
};

function serverOf({ broker, hubId, style, isKnown }: Describing): DocumentSchema {
  const { protocol, path, clientId, username, tls } = broker;
  const [topic] = statusTopics(hubId, style);
  const security = [
    ...(username === undefined ? [] : [{ type: 'userPassword' }]),
    ...(tls?.certPath === undefined ? [] : [{ type: 'X509' }]),
  ];
  return {
    ...(isKnown ? { host: addressOf(broker), ...(protocol.startsWith('ws') && { pathname: path }) } : HIDDEN),
    protocol,
    protocolVersion: '5.0',
    description: 'The MQTT broker of the site. The bindings are those of the hub as its client.',
    ...(security.length > 0 && { security }),
    bindings: {
      mqtt: {
        clientId,
        cleanSession: false,
        lastWill: { topic, qos: 1, retain: true, message: OFFLINE },
        keepAlive: KEEPALIVE_SECONDS,
        sessionExpiryInterval: SESSION_SECONDS,
        maximumPacketSize: PACKET_BYTES_MAX,
        ...BINDING,
      },
    },
  };
}

/** One channel per topic, and one operation for each use of it. */
class Channels {
  readonly byKey: Record<string, DocumentSchema> = {};
  readonly operations: Record<string, DocumentSchema> = {};
  readonly #components: Components;
  readonly #keys = new Map<string, string>();

  constructor(components: Components) {
    this.#components = components;
  }

  add({ action, summary, topics, payload, qos, isRetained, expirySeconds, replyTopic }: TopicUse): void {
    for (const topic of topics) {
      const key = this.#keyOf(topic);
      const channel = { $ref: `#/channels/${key}` };
      this.byKey[key] ??= {
        address: topic,
        servers: [{ $ref: `#/servers/${SERVER}` }],
        ...parametersOf(topic),
        messages: {
          message: {
            payload: this.#components.show(payload),
            bindings: { mqtt: { contentType: 'application/json', ...BINDING } },
          },
        },
      };
      this.operations[`${action === 'send' ? 'publish' : 'take'}.${key}`] = {
        action,
        channel,
        summary,
        messages: [{ $ref: `${channel.$ref}/messages/message` }],
        ...(replyTopic !== undefined && { reply: { channel: { $ref: `#/channels/${this.#keyOf(replyTopic)}` } } }),
        bindings: {
          mqtt: {
            qos,
            ...(isRetained !== undefined && { retain: isRetained }),
            ...(expirySeconds !== undefined && { messageExpiryInterval: expirySeconds }),
            ...BINDING,
          },
        },
      };
    }
  }

  /**
   * Returns a unique key for a topic: its levels joined by dots. If a topic exists with and without a leading slash,
   * the key of the second is marked as plain.
   */
  #keyOf(topic: string): string {
    const known = this.#keys.get(topic);
    if (known !== undefined) return known;
    const levels = topic.replaceAll(/[{}]/g, '').split('/');
    const name = levels
      .filter((level) => level !== '')
      .join('.')
      .replaceAll(/[^\w.-]/g, '_');
    const isTaken = [...this.#keys.values()].includes(name);
    const key = isTaken ? `${name}.plain` : name;
    this.#keys.set(topic, key);
    return key;
  }
}

function parametersOf(topic: string): { readonly parameters?: DocumentSchema } {
  const names = [...topic.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  if (names.length === 0) return {};
  return { parameters: Object.fromEntries(names.map((name) => [name, PARAMETERS[name]])) };
}
