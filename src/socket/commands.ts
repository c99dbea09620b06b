import { problemOf } from '../problem.ts';
import type { Access } from '../auth/authorizer.ts';
import { Visibility, type EntityIndex } from '../auth/visibility.ts';
import { hubError, HubError } from '../errors.ts';
import { eventTopic } from '../events/selection.ts';
import type { EventSubscriber } from '../fanout/batch.ts';
import { asText } from '../fanout/coerce.ts';
import { both } from '../fanout/filter.ts';
import { TOPIC_NAMES, type TopicName, topicName } from '../fanout/topic_name.ts';
import { show } from '../model/error_value_text.ts';
import type { PublishResult, PubSubDeps, IngestResult, Use } from './deps.ts';
import { selectTopic } from './event_selection.ts';
import type { EventTailDeps } from './event_tail.ts';
import { afterIn, type FrameParams, identityOf, readInterest, readParams, sizeOf } from './params.ts';
import { cutterOf, ownerFilter } from './topic_owners.ts';
import { type ClientFrame, SocketCommandError } from './wire.ts';

/** The connection on which a command arrived, with its subscriptions. */
export interface CommandConnection {
  readonly deps: PubSubDeps;
  /** Path of the upgrade request, which contains the API version. */
  readonly path: string;
  readonly sendQueue: EventSubscriber;
  /** Number of subscriptions, and total size of their params. */
  readonly subscriptions: number;
  readonly paramsSize: number;
  holds(identity: string): boolean;
  /**
   * Registers a new subscription and acknowledges it before its first message. In a cluster, the acknowledgment, and
   * with it the next frame, may wait until all hubs have received the interest. Never fails.
   */
  hold(id: number, held: HeldSubscription): Promise<void> | undefined;
  /** The same for a subscription that begins after a cursor of the event log. */
  holdTail(id: number, held: HeldSubscription, from: TailStart): void;
  /** Removes a subscription. Returns false if the id is unknown. */
  release(id: number): boolean;
  /** Reports the problems of a publish in one error frame. A success is not answered. */
  taken(taken: IngestResult): void;
  /** Reports a publish that failed as a whole. */
  failPublish(error: unknown): void;
}

/** One subscription of a connection. */
export interface HeldSubscription {
  readonly topicName: string;
  readonly identity: string;
  /** Size of the params, as returned by sizeOf. */
  readonly paramsSize: number;
  /** Time at which the token expires, which closes the subscription. */
  readonly expiresMs: number;
  /** Aborted when the API key is revoked, which closes the subscription. */
  readonly revoked?: AbortSignal | undefined;
}

/** First position, and selected events, of a subscription to the event log. */
export interface TailStart extends Pick<EventTailDeps, 'log' | 'selection' | 'after'> {}

/** A command of the protocol. Its handler throws a SocketCommandError if it fails. */
export interface Command {
  readonly event: string;
  readonly summary: string;
  /** Topics that the command accepts; undefined if it has no topic. */
  readonly topics: readonly string[] | undefined;
  /** Event of the response to a success; undefined if a success is not answered. */
  readonly answer: 'subscribed' | 'unsubscribed' | undefined;
  /** Permission required for the topic; undefined for none. */
  readonly use: Use | undefined;
  /** Whether the command runs even if the connection has closed since the frame arrived. */
  readonly outlivesConnection: boolean;
  /** Runs the command. If the next frame must wait, returns a promise for which it waits; the promise never rejects. */
  readonly handle: (connection: CommandConnection, frame: ClientFrame, access: Access) => Promise<void> | undefined;
}

/** Topics that clients may publish to. */
const PUBLISHED = ['location_updates', 'proximity_updates'] as const;

const NOTHING: EntityIndex = { exists: () => false, zoneBy: () => undefined, zoneOfFence: () => undefined };

export const COMMANDS: readonly Command[] = [
  {
    event: 'subscribe',
    summary: 'Subscribes to the events of a topic from now on, filtered and converted by the params',
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
    summary:
      'Publishes locations or proximities; one error reports those that are rejected, and a success is not answered',
    topics: PUBLISHED,
    answer: undefined,
    use: 'publish',
    outlivesConnection: true,
    handle: publish,
  },
];

