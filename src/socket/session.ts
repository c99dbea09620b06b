import { show } from '../model/error_value_text.ts';
import type { ErrorReason } from '../reasons.ts';
import { problemOf } from '../problem.ts';
import { type Access, FULL_ACCESS } from '../auth/authorizer.ts';
import { HubError, hubError } from '../errors.ts';
import type { HandlePeer, Peer, PeerEvents } from '../exchange.ts';
import { SendQueue } from '../fanout/send_queue.ts';
import type { Borrowed } from '../model/borrowed.ts';
import { bytesBeyond } from '../model/bounds.ts';
import { COMMANDS, type Command, type CommandConnection, type HeldSubscription, type TailStart } from './commands.ts';
import { EventTail } from './event_tail.ts';
import type { PubSubDeps, IngestResult } from './deps.ts';
import { Expiry } from './expiry.ts';
import { FramesInOrder } from './frames_in_order.ts';
import { runCooperatively } from './cooperative_frames.ts';
import { asksForHints, ConnectionOwners, ownerMessage } from './owner_messages.ts';
import { tokenOfUpgrade } from './upgrade_token.ts';
import {
  acknowledgement,
  type ClientFrame,
  SocketCommandError,
  describeProblems,
  errorFrame,
  LONG_FRAME_CHARACTERS,
  readFrame,
  readLongFrame,
  WIRE_ERRORS,
  type WireError,
} from './wire.ts';
import { isObject } from '../model/json_tree.ts';

/** Close codes: frame too long, overload, internal error. */
const TOO_LONG = 1009;
const TRY_AGAIN_LATER = 1013;
const INTERNAL_ERROR = 1011;

/** Maximum size of a frame in bytes before the connection has presented a valid token, if one is required. */
const UNAUTHENTICATED_FRAME_MAX_BYTES = 64 << 10;

/** Unsent bytes of a connection beyond which its subscriptions to the event log wait. */
const TAIL_UNSENT_BYTES = 128 << 10;

/** Creates the WebSocket for publishing and subscribing, with one session per connection. */
export function createSocket(deps: PubSubDeps): HandlePeer {
  return (peer) => new Session(peer, deps);
}

/**
 * One connection. Reads its frames, runs its commands, and holds its subscriptions until it closes. Items published
 * before the close are still ingested.
 */
class Session implements PeerEvents, CommandConnection {
  readonly deps: PubSubDeps;
  readonly path: string;
  readonly sendQueue: SendQueue;
  readonly echoId: boolean;
  readonly #peer: Peer;
  readonly #isGoClient: boolean;
  /** Token of the upgrade request, for frames without one. */
  readonly #token: string | undefined;
  readonly #frames: FramesInOrder;
  readonly #expiry: Expiry;
  /** Undefined unless the client asks for hints. */
  readonly #owners: ConnectionOwners | undefined;
  readonly #held = new Map<number, HeldSubscription>();
  /** Subscriptions to the event log. */
  readonly #tails = new Map<number, EventTail>();
  readonly #identities = new Set<string>();
  #paramsSize = 0;
  /** Whether the upgrade request or a frame has presented a valid token. */
  #isKnown: boolean;
  #closed = false;

