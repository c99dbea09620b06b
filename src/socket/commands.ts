import type { Access } from '../auth/authorizer.ts';
import { Visibility, type EntityIndex } from '../auth/visibility.ts';
import { HubError } from '../errors.ts';
import type { Subscriber } from '../fanout/batch.ts';
import { both } from '../fanout/filter.ts';
import { TOPIC_NAMES, type TopicName, topicName } from '../fanout/topic_name.ts';
import { grouped } from '../model/bounds.ts';
import { show } from '../model/error_value_text.ts';
import type { PublishResult, SocketDeps, Taken, Use } from './deps.ts';
import { identityOf, readInterest, readParams, sizeOf } from './params.ts';
import { cutterOf, ownerFilter } from './topic_owners.ts';
import { type ClientFrame, CommandError } from './wire.ts';

/** The connection that a command came on, with what it has subscribed to. */
export interface Connection {
  readonly deps: SocketDeps;
  /** That of its upgrade request, which carries the API version. */
  readonly path: string;
  readonly sendQueue: Subscriber;
  /** Number of its subscriptions, and the size of the params of all of them. */
  readonly subscriptions: number;
  readonly paramsSize: number;
  holds(identity: string): boolean;
  /**
   * Keeps a new subscription, and tells the client before the first message can: at once, or when all hubs know of it, for
   * which the next frame waits. Never fails.
   */
  hold(id: number, held: Held): Promise<void> | undefined;
  /** Ends a subscription; returns false when there is none with that id. */
  release(id: number): boolean;
  /** Sends the problems of one publish in one error frame; a success gets no answer. */
  taken(taken: Taken): void;
  /** A publish that failed as a whole. */
  failPublish(error: unknown): void;
}

/** One subscription of a connection. */
export interface Held {
  readonly topicName: string;
  readonly identity: string;
  /** See sizeOf. */
  readonly paramsSize: number;
  /** When it ends, because its token does. */
  readonly expiresMs: number;
}

/** What a client may ask for. A command throws a CommandError when it cannot be done. */
export interface Command {
  readonly event: string;
  readonly summary: string;
  /** Topics that it can name; undefined: none. */
  readonly topics: readonly string[] | undefined;
  /** Event of the answer to a success; undefined: there is none. */
  readonly answer: 'subscribed' | 'unsubscribed' | undefined;
  /** What the client must be allowed to do with the topic; undefined: nothing. */
  readonly use: Use | undefined;
  /** Whether it is done also where the connection has ended since the frame came. */
  readonly outlivesConnection: boolean;
  /** Returns what the next frame of the connection must wait for, if anything. It never fails. */
  readonly handle: (connection: Connection, frame: ClientFrame, access: Access) => Promise<void> | undefined;
}

/** Topics that clients may publish to. */
const PUBLISHED = ['location_updates', 'proximity_updates'] as const;

const NOTHING: EntityIndex = { exists: () => false, zoneBy: () => undefined, zoneOfFence: () => undefined };

export const COMMANDS: readonly Command[] = [
  {
    event: 'subscribe',
    summary: 'Wants the events of a topic from now on, as the params say',
    topics: TOPIC_NAMES,
    answer: 'subscribed',
    use: 'subscribe',
    outlivesConnection: false,
    handle: subscribe,
  },
  {
    event: 'unsubscribe',
    summary: 'Ends a subscription',
    topics: undefined,
    answer: 'unsubscribed',
    use: undefined,
    outlivesConnection: false,
    handle: unsubscribe,
  },
  {
    event: 'message',
    summary: 'Sends locations or proximities; only those that cannot be taken are answered, with one error',
    topics: PUBLISHED,
    answer: undefined,
    use: 'publish',
    outlivesConnection: true,
    handle: publish,
  },
];

