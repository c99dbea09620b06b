import {
  clientCredentials,
  LocationHub,
  type Publisher,
  type Schemas,
  SubscriptionError,
  type Subscription,
  type SubscriptionParams,
  type Topic,
} from 'omlox-location-hub-client';
import type { Config, Message, Node, Red } from './red.ts';
import { answerOf, whereIs } from './where_is.ts';

/** A configuration node: a hub, and the connection that its nodes share. */
interface HubNode extends Node {
  hub: LocationHub;
  publisher: Publisher;
}

/**
 * Registers the nodes:
 *
 *     omlox-hub         the address of a hub, and its credentials
 *     omlox-location    sends locations to the hub
 *     omlox-events      receives the events of a topic
 *     omlox-where-is    returns where an object is
 *     omlox-rpc         calls a method
 */
export default function register(red: Red): void {
  const { nodes } = red;
  nodes.registerType(
    'omlox-hub',
    function (this: Node, config) {
      nodes.createNode(this, config);
      openHub(this as HubNode, config);
    },
    { credentials: { token: { type: 'password' }, clientSecret: { type: 'password' } } },
  );
  const add = (type: string, open: (node: Node, hub: HubNode, config: Config) => void): void => {
    nodes.registerType(type, function (this: Node, config) {
      nodes.createNode(this, config);
      const hub = nodes.getNode(textOf(config['hub'])) as HubNode | null | undefined;
      if (hub?.hub !== undefined) open(this, hub, config);
      else {
        this.status({ fill: 'red', shape: 'ring', text: 'no hub' });
        this.error('The node has no hub: choose one');
      }
    });
  };
  add('omlox-location', openLocation);
  add('omlox-events', (node, { hub }, config) => openEvents(node, hub, config));
  add('omlox-where-is', (node, { hub }, config) => openWhereIs(node, hub, config));
  add('omlox-rpc', (node, { hub }, config) => openRpc(node, hub, config));
}

function openHub(node: HubNode, { url, tokenUrl, clientId }: Config): void {
  const { token, clientSecret } = node.credentials ?? {};
  const client = { tokenUrl: textOf(tokenUrl), clientId: textOf(clientId), clientSecret: clientSecret ?? '' };
  const source = client.tokenUrl === '' ? token : clientCredentials(client);
  try {
    node.hub = new LocationHub(
      new URL(textOf(url)).href,
      source === undefined || source === '' ? {} : { token: source },
    );
    node.publisher = node.hub.publisher();
  } catch (error) {
    node.error(`url: must be that of the API of a hub, such as http://127.0.0.1:8081/hub/v2 (${reasonOf(error)})`);
  }
}

/** Sends the location, or the list of locations, of each message. Passes the message on when the hub has accepted it. */
function openLocation(node: Node, { publisher }: HubNode): void {
  input(node, async (message) => {
    const { payload } = message;
    const locations = (Array.isArray(payload) ? payload : [payload]) as readonly unknown[];
    const wrong = locations.find((each) => typeof each !== 'object' || each === null);
    if (locations.length === 0 || wrong !== undefined) {
      throw new Error(`payload: must be a location or a list of them, found ${valueText(wrong ?? payload)}`);
    }
    await Promise.all(locations.map((each) => publisher.publish(each as Schemas['Location'])));
    return message;
  });
}

/** Sends a message per event of a topic. The subscription continues after interruptions. */
function openEvents(node: Node, hub: LocationHub, config: Config): void {
  const topic = textOf(config['topic']) as Topic;
  let subscription: Subscription<Topic>;
  try {
    subscription = hub.subscribe(topic, {
      params: paramsOf(config['params']),
      onStatus(change) {
        if (change.status === 'connected') node.status({ fill: 'green', shape: 'dot', text: 'connected' });
        else if (change.status === 'lagging') {
          node.status({ fill: 'yellow', shape: 'ring', text: `${change.queued} events wait` });
        } else node.status({ fill: 'red', shape: 'ring', text: change.reason });
      },
    });
  } catch (error) {
    reportError(node, error);
    return;
  }
  node.on('close', (done) => {
    subscription.close();
    done();
  });
  void sendEvents(node, subscription, { topic, withState: config['state'] === true }).catch((error: unknown) => {
    reportError(node, error);
  });
}

async function sendEvents(
  node: Node,
  subscription: Subscription<Topic>,
  { topic, withState }: { readonly topic: Topic; readonly withState: boolean },
): Promise<void> {
  for await (const item of subscription) {
    const cursor = item.kind !== 'gap' && item.cursor !== undefined ? { cursor: item.cursor } : {};
    if (item.kind === 'events') {
      for (const payload of item.events) node.send({ topic, kind: 'event', payload, ...cursor });
    } else if (item.kind === 'gap') node.warn('Events may be missing: the connection was interrupted');
    else if (withState) node.send({ topic, kind: 'state', payload: item.state, ...cursor });
  }
}

/** Replaces the payload, the id of a trackable or provider, by its location and fences; null without a location. */
function openWhereIs(node: Node, hub: LocationHub, config: Config): void {
  input(node, async (message) => {
    const id = textOf(config['object']) || message.payload;
    if (typeof id !== 'string' || id === '') {
      throw new Error(`payload: must be the id of a trackable or provider, found ${valueText(id)}`);
    }
    message.payload = (await whereIs(hub, id)) ?? null;
    return message;
  });
}

/** Calls a method with the payload as its params, and replaces the payload by the result. */
function openRpc(node: Node, hub: LocationHub, config: Config): void {
  input(node, async (message) => {
    const method = textOf(config['method']) || textOf(message['method']);
    if (method === '') throw new Error('method: is required, in the node or in the message');
    const { payload } = message;
    const isObject = typeof payload === 'object' && payload !== null && !Array.isArray(payload);
    const timeout = Number(config['timeout'] ?? 0);
    const params = { ...(isObject ? payload : {}), ...(timeout > 0 && { _timeout: timeout }) };
    const body = { jsonrpc: '2.0', id: 1, method, params } as const;
    const { result, error } = answerOf(await hub.rest.PUT('/rpc', { body }));
    if (error !== undefined) throw new Error(`${method}: ${error.message} (${error.code})`);
    message.payload = result;
    return message;
  });
}

/** Handles input messages: sends the answer on, or reports the error to the flow. */
function input(node: Node, answer: (message: Message) => Promise<Message>): void {
  node.on('input', (message, send, done) => {
    answer(message).then(
      (answered) => {
        node.status({});
        send(answered);
        done();
      },
      (error: unknown) => {
        node.status({ fill: 'red', shape: 'ring', text: reasonOf(error) });
        done(error instanceof Error ? error : new Error(String(error)));
      },
    );
  });
}

function reportError(node: Node, error: unknown): void {
  const reason = reasonOf(error);
  node.status({ fill: 'red', shape: 'ring', text: reason });
  node.error(error instanceof SubscriptionError ? `The hub rejects the subscription: ${reason}` : reason, {});
}

/** Parses the filter of an events node: a JSON object. */
function paramsOf(text: unknown): SubscriptionParams {
  if (text === undefined || text === '') return {};
  let value: unknown;
  try {
    value = JSON.parse(textOf(text));
  } catch (error) {
    throw new Error(`filter: must be a JSON object (${reasonOf(error)})`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new Error(`filter: must be a JSON object, found ${valueText(value)}`);
  }
  return value as SubscriptionParams;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function valueText(value: unknown): string {
  return (JSON.stringify(value) ?? 'nothing').slice(0, 100);
}