  constructor(peer: Peer, deps: PubSubDeps) {
    this.deps = deps;
    this.path = peer.path;
    this.#isGoClient = peer.userAgent.startsWith('Go-http-client/');
    const { subscriptionIdMode: mode, queueMaxBytes = 64 * 1024 * 1024, networkMaxBytes = 256 * 1024 } = deps;
    const { unsent } = deps;
    // The Go client recognizes messages by the absence of an id, and drops messages that have one.
    this.echoId = mode === 'always' || (mode === 'auto' && !this.#isGoClient);
    const overflowed = (waitingBytes: number): void => deps.tooSlow?.(peer, waitingBytes);
    this.sendQueue = new SendQueue(peer, { queueMaxBytes, networkMaxBytes, ...(unsent && { unsent }), overflowed });
    deps.open?.add(this.sendQueue);
    this.#peer = peer;
    if (deps.takeOwnerHint !== undefined && asksForHints(peer.query)) this.#owners = new ConnectionOwners();
    this.#token = tokenOfUpgrade(peer);
    this.#isKnown = deps.authorize === undefined || peer.isKnown;
    this.#frames = new FramesInOrder({
      all: deps.waiting,
      // Runs synchronously if the frame is short and its token is cached.
      run: runCooperatively(deps.turns, (text) => this.#run(text)),
      overflowed: () => peer.close(TRY_AGAIN_LATER, 'Too many frames wait for an access token to be verified'),
    });
    const { now = () => 0, schedule = () => () => {} } = deps;
    this.#expiry = new Expiry({ now, schedule, expired: (ids) => this.#expired(ids) });
  }

  get subscriptions(): number {
    return this.#held.size;
  }

  /** Total size of the params of all subscriptions. */
  get paramsSize(): number {
    return this.#paramsSize;
  }

  /**
   * Ingests a message from its bytes if it contains locations in the usual form and the client may publish all
   * locations. hot
   */
  bytes(message: Borrowed): boolean {
    const { ingestMessage } = this.deps;
    if (ingestMessage === undefined || !this.#frames.isIdle || !this.#mayPublishAny()) return false;
    try {
      const committed = ingestMessage(message);
      if (committed === 'unusual') return false;
      this.#hintAtOwner();
      this.taken({ problems: [], committed });
    } catch (error) {
      this.failPublish(error);
    }
    return true;
  }

  /** Notifies the client if another hub owns most of what it sends. */
  #hintAtOwner(): void {
    const hint = this.#owners?.sent(this.deps.takeOwnerHint?.());
    if (hint !== undefined) this.sendQueue.reply(ownerMessage(hint));
  }

  message(text: string): void {
    this.#frames.push(text);
  }