function subscribe(
  connection: Connection,
  frame: ClientFrame,
  { owned, readable, expiresMs }: Access,
): Promise<void> | undefined {
  const { name, ...topic } = readTopic(frame.topic);
  const params = readParams(frame.params, 'subscribeFailed');
  const { fanout, checkView, site = NOTHING, subscriptionsMax = 1000, paramsMax = 1 << 20 } = connection.deps;
  const sight = readable && new Visibility(readable, site);
  if (connection.subscriptions >= subscriptionsMax) {
    throw new CommandError('subscribeFailed', `Cannot subscribe: the connection has ${subscriptionsMax} subscriptions`);
  }
  const size = sizeOf(params, paramsMax);
  if (connection.paramsSize + size > paramsMax) {
    const found = `${grouped(connection.paramsSize + size)} with those of other subscriptions`;
    const wanted = `must have at most ${grouped(paramsMax)} characters on one connection`;
    throw new CommandError('subscribeFailed', `params: ${wanted}, found ${found}`);
  }
  const identity = identityOf(name, params);
  if (connection.holds(identity)) {
    throw new CommandError('subscribeFailed', `Cannot subscribe to ${name}: a subscription with equal params exists`);
  }
  try {
    const { view, filter } = readInterest(topic, params, (asked) => checkView(asked, sight));
    const own = owned && ownerFilter(topic.topic, params, { owned, sight });
    const rewrite = cutterOf(topic.topic, view, sight);
    const id = fanout.subscribe(connection.sendQueue, { topic: topic.topic, view, filter: both(filter, own), rewrite });
    return connection.hold(id, { topicName: name, identity, paramsSize: size, expiresMs });
  } catch (error) {
    if (!(error instanceof HubError) || error.code === 'HUB_NOT_AUTHORIZED') throw error;
    throw new CommandError('subscribeFailed', error.message);
  }
}

function unsubscribe(connection: Connection, frame: ClientFrame): undefined {
  const id = readId(frame.subscription_id);
  if (id === undefined) throw new CommandError('unsubscribeFailed', 'subscription_id: must be an integer');
  if (connection.release(id)) return;
  throw new CommandError('unsubscribeFailed', `Cannot unsubscribe ${id}: the connection has no such subscription`);
}

function publish(connection: Connection, frame: ClientFrame): Promise<void> | undefined {
  const { name } = readTopic(frame.topic);
  const ingest = ingestOf(name, connection);
  if (ingest === undefined) throw new CommandError('notAuthorized', `Cannot publish to ${name}: it can only be read`);
  readParams(frame.params, 'invalidPayload');
  if (!Array.isArray(frame.payload)) throw new CommandError('invalidPayload', 'payload: must be an array');
  if (frame.payload.length === 0) return undefined;
  try {
    const result: PublishResult = ingest(frame.payload, connection.path);
    if (!(result instanceof Promise)) {
      connection.taken(result);
      return undefined;
    }
    return result.then(
      (taken) => connection.taken(taken),
      (error: unknown) => connection.failPublish(error),
    );
  } catch (error) {
    connection.failPublish(error);
  }
  return undefined;
}

/** How items of a topic are taken; undefined when clients may not publish to it. */
function ingestOf(topicName: string, { deps }: Connection) {
  const ingests = { location_updates: deps.ingestLocations, proximity_updates: deps.ingestProximities };
  const published = PUBLISHED.find((name) => name === topicName);
  return published && ingests[published];
}

function readTopic(topic: unknown): TopicName & { readonly name: string } {
  const found = topicName(topic);
  if (found !== undefined) return { name: topic as string, ...found };
  if (topic === undefined) throw new CommandError('unknownTopic', 'topic: is required, but is missing');
  if (typeof topic !== 'string') throw new CommandError('unknownTopic', 'topic: must be a string');
  throw new CommandError('unknownTopic', `topic: there is no topic ${show(topic)}`);
}

/** An id; some clients send it as a string. */
function readId(value: unknown): number | undefined {
  const id = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof id === 'number' && Number.isSafeInteger(id) ? id : undefined;
}
