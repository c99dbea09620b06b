import type { Announced, CarriedRpc, CarrierPort, ForwardedRequest } from '../../rpc/carrier.ts';
import { carriedText } from '../../rpc/carrier.ts';
import type { Borrowed } from '../../model/borrowed.ts';
import type { ClusterContext } from '../context.ts';
import type { Message, Subscription } from '../nats/bus.ts';
import { MessageError } from '../messages/codec.ts';
import { type MessageOf, RPC } from '../messages/messages.ts';
import { ProtocolErrors } from '../messages/protocol_errors.ts';

/**
 * Remote procedure calls between the hubs of a cluster: each hub publishes its handlers, and calls those of others.
 *
 *   `<name>.rpc`                 to all: handlers that were added or removed; all handlers, when a hub requests them
 *   `<name>.rpc.<incarnation>`   to one: a request to a handler of that hub, which answers with the response
 *
 * Messages sent without a connection are lost, so a hub publishes and requests all handlers after each reconnection, and
 * publishes its own once a minute, because handlers expire after 120 s. Handlers of a hub that has left or was expelled are
 * removed. A request that reaches no hub, or a hub without that handler, fails at once.
 */
export interface ClusterRpcOptions
  extends Pick<ClusterContext, 'bus' | 'name' | 'incarnation' | 'notice' | 'schedule'> {
  readonly rpc: CarriedRpc;
}

/** Interval at which handlers are published again. */
const ANNOUNCE_MS = 60_000;
/** Most handlers in one message. */
const HANDLERS_MAX = 1000;

export class ClusterRpc {
  readonly #options: ClusterRpcOptions;
  readonly #port: CarrierPort;
  readonly #listening: readonly Subscription[];
  readonly #stopWatching: () => void;
  /** Handlers of this hub, by method and id. */
  readonly #own = new Map<string, Map<string, Announced>>();
  /** Hub of each remote handler, by method and id. */
  readonly #hubs = new Map<string, Map<string, string>>();
  #isUp = false;
  #isClosed = false;
  #stopAnnouncing = (): void => undefined;
  /** Messages of other hubs that could not be read. */
  readonly malformed: ProtocolErrors;

