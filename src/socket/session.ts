import { HubError } from '../errors.ts';
import type { Peer, PeerEvents } from '../exchange.ts';
import { Outbox } from '../fanout/outbox.ts';
import { COMMANDS, type Command, type Refusal } from './commands.ts';
import type { SocketDeps, Taken } from './socket.ts';
import {
  acknowledgement,
  type ClientFrame,
  CommandError,
  describeProblems,
  errorFrame,
  readFrame,
  WIRE_ERRORS,
  type WireError,
} from './wire.ts';

/** What one connection has subscribed to. */
export interface Held {
  readonly topicName: string;
  readonly identity: string;
}

/** One connection: reads its frames, runs its commands, and holds its subscriptions until it closes. */
export class Session implements PeerEvents {
  readonly deps: SocketDeps;
  readonly path: string;
  readonly outbox: Outbox;
  readonly echoId: boolean;
  readonly #isGoClient: boolean;
  readonly #held = new Map<number, Held>();
  readonly #identities = new Set<string>();

  constructor(peer: Peer, deps: SocketDeps) {
    this.deps = deps;
    this.path = peer.path;
    this.#isGoClient = peer.userAgent.startsWith('Go-http-client/');
    const { subscriptionIdMode: mode, queueMaxBytes = 64 * 1024 * 1024, networkMaxBytes = 256 * 1024 } = deps;
    // The Go client knows the subscription of a message by the absence of an id, and drops messages that have one.
    this.echoId = mode === 'always' || (mode === 'auto' && !this.#isGoClient);
    const overflowed = (waitingBytes: number): void => deps.tooSlow?.(peer, waitingBytes);
    this.outbox = new Outbox(peer, { queueMaxBytes, networkMaxBytes, overflowed });
    deps.open?.add(this.outbox);
  }

  get subscriptions(): number {
    return this.#held.size;
  }

  message(text: string): void {
    try {
      const frame = readFrame(text, this.deps.depthMax);
      const command = COMMANDS.find(({ event }) => event === frame.event);
      if (command === undefined) {
        const known = COMMANDS.map(({ event }) => event).join(', ');
        throw new CommandError('unknownEvent', `event: must be one of ${known}, found ${named(frame.event)}`);
      }
      const refusal = this.#refusal(command, frame);
      if (refusal !== undefined) throw new CommandError(refusal.reason, refusal.description);
      command.handle(this, frame);
    } catch (error) {
      if (!(error instanceof CommandError)) throw error;
      this.fail(error.reason, error.message);
    }
  }

  drained(): void {
    this.outbox.drained();
  }

  closed(): void {
    this.outbox.close();
    this.deps.open?.delete(this.outbox);
    for (const id of this.#held.keys()) this.deps.fanout.unsubscribe(id);
    this.#held.clear();
    this.#identities.clear();
  }

  /** Sends an error frame. */
  fail(reason: WireError, description: string): void {
    // The Go client waits for ever when its subscribe is answered 10006.
    const told = reason === 'notAuthenticated' && this.#isGoClient ? 'notAuthorized' : reason;
    this.outbox.reply(errorFrame(WIRE_ERRORS[told], description));
  }

  /** Sends the problems of one publish in one error frame; a success gets no answer. */
  taken({ problems, kept }: Taken): void {
    if (problems.length > 0) this.fail('invalidPayload', describeProblems(problems));
    kept?.catch((error: unknown) => this.failPublish(error));
  }

  /** A publish that failed as a whole: overload is told in its own words, a defect is not. */
  failPublish(error: unknown): void {
    if (error instanceof HubError) {
      this.fail('invalidPayload', error.message);
      return;
    }
    this.deps.report?.(error);
    this.fail('invalidPayload', 'Cannot take the payload: an internal error occurred');
  }

  holds(identity: string): boolean {
    return this.#identities.has(identity);
  }

  /** Keeps a new subscription, and tells the client before the first message can. */
  hold(id: number, held: Held): void {
    this.#held.set(id, held);
    this.#identities.add(held.identity);
    this.outbox.reply(acknowledgement('subscribed', held.topicName, id));
    this.outbox.open(id, { topic: held.topicName, echoId: this.echoId });
  }

  /** Ends a subscription of this connection; returns false when it has none with that id. */
  release(id: number): boolean {
    const held = this.#held.get(id);
    if (held === undefined) return false;
    this.deps.fanout.unsubscribe(id);
    this.outbox.forget(id);
    this.#held.delete(id);
    this.#identities.delete(held.identity);
    this.outbox.reply(acknowledgement('unsubscribed', held.topicName, id));
    return true;
  }

  #refusal(command: Command, frame: ClientFrame): Refusal | undefined {
    const { authorize } = this.deps;
    if (authorize === undefined || command.permission === undefined) return undefined;
    return authorize({ permission: command.permission, path: this.path, topic: frame.topic, params: frame.params });
  }
}

function named(event: string): string {
  return JSON.stringify(event.length > 80 ? `${event.slice(0, 77)}...` : event);
}