function subscribe(
  connection: CommandConnection,
  frame: ClientFrame,
  { owned, readable, expiresMs, revoked }: Access,
): Promise<void> | undefined {
  const { name, ...topic } = readTopic(frame.topic);
  const params = readParams(frame.params, 'subscribeFailed');
  const { fanout, checkView, site = NOTHING, subscriptionsMax = 1000, paramsMax = 1 << 20 } = connection.deps;
  const visibility = readable && new Visibility(readable, site);
  if (connection.subscriptions >= subscriptionsMax) {
    throw new SocketCommandError('subscribeFailed', problemOf('subscriptions_used_up', { limit: subscriptionsMax }));
  }
  const size = sizeOf(params, paramsMax);
  if (connection.paramsSize + size > paramsMax) {
    const count = connection.paramsSize + size;
    throw new SocketCommandError(
      'subscribeFailed',
      problemOf('params_used_up', { path: 'params', limit: paramsMax, count }),
    );
  }
  const identity = identityOf(name, params);
  if (connection.holds(identity)) {
    throw new SocketCommandError('subscribeFailed', problemOf('subscription_exists', { topic: name }));
  }
  try {
    const held: HeldSubscription = { topicName: name, identity, paramsSize: size, expiresMs, revoked };
    if (afterIn(params) !== undefined) {
      const id = fanout.newId();
      connection.holdTail(id, held, tailStart(name, params, { owned, readable }, connection.deps));
      return undefined;
    }
    const { view, filter } = readInterest(topic, params, (asked) => checkView(asked, visibility));
    const own = owned && ownerFilter(topic.topic, params, { owned, visibility });
    const rewrite = cutterOf(topic.topic, view, visibility);
    const id = fanout.subscribe(connection.sendQueue, { topic: topic.topic, view, filter: both(filter, own), rewrite });
    return connection.hold(id, held);
  } catch (error) {
    if (!(error instanceof HubError) || error.code === 'HUB_NOT_AUTHORIZED') throw error;
    throw new SocketCommandError('subscribeFailed', error);
  }
}

/** Throws HUB_BAD_REQUEST, HUB_GONE, and like LoggedEvents.log and selectTopic. */
function tailStart(
  topicName: string,
  params: FrameParams,
  access: Pick<Access, 'owned' | 'readable'>,
  { events, ...deps }: PubSubDeps,
): TailStart {
  if (events === undefined) throw hubError('event_log_off');
  const log = events.log();
  const topic = eventTopic(topicName, 'topic');
  const selected = selectTopic(topic, params, { access, deps: { ...deps, zones: events.zones } });
  const after = log.positionOf(asText('after', afterIn(params)), 'params.after');
  return { log, after, selection: new Map([[topic, selected]]) };
}

function unsubscribe(connection: CommandConnection, frame: ClientFrame): undefined {
  const id = readId(frame.subscription_id);
  if (id === undefined) {
    const found = show(frame.subscription_id);
    throw new SocketCommandError('unsubscribeFailed', problemOf('not_an_integer', { path: 'subscription_id', found }));
  }
  if (connection.release(id)) return;
  throw new SocketCommandError('unsubscribeFailed', problemOf('subscription_unknown', { subscription_id: id }));
}

function publish(connection: CommandConnection, frame: ClientFrame): Promise<void> | undefined {
  const { name } = readTopic(frame.topic);
  const ingest = ingestOf(name, connection);
  if (ingest === undefined)
    throw new SocketCommandError('notAuthorized', problemOf('read_only_topic', { topic: name }));
  readParams(frame.params, 'invalidPayload');
  if (!Array.isArray(frame.payload)) {
    throw new SocketCommandError('invalidPayload', problemOf('not_an_array', { path: 'payload' }));
  }
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

/** Returns the ingest function of a topic; undefined if clients may not publish to it. */
function ingestOf(topicName: string, { deps }: CommandConnection) {
  const ingests = { location_updates: deps.ingestLocations, proximity_updates: deps.ingestProximities };
  const published = PUBLISHED.find((name) => name === topicName);
  return published && ingests[published];
}

function readTopic(topic: unknown): TopicName & { readonly name: string } {
  const found = topicName(topic);
  if (found !== undefined) return { name: topic as string, ...found };
  if (topic === undefined) throw new SocketCommandError('unknownTopic', problemOf('missing', { path: 'topic' }));
  if (typeof topic !== 'string')
    throw new SocketCommandError('unknownTopic', problemOf('not_a_string', { path: 'topic' }));
  throw new SocketCommandError('unknownTopic', problemOf('topic_unknown', { path: 'topic', found: show(topic) }));
}

/** Parses an id. Some clients send it as a string. */
function readId(value: unknown): number | undefined {
  const id = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof id === 'number' && Number.isSafeInteger(id) ? id : undefined;
}