  constructor(options: ClusterRpcOptions) {
    this.#options = options;
    const { bus, name, incarnation, rpc, notice } = options;
    this.malformed = new ProtocolErrors('remote procedure calls', notice);
    this.#port = rpc.attach({
      name: 'cluster',
      isUp: () => this.#isUp,
      send: (request) => this.#send(request),
      announce: (handler) => this.#announce(handler),
      withdraw: (handler) => this.#withdraw(handler),
    });
    this.#listening = [
      bus.subscribe(`${name}.rpc`, (message) => this.#hear(message)),
      bus.subscribe(`${name}.rpc.${incarnation}`, (message) => this.#asked(message)),
    ];
    this.#stopWatching = bus.watch(({ at }) => {
      this.#isUp = at === 'up';
      if (this.#isUp) this.#meet();
    });
  }

  /** Resolves when the subscriptions are active. Await it before this hub joins. */
  async ready(): Promise<void> {
    await Promise.all(this.#listening.map(({ ready }) => ready));
    // Requests the handlers that were published before this hub subscribed.
    this.#tell({ say: 'who', from: this.#options.incarnation });
  }

  /** Removes the handlers of a hub that was expelled or has left, unless another hub has registered the same id. */
  gone(member: string): void {
    for (const [method, hubs] of [...this.#hubs]) {
      for (const [id, hub] of [...hubs]) if (hub === member) this.#lost({ method, id });
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#isUp = false;
    this.#stopAnnouncing();
    this.#stopWatching();
    for (const listening of this.#listening) listening.end();
    this.#port.close();
  }

  /** Requests and publishes all handlers after a reconnection. */
  #meet(): void {
    this.#tell({ say: 'who', from: this.#options.incarnation });
    this.#announceAll();
  }

  #announceAll(): void {
    this.#stopAnnouncing();
    if (this.#isClosed) return;
    this.#stopAnnouncing = this.#options.schedule(ANNOUNCE_MS, () => this.#announceAll());
    this.#forgetHubs();
    const all = [...this.#own.values()].flatMap((ofMethod) => [...ofMethod.values()]);
    for (let at = 0; at < all.length; at += HANDLERS_MAX) this.#tellOf(all.slice(at, at + HANDLERS_MAX));
  }

  #announce(handler: Announced): void {
    const { method, id } = handler;
    const ofMethod = this.#own.get(method) ?? new Map<string, Announced>();
    this.#own.set(method, ofMethod.set(id, handler));
    this.#tellOf([handler]);
  }

  #withdraw(handler: Announced): void {
    const { method, id } = handler;
    const ofMethod = this.#own.get(method);
    if (ofMethod?.delete(id) !== true) return;
    if (ofMethod.size === 0) this.#own.delete(method);
    this.#tell({ say: 'gone', from: this.#options.incarnation, handlers: [handler] });
  }

  #tellOf(handlers: readonly Announced[]): void {
    this.#tell({ say: 'here', from: this.#options.incarnation, handlers });
  }

  #tell(message: MessageOf<typeof RPC>): void {
    const { bus, name } = this.#options;
    if (this.#isUp && !this.#isClosed) bus.publish(`${name}.rpc`, RPC.pack(message));
  }

  #send(request: ForwardedRequest): boolean {
    const { bus, name, incarnation, rpc } = this.#options;
    const { method, handlerId, timeoutMs, id } = request;
    const hub = this.#hubs.get(method)?.get(handlerId);
    const text = this.#isUp ? carriedText(request, rpc.hubId) : undefined;
    if (hub === undefined || text === undefined) return false;
    const subject = `${name}.rpc.${hub}`;
    const bytes = RPC.pack({ say: 'request', from: incarnation, handlerId, text });
    if (id === undefined) return bus.publish(subject, bytes);
    const lost = (): void => {
      if (this.#hubs.get(method)?.get(handlerId) === hub) this.#lost({ method, id: handlerId });
    };
    bus.request(subject, bytes, { timeoutMs, read: answerText }).then(
      (answer) => {
        if (this.#isClosed) return;
        if (answer.at === 'answered') this.#port.answered(answer.value, { method, handlerId });
        else if (answer.at === 'noResponders') lost();
      },
      (error: Error) => this.malformed.add(error),
    );
    return true;
  }

  #lost({ method, id }: Announced): void {
    const hubs = this.#hubs.get(method);
    hubs?.delete(id);
    if (hubs?.size === 0) this.#hubs.delete(method);
    this.#port.left({ method, id });
  }

  /** Removes the hubs of handlers that have expired. */
  #forgetHubs(): void {
    for (const [method, hubs] of [...this.#hubs]) {
      const known = new Set(this.#port.handlersOf(method));
      for (const id of [...hubs.keys()]) if (!known.has(id)) hubs.delete(id);
      if (hubs.size === 0) this.#hubs.delete(method);
    }
  }

  /** Takes a message to all hubs. */
  #hear({ bytes }: Message): void {
    this.#reading(() => {
      const message = RPC.read(bytes);
      if (message.say === 'who') this.#announceAll();
      else if (message.say === 'here') for (const handler of message.handlers) this.#here(handler, message.from);
      else if (message.say === 'gone') {
        for (const { method, id } of message.handlers) {
          if (this.#hubs.get(method)?.get(id) === message.from) this.#lost({ method, id });
        }
      }
    });
  }

  #here(handler: Announced, from: string): void {
    const { method, id } = handler;
    if (this.#options.rpc.isOwn(id)) return;
    const problem = this.#port.announced(handler);
    if (problem !== undefined) {
      this.malformed.add(new MessageError(problem));
      return;
    }
    const hubs = this.#hubs.get(method) ?? new Map<string, string>();
    this.#hubs.set(method, hubs.set(id, from));
  }

  /** Takes a request of another hub to a handler of this one. */
  #asked({ bytes, reply }: Message): void {
    this.#reading(() => {
      const message = RPC.read(bytes);
      if (message.say !== 'request') return;
      const { handlerId, text } = message;
      this.#port.call({
        text,
        handlerId,
        respond: (_, response) => {
          if (reply !== '' && !this.#isClosed)
            this.#options.bus.publish(reply, RPC.pack({ say: 'answer', text: response }));
        },
      });
    });
  }

  #reading(read: () => void): void {
    if (!this.#isClosed) this.malformed.reading(read);
  }
}

/** JSON of an answer. Throws a MessageError if it is no answer. */
function answerText(bytes: Borrowed): string {
  const message = RPC.read(bytes);
  if (message.say === 'answer') return message.text;
  throw new MessageError(`Cannot read an answer: it is "${message.say}"`);
}
