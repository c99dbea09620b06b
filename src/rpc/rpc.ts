import { IDENTIFY, PING, type RpcAvailable, type RpcErrorName, XCMD } from '../model/rpc.ts';
import { show } from '../model/show.ts';
import { RPC_BOUNDS, type RpcBounds } from './bounds.ts';
import { type Call, methodProblem, readCall } from './call.ts';
import { type CallEnd, Calls, type CallTaker, type OpenCall } from './calls.ts';
import type { Announced, CarriedCall, Carrier, CarrierPort } from './carrier.ts';
import { type Handler, Handlers, type Link } from './handlers.ts';
import { type Answer, failure, isObject, RpcRefusal, readMessage, responseText } from './message.ts';

/**
 * Remote procedure calls of a hub: one registry of handlers for all ways. Whoever calls, by REST, by WebSocket or by a carrier
 * (carrier.ts), reaches the handlers of all of them:
 *
 *   caller                    handlers.ts: who is meant              handler
 *   REST, WebSocket: begin -> the hub's own, WebSocket clients',  -> Link.send
 *                             those that carriers have announced
 *   carrier: CarrierPort.call the hub's own, WebSocket clients'      its answers: calls.ts
 */
export interface RpcOptions {
  /** Under which the hub itself handles its own methods. */
  readonly hubId: string;
  /** What the hub tells of itself, without the methods. */
  readonly identity: { readonly name: string; readonly vendor: string; readonly version: string } & {
    readonly api_version: string;
  };
  /** Time that has passed since some moment, in milliseconds. */
  elapsed(): number;
  /** Calls back after a delay; returns how to call it off. */
  schedule(delayMs: number, callback: () => void): () => void;
  /** Another text at each call, which nobody can guess. */
  newId(): string;
  readonly bounds?: Partial<RpcBounds>;
}

/** A WebSocket client, as far as it handles methods. */
export interface ClientPort {
  /** Its handler id. */
  readonly id: string;
  /** Handles a method from now on. Done again it changes the zone. Throws an RpcRefusal. */
  register(method: unknown, zoneId: string | undefined): void;
  /** Throws an RpcRefusal where it is not registered. */
  unregister(method: unknown): void;
  /** A response to what it was sent. Returns whether it was waited for. */
  answered(response: unknown, bytes: number): boolean;
  /** The connection has ended: what its handlers have not answered is answered with −32000. */
  close(): void;
}

/** What was counted since the start. */
export interface RpcCounts {
  /** Calls that were begun, by what became of them. */
  readonly calls: Readonly<Record<CallEnd, number>>;
  /** Requests that went to handlers. */
  readonly forwarded: number;
  /** Answers of handlers. */
  readonly responses: number;
  /** Answers that nobody waited for, or no more. */
  readonly late: number;
  /** What was refused before anybody was asked, and what a bound has ended, by the error. */
  readonly refused: ReadonlyMap<RpcErrorName, number>;
  /** Handlers now, by how they are reached. */
  readonly handlers: ReadonlyMap<string, number>;
  readonly open: number;
}

/** Stands between the id of the hub and what tells its clients apart; names of hubs have none. */
const OF_HUB = ':';
/** A handler of a carrier is known for so long after its last announcement. */
const HEARD_MS = 120_000;

export class Rpc {
  readonly hubId: string;
  readonly bounds: RpcBounds;
  readonly #options: RpcOptions;
  readonly #handlers: Handlers;
  readonly #carriers = new Set<Carrier>();
  readonly #calls: Calls;
  readonly #refused = new Map<RpcErrorName, number>();

