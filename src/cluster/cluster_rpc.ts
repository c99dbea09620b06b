import type { Announced, CarriedRpc, CarrierPort, Forwarded } from '../rpc/carrier.ts';
import { carriedText } from '../rpc/carrier.ts';
import type { Bus, Message, Subscription } from './bus.ts';
import type { Notice } from './notice.ts';
import { packRpcMessage, type RpcMessage, readAnswerText, readRpcMessage } from './rpc_message.ts';

/**
 * Remote procedure calls between the hubs of a cluster: each tells the others whom it can ask, and asks those of the others.
 *
 *   `<name>.rpc`                 to all: handlers of this hub that came, or are gone, and who there are, when a hub asks
 *   `<name>.rpc.<incarnation>`   to one: a request to a handler of that hub, which is answered with its response
 *
 * What is told without a connection is lost, so all is told anew, and asked for, whenever there is one again; once a minute it
 * is told in any case, since handlers are known for 120 s. Those of a hub that has left, or was expelled, are gone with it.
 * A request that reaches nobody, or a hub without that handler, ends at once.
 */
export interface ClusterRpcOptions {
  readonly bus: Bus;
  /** Of the cluster: what subjects begin with. */
  readonly name: string;
  /** The incarnation of this hub. */
  readonly self: string;
  readonly rpc: CarriedRpc;
  readonly notice: Notice;
  /** Calls back after a delay; returns how to call it off. */
  schedule(delayMs: number, callback: () => void): () => void;
}

/** How often handlers are told anew. */
const ANNOUNCE_MS = 60_000;
/** Handlers of one message. */
const HANDLERS_MAX = 1000;

export class ClusterRpc {
  readonly #options: ClusterRpcOptions;
  readonly #port: CarrierPort;
  readonly #listening: readonly Subscription[];
  readonly #stopWatching: () => void;
  /** Handlers of this hub, by method and id. */
  readonly #own = new Map<string, Map<string, Announced>>();
  /** The hub of each handler of another one, by method and id. */
  readonly #hubs = new Map<string, Map<string, string>>();
  #isUp = false;
  #isClosed = false;
  #stopAnnouncing = (): void => undefined;
  /** Messages of other hubs that could not be read. */
  #misfits = 0;

  constructor(options: ClusterRpcOptions) {
    this.#options = options;
    const { bus, name, self, rpc } = options;
    this.#port = rpc.attach({
      name: 'cluster',
      isUp: () => this.#isUp,
      send: (request) => this.#send(request),
      announce: (handler) => this.#announce(handler),
      withdraw: (handler) => this.#withdraw(handler),
    });
    this.#listening = [
      bus.subscribe(`${name}.rpc`, (message) => this.#hear(message)),
      bus.subscribe(`${name}.rpc.${self}`, (message) => this.#asked(message)),
    ];
    this.#stopWatching = bus.watch(({ at }) => {
      this.#isUp = at === 'up';
      if (this.#isUp) this.#meet();
    });
  }

  /** Resolves when it listens. To be awaited before this hub joins. */
  async ready(): Promise<void> {
    await Promise.all(this.#listening.map(({ ready }) => ready));
    // Those who have come before this hub could hear them.
    this.#tell({ say: 'who', from: this.#options.self });
  }

  /** Messages of other hubs that could not be read. */
  get misfits(): number {
    return this.#misfits;
  }

  /** Another hub is expelled, or has left: its handlers are gone. One that is back under their ids keeps them. */
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

  /** There is a connection: whoever was not heard meanwhile is to tell it again, and so does this hub. */
  #meet(): void {
    this.#tell({ say: 'who', from: this.#options.self });
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
    this.#tell({ say: 'gone', from: this.#options.self, handlers: [handler] });
  }

  #tellOf(handlers: readonly Announced[]): void {
    this.#tell({ say: 'here', from: this.#options.self, handlers });
  }

  #tell(message: RpcMessage): void {
    const { bus, name } = this.#options;
    if (this.#isUp && !this.#isClosed) bus.publish(`${name}.rpc`, packRpcMessage(message));
  }

  #send(request: Forwarded): boolean {
    const { bus, name, self, rpc } = this.#options;
    const { method, handlerId, timeoutMs, id } = request;
    const hub = this.#hubs.get(method)?.get(handlerId);
    const text = this.#isUp ? carriedText(request, rpc.hubId) : undefined;
    if (hub === undefined || text === undefined) return false;
    const subject = `${name}.rpc.${hub}`;
    const bytes = packRpcMessage({ say: 'request', from: self, handlerId, text });
    if (id === undefined) return bus.publish(subject, bytes);
    const lost = (): void => {
      if (this.#hubs.get(method)?.get(handlerId) === hub) this.#lost({ method, id: handlerId });
    };
    bus.request(subject, bytes, { timeoutMs, read: readAnswerText }).then(
      (answer) => {
        if (this.#isClosed) return;
        if (answer.at === 'answered') this.#port.answered(answer.value, { method, handlerId });
        else if (answer.at === 'noResponders') lost();
      },
      (error: Error) => this.#misfit(error),
    );
    return true;
  }

  #lost({ method, id }: Announced): void {
    const hubs = this.#hubs.get(method);
    hubs?.delete(id);
    if (hubs?.size === 0) this.#hubs.delete(method);
    this.#port.gone({ method, id });
  }

  /** Forgets the hubs of handlers that were not heard of again. */
  #forgetHubs(): void {
    for (const [method, hubs] of [...this.#hubs]) {
      const known = new Set(this.#port.handlersOf(method));
      for (const id of [...hubs.keys()]) if (!known.has(id)) hubs.delete(id);
      if (hubs.size === 0) this.#hubs.delete(method);
    }
  }

  /** What hubs say to all. */
  #hear({ bytes }: Message): void {
    this.#reading(() => {
      const message = readRpcMessage(bytes);
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
    const problem = this.#port.heard(handler);
    if (problem !== undefined) {
      this.#misfit(new Error(problem));
      return;
    }
    const hubs = this.#hubs.get(method) ?? new Map<string, string>();
    this.#hubs.set(method, hubs.set(id, from));
  }

  /** A request of another hub to a handler of this one. */
  #asked({ bytes, reply }: Message): void {
    this.#reading(() => {
      const message = readRpcMessage(bytes);
      if (message.say !== 'request') return;
      const { handlerId, text } = message;
      this.#port.call({
        text,
        handlerId,
        respond: (_, response) => {
          if (reply !== '' && !this.#isClosed)
            this.#options.bus.publish(reply, packRpcMessage({ say: 'answer', text: response }));
        },
      });
    });
  }

  #reading(read: () => void): void {
    if (this.#isClosed) return;
    try {
      read();
    } catch (error) {
      this.#misfit(error as Error);
    }
  }

  /** Counts what could not be used. Only the first is told: others will be of the same kind. */
  #misfit(error: Error): void {
    this.#misfits++;
    if (this.#misfits === 1)
      this.#options.notice(`A remote procedure call of another hub is refused: ${error.message}`);
  }
}