  drained(): void {
    this.sendQueue.drained();
    for (const tail of this.#tails.values()) tail.wake();
  }

  closed(): void {
    this.#closed = true;
    this.#expiry.clear();
    this.sendQueue.close();
    this.deps.open?.delete(this.sendQueue);
    for (const id of this.#held.keys()) this.deps.fanout.unsubscribe(id);
    for (const tail of this.#tails.values()) tail.end();
    this.#tails.clear();
    this.#held.clear();
    this.#identities.clear();
  }

  /** Sends an error frame. */
  fail(error: WireError, why: ErrorReason, description: string): void {
    // The Go client waits forever if its subscribe is answered with 10006.
    const sent = error === 'notAuthenticated' && this.#isGoClient ? 'notAuthorized' : error;
    this.sendQueue.reply(errorFrame(WIRE_ERRORS[sent], why, description));
  }

  /** Reports the problems of a publish in one error frame. A success is not answered. */
  taken({ problems, committed }: IngestResult): void {
    const [first] = problems;
    if (first !== undefined) this.fail('invalidPayload', first, describeProblems(problems));
    committed?.catch((error: unknown) => this.failPublish(error));
  }

  /** Reports a publish that failed as a whole. The message of an internal error is not revealed. */
  failPublish(error: unknown): void {
    const failure = error instanceof HubError ? error : hubError('payload_failed');
    if (failure !== error) this.deps.report?.(error);
    this.fail('invalidPayload', failure, failure.message);
  }

  holds(identity: string): boolean {
    return this.#identities.has(identity);
  }

  holdTail(id: number, held: HeldSubscription, from: TailStart): void {
    this.#add(id, held);
    const { topicName } = held;
    this.sendQueue.reply(acknowledgement('subscribed', topicName, id));
    // The acknowledgment may have exceeded the bound of the send queue, which closes the connection.
    if (this.#closed) return;
    const subscription = this.echoId ? `,"subscription_id":${id}` : '';
    const { turns, schedule = () => () => undefined } = this.deps;
    const tail = new EventTail({
      ...from,
      head: `"event":"message","topic":${JSON.stringify(topicName)}${subscription}`,
      send: (frame) => this.sendQueue.reply(frame),
      hasRoom: () => this.sendQueue.waitingBytes() < TAIL_UNSENT_BYTES,
      failed: (error) => this.#tailFailed(id, error),
      turns,
      schedule,
    });
    this.#tails.set(id, tail);
    tail.start();
  }

  hold(id: number, held: HeldSubscription): Promise<void> | undefined {
    this.#add(id, held);
    const announced = this.deps.interestAnnounced?.();
    if (announced !== undefined) return this.#openAfter(announced, id, held);
    this.#open(id, held);
    return undefined;
  }

  /** Removes a subscription. Returns false if the connection has none with this id. */
  release(id: number): boolean {
    const held = this.#end(id);
    if (held === undefined) return false;
    this.#expiry.delete(id);
    this.sendQueue.reply(acknowledgement('unsubscribed', held.topicName, id));
    return true;
  }

  #run(text: string): Promise<void> | undefined {
    if (!this.#isKnown && bytesBeyond(text, UNAUTHENTICATED_FRAME_MAX_BYTES) !== undefined) {
      const reason = `A frame may have ${UNAUTHENTICATED_FRAME_MAX_BYTES} bytes until a valid access token was shown`;
      this.#peer.close(TOO_LONG, reason);
      return undefined;
    }
    if (text.length > LONG_FRAME_CHARACTERS) return this.#runLong(text);
    try {
      return this.#perform(readFrame(text, this.deps.depthMax));
    } catch (error) {
      this.#refuse(error);
    }
    return undefined;
  }

  async #runLong(text: string): Promise<void> {
    const { turns, depthMax } = this.deps;
    try {
      // Other connections continue once the command has been started, even if it still waits for a result.
      const read = async () => ({ done: this.#perform(await readLongFrame(text, turns, depthMax)) });
      await (await turns.alone(read)).done;
    } catch (error) {
      this.#refuse(error);
    }
  }

  #perform(frame: ClientFrame): Promise<void> | undefined {
    const command = COMMANDS.find(({ event }) => event === frame.event);
    if (command === undefined) {
      const allowed = COMMANDS.map(({ event }) => event);
      const problem = problemOf('out_of_choices', { path: 'event', allowed, found: show(frame.event) });
      throw new SocketCommandError('unknownEvent', problem);
    }
    if (this.#closed && !command.outlivesConnection) return undefined;
    const access = this.#admit(command, frame);
    if (access instanceof Promise) return this.#runAfter(access, command, frame);
    this.#know(access);
    return command.handle(this, frame, access);
  }

  async #runAfter(admitted: Promise<Access>, command: Command, frame: ClientFrame): Promise<void> {
    try {
      const access = await admitted;
      this.#know(access);
      if (!this.#closed || command.outlivesConnection) await command.handle(this, frame, access);
    } catch (error) {
      this.#refuse(error);
    }
  }

  /** Whether the cached access permits publishing locations of all providers. */
  #mayPublishAny(): boolean {
    const { authorize } = this.deps;
    if (authorize === undefined) return true;
    if (!this.#isKnown) return false;
    try {
      const access = authorize({ use: 'publish', path: this.path, topic: 'location_updates', token: this.#token });
      if (!(access instanceof Promise)) return access.owned === undefined && access.readable === undefined;
      // The command authorizes the frame again and reports the failure.
      access.catch(() => undefined);
      return false;
    } catch {
      return false;
    }
  }

  /** Records that a valid token was presented. */
  #know(access: Access): void {
    this.#isKnown ||= access !== FULL_ACCESS;
  }

  /** Authorizes a frame and returns its access. The command itself rejects a topic that it does not accept. */
  #admit({ use, topics }: Command, { topic, params }: ClientFrame): Access | Promise<Access> {
    const { authorize } = this.deps;
    if (authorize === undefined || use === undefined) return FULL_ACCESS;
    if (typeof topic !== 'string' || topics?.includes(topic) !== true) return FULL_ACCESS;
    const access = authorize({ use, path: this.path, topic, token: tokenOf(params) ?? this.#token });
    if (!(access instanceof Promise) || !this.deps.waiting.isFull) return access;
    access.catch(() => undefined);
    throw hubError('frames_waiting');
  }

  /** Answers a rejected frame. An internal error is logged and closes the connection. */
  #refuse(error: unknown): void {
    if (error instanceof SocketCommandError) this.fail(error.error, error.why, error.message);
    else if (error instanceof HubError && error.code === 'HUB_NOT_AUTHORIZED')
      this.fail('notAuthorized', error, error.message);
    // While the identity server is unavailable, clients count as not authenticated.
    else if (error instanceof HubError) this.fail('notAuthenticated', error, error.message);
    else {
      this.deps.report?.(error);
      this.#peer.close(INTERNAL_ERROR, 'An internal error occurred');
    }
  }

  /** Closes subscriptions whose token has expired or was revoked, so that the client may subscribe again. */
  #expired(ids: readonly number[]): void {
    for (const id of ids) this.#end(id);
    const problem = problemOf('subscription_expired', { subscription_ids: ids.map(String) });
    // Does not use fail(), which changes the code for Go clients that await a response. Here the client awaits none.
    this.sendQueue.reply(errorFrame(WIRE_ERRORS.notAuthenticated, problem, String(problem)));
  }

  /** Acknowledges a subscription before its first message. */
  #open(id: number, { topicName }: HeldSubscription): void {
    this.sendQueue.reply(acknowledgement('subscribed', topicName, id));
    this.sendQueue.open(id, { topic: topicName, echoId: this.echoId });
  }

  /**
   * Acknowledges a subscription once other hubs have received its interest, unless it was closed in the meantime.
   * Before that, events may be missing.
   */
  async #openAfter(announced: Promise<void>, id: number, held: HeldSubscription): Promise<void> {
    try {
      await announced;
      if (this.#held.has(id)) this.#open(id, held);
    } catch (error) {
      if (this.#end(id) === undefined) return;
      this.#expiry.delete(id);
      if (error instanceof HubError) this.fail('subscribeFailed', error, error.message);
      else this.#refuse(error);
    }
  }

  #add(id: number, held: HeldSubscription): void {
    this.#held.set(id, held);
    this.#expiry.set(id, held.expiresMs, held.revoked);
    this.#identities.add(held.identity);
    this.#paramsSize += held.paramsSize;
  }

  /** Ends a subscription whose events are no longer in the log. The client must subscribe again. */
  #tailFailed(id: number, error: unknown): void {
    if (this.#end(id) === undefined) return;
    this.#expiry.delete(id);
    if (error instanceof HubError) this.fail('subscribeFailed', error, error.message);
    else this.#refuse(error);
  }

  #end(id: number): HeldSubscription | undefined {
    const held = this.#held.get(id);
    if (held === undefined) return undefined;
    this.deps.fanout.unsubscribe(id);
    this.#tails.get(id)?.end();
    this.#tails.delete(id);
    this.sendQueue.forget(id);
    this.#held.delete(id);
    this.#identities.delete(held.identity);
    this.#paramsSize -= held.paramsSize;
    return held;
  }
}

/** Returns the token in the params. A value that is not a string counts as an invalid token. */
function tokenOf(params: unknown): string | undefined {
  if (!isObject(params) || !Object.hasOwn(params, 'token')) return undefined;
  const { token } = params;
  if (token === undefined || token === null) return undefined;
  return typeof token === 'string' ? token : '';
}