  constructor(options: RpcOptions) {
    this.#options = options;
    this.hubId = options.hubId;
    this.bounds = { ...RPC_BOUNDS, ...options.bounds };
    const { bounds } = this;
    this.#handlers = new Handlers({ elapsed: options.elapsed, bounds });
    this.#calls = new Calls({ schedule: options.schedule, bounds, exceeded: () => this.refused('tooMuch') });
    this.#addOwn({
      [PING]: () => 'Pong',
      [IDENTIFY]: () => ({ id: this.hubId, ...options.identity, methods: Object.keys(this.available()) }),
    });
  }

  /** The methods that can be called now. */
  available(): RpcAvailable {
    return this.#handlers.available();
  }

  get counts(): RpcCounts {
    const kinds = Map.groupBy(this.#handlers.all(), ({ link }) => link.kind);
    return {
      calls: this.#calls.ended,
      forwarded: this.#calls.forwarded,
      responses: this.#calls.responses,
      late: this.#calls.late,
      refused: this.#refused,
      handlers: new Map([...kinds].map(([kind, { length }]) => [kind, length])),
      open: this.#calls.open,
    };
  }

  /** Counts what was refused, for whoever answers it. */
  refused(reason: RpcErrorName): void {
    this.#refused.set(reason, (this.#refused.get(reason) ?? 0) + 1);
  }

  /**
   * Asks the handlers that are meant, all that are known now. Whatever is told of it may be told before this returns. Throws
   * an RpcRefusal where there is none, or where too many calls are open.
   */
  begin(call: Call, taker: CallTaker): OpenCall {
    return this.#calls.begin(call, this.#handlersFor(call), taker);
  }

  /** Lets a WebSocket client handle methods. `send` hands it a frame. */
  connect(send: (frame: string) => void): ClientPort {
    const id = `${this.hubId}${OF_HUB}${this.#options.newId()}`;
    const methods = new Set<string>();
    const link: Link = {
      kind: 'websocket',
      isLocal: true,
      send: ({ id, method, paramsText }) => {
        const number = id === undefined ? '' : `,"id":${id}`;
        const params = paramsText === undefined ? '' : `,"params":${paramsText}`;
        send(`{"jsonrpc":"2.0"${number},"method":${JSON.stringify(method)}${params}}`);
        return true;
      },
    };
    return {
      id,
      register: (method, zoneId) => {
        const name = this.#registrable(method);
        const { methodsOfClient } = this.bounds;
        if (!methods.has(name) && methods.size >= methodsOfClient) {
          const found = `found ${methods.size} before this one`;
          throw new RpcRefusal('tooMuch', `methods of a connection: must be at most ${methodsOfClient}, ${found}`);
        }
        if (this.#handlers.add({ method: name, id, zoneId, link })) this.#announce({ method: name, id });
        methods.add(name);
      },
      unregister: (method) => {
        if (typeof method !== 'string' || !methods.delete(method)) {
          throw new RpcRefusal('invalidParams', `params.method: is not registered on this connection: ${show(method)}`);
        }
        this.#handlers.remove(method, id, link);
        this.#withdraw({ method, id });
        this.#calls.gone(link, { method });
      },
      answered: (response, bytes) => this.#calls.answered(link, response, bytes),
      close: () => {
        for (const { method } of this.#handlers.removeAll(link)) this.#withdraw({ method, id });
        methods.clear();
        this.#calls.gone(link);
      },
    };
  }

  /** Reaches the handlers of a carrier from now on, and is reached by it. */
  attach(carrier: Carrier): CarrierPort {
    const link: Link = { kind: carrier.name, isLocal: false, send: (request) => carrier.send(request) };
    this.#carriers.add(carrier);
    for (const { method, id, link: of } of this.#handlers.all()) if (of.isLocal) carrier.announce({ method, id });
    return {
      heard: ({ method, id }) => this.#heard({ method, id }, link),
      gone: ({ method, id }) => {
        if (this.#handlers.remove(method, id, link)) this.#calls.gone(link, { method, id });
      },
      answered: (text) => {
        try {
          return this.#calls.answered(link, readMessage(text), Buffer.byteLength(text));
        } catch (error) {
          this.#refusedWith(error);
          return false;
        }
      },
      call: (call) => this.#carried(call),
      close: () => {
        this.#carriers.delete(carrier);
        this.#handlers.removeAll(link);
        this.#calls.gone(link);
      },
    };
  }

  /** Ends everything: whoever waits is told so. */
  close(): void {
    this.#calls.close(failure('internal', 'Cannot finish the call: the hub is shutting down'));
  }

  #addOwn(methods: Readonly<Record<string, () => unknown>>): void {
    const link: Link = {
      kind: 'hub',
      isLocal: true,
      send: ({ id, method }) => {
        if (id !== undefined) this.#calls.take(link, id, { answer: { result: methods[method]?.() }, bytes: 0 });
        return true;
      },
    };
    for (const method of Object.keys(methods)) this.#handlers.add({ method, id: this.hubId, zoneId: undefined, link });
  }

  /** Those that a call means. Throws an RpcRefusal where there are none. */
  #handlersFor({ method, handlerId, zoneId, id }: Call): readonly Handler[] {
    const found = this.#handlers.find({ method, handlerId, zoneId });
    if (found.length > 0) return found;
    const what = `Cannot call ${show(method)}`;
    if (!this.#handlers.has(method)) {
      const reason = method === XCMD ? 'nobodyForXcmd' : 'unknownMethod';
      throw new RpcRefusal(reason, `${what}: nobody handles it`, id);
    }
    if (handlerId === undefined) throw new RpcRefusal('unknownMethod', `${what}: nobody handles it in this zone`, id);
    throw new RpcRefusal('unknownHandler', `${what}: _handler_id: no handler of it has the id ${show(handlerId)}`, id);
  }

  #announce(handler: Announced): void {
    for (const carrier of this.#carriers) carrier.announce(handler);
  }

  #withdraw(handler: Announced): void {
    for (const carrier of this.#carriers) carrier.withdraw(handler);
  }

  /** What carriers announce may have any name but those of JSON-RPC itself: every handler has a ping of its own. */
  #heard({ method, id }: Announced, link: Link): void {
    const isOurs = id === this.hubId || id.startsWith(`${this.hubId}${OF_HUB}`);
    if (isOurs || id === '' || methodProblem(method) !== undefined || method.startsWith('rpc.')) return;
    try {
      this.#handlers.add({ method, id, zoneId: undefined, link }, HEARD_MS);
    } catch (error) {
      this.#refusedWith(error);
    }
  }

  /** A call of somebody who asks all handlers by a carrier: those of this hub answer, each for itself. */
  #carried({ text, handlerId, respond }: CarriedCall): void {
    try {
      const { callerId, ...call } = readCall(withoutAggregation(readMessage(text)));
      const wanted = { ...call, handlerId: handlerId ?? call.handlerId };
      const local = this.#handlers.find(wanted).filter(({ link }) => link.isLocal);
      if (local.length === 0) return;
      const toCaller = (answer: Answer): void => {
        if (callerId !== undefined) respond(callerId, responseText(call.id, answer));
      };
      const asked: Call = { ...wanted, callerId, isAnswered: callerId !== undefined, collecting: 'stream' };
      this.#calls.begin(asked, local, { respond: toCaller });
    } catch (error) {
      this.#refusedWith(error);
    }
  }

  /** Counts a refusal that nobody can be told of. */
  #refusedWith(error: unknown): void {
    if (!(error instanceof RpcRefusal)) throw error;
    this.refused(error.reason);
  }

  /** The name of a method that clients may handle. Throws an RpcRefusal. */
  #registrable(method: unknown): string {
    const problem = methodProblem(method);
    if (problem !== undefined) throw new RpcRefusal('invalidParams', `params.method: ${problem}`);
    const name = method as string;
    if (!isReserved(name)) return name;
    throw new RpcRefusal('invalidParams', `params.method: must not be a reserved name, found ${show(name)}`);
  }
}

/** Names of JSON-RPC, of the standard, and of the commands of the WebSocket; whoever is a core zone announces its xcmd. */
function isReserved(name: string): boolean {
  if (name === 'register' || name === 'unregister') return true;
  return name.startsWith('rpc.') || (name.startsWith('com.omlox.') && name !== XCMD);
}

/** Who asks by a carrier gets each answer, and puts them together itself. */
function withoutAggregation(value: unknown): unknown {
  if (!isObject(value) || !isObject(value['params'])) return value;
  const { _aggregation, ...params } = value['params'];
  return { ...value, params };
}
