import { grouped } from '../model/bounds.ts';
import { HANDLER_ID_MAX_CHARACTERS, IDENTIFY, PING, type RpcAvailable, type RpcErrorName, XCMD } from '../model/rpc.ts';
import { show } from '../model/error_value_text.ts';
import { RPC_BOUNDS, type RpcBounds } from './bounds.ts';
import { type Call, methodProblem } from './call.ts';
import { type CallEnd, Calls, type CallTaker, type OpenCall } from './calls.ts';
import { CarriedCalls } from './carried_calls.ts';
import type { Announced, Carrier, CarrierPort } from './carrier.ts';
import { type Handler, Handlers, type Link } from './handlers.ts';
import { failure, RpcRefusal, readLongMessage } from './message.ts';

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
  readonly identity: Readonly<Record<'name' | 'hub_id' | 'hub_name' | 'vendor' | 'version' | 'api_version', string>>;
  /** Time that has passed since some moment, in milliseconds. */
  elapsed(): number;
  /** Calls back after a delay; returns how to call it off. */
  schedule(delayMs: number, callback: () => void): () => void;
  /** Another text at each call, which nobody can guess. */
  newId(): string;
  /**
   * The id of the first request to a handler; 10,000 when left out. Where it is another one after each start, no answer to
   * what the hub has asked before is taken for one to what it asks now.
   */
  readonly firstId?: number;
  /**
   * The id of a request that others can read and answer than its handler, as on a broker: nobody can guess it, and it is none of
   * those that count up from `firstId`. Left out: they count on.
   */
  randomId?(): number;
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
    const { schedule, firstId, randomId } = options;
    const exceeded = (): void => this.refused('tooMuch');
    this.#calls = new Calls({
      ...{ schedule, bounds, exceeded, ...(randomId && { randomId }) },
      ...(firstId !== undefined && { firstId }),
    });
    this.#addOwn({
      [PING]: () => 'Pong',
      [IDENTIFY]: () => ({ id: this.hubId, ...options.identity, methods: Object.keys(this.available()) }),
    });
  }

  /** Whether a handler id is one of this hub, or was. */
  isOwn(handlerId: string): boolean {
    return isOf(this.hubId, handlerId);
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
   * Calls the handlers that are meant, all that are known now. `taker` may be called before this returns. `client`: tells
   * clients apart whose open calls are bounded; undefined: unknown. Throws an RpcRefusal where there is no handler, or where too
   * many calls are open.
   */
  begin(call: Call, taker: CallTaker, client?: string): OpenCall {
    return this.#calls.begin(call, this.#handlersFor(call), { taker, client });
  }

  /** Lets a WebSocket client handle methods. `send` hands it a frame. */
  connect(send: (frame: string) => void): ClientPort {
    const id = `${this.hubId}${OF_HUB}${this.#options.newId()}`;
    /** With their zones. */
    const methods = new Map<string, string | undefined>();
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
        const isNew = this.#handlers.add({ method: name, id, zoneId, link });
        if (isNew || methods.get(name) !== zoneId) this.#announce(announced({ method: name, id, zoneId }));
        methods.set(name, zoneId);
      },
      unregister: (method) => {
        if (typeof method !== 'string' || !methods.delete(method)) {
          throw new RpcRefusal('invalidParams', `params.method: is not registered on this connection: ${show(method)}`);
        }
        this.#handlers.remove(method, id, link);
        this.#withdraw({ method, id });
        this.#calls.gone(link, { method });
      },
      answered: (response, bytes) => this.#calls.answered(link, response, { bytes }),
      close: () => {
        for (const { method } of this.#handlers.removeAll(link)) this.#withdraw({ method, id });
        methods.clear();
        this.#calls.gone(link);
      },
    };
  }

  /** Reaches the handlers of a carrier from now on, and is reached by it. */
  attach(carrier: Carrier): CarrierPort {
    const link: Link = {
      kind: carrier.name,
      isLocal: false,
      isUp: () => carrier.isUp(),
      send: (request) => carrier.send(request),
    };
    const carried = new CarriedCalls({
      ...{ hubId: this.hubId, handlers: this.#handlers, calls: this.#calls, bounds: this.bounds },
      isOwn: (id) => this.isOwn(id),
      refused: (reason) => this.refused(reason),
    });
    this.#carriers.add(carrier);
    for (const handler of this.#handlers.all()) if (handler.link.isLocal) carrier.announce(announced(handler));
    return {
      heard: (handler, forMs = HEARD_MS) => this.#heard(handler, link, forMs),
      handlersOf: (method) => this.#handlers.idsOf(method, link),
      gone: ({ method, id }) => {
        if (this.#handlers.remove(method, id, link)) this.#calls.gone(link, { method, id });
      },
      goneWith: (hubId) => {
        for (const { method, id } of this.#handlers.known(link)) {
          if (!isOf(hubId, id)) continue;
          this.#handlers.remove(method, id, link);
          this.#calls.gone(link, { method, id });
        }
      },
      answered: (text, from) => {
        try {
          return this.#calls.answered(link, readLongMessage(text), { bytes: Buffer.byteLength(text), ...from });
        } catch (error) {
          this.#refusedWith(error);
          return false;
        }
      },
      call: (call) => carried.take(call),
      close: () => {
        this.#carriers.delete(carrier);
        carried.close();
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
  #heard({ method, id, zoneId }: Announced, link: Link, forMs: number): string | undefined {
    if (this.isOwn(id)) return undefined;
    try {
      checkAnnounced({ method, id, ...(zoneId !== undefined && { zoneId }) });
      this.#handlers.add({ method, id, zoneId, link }, forMs);
      return undefined;
    } catch (error) {
      return this.#refusedWith(error).message;
    }
  }

  /** Counts a refusal that nobody else is told of. */
  #refusedWith(error: unknown): RpcRefusal {
    if (!(error instanceof RpcRefusal)) throw error;
    this.refused(error.reason);
    return error;
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

/** Whether a handler is a hub itself, or one of its clients. */
function isOf(hubId: string, handlerId: string): boolean {
  return handlerId === hubId || handlerId.startsWith(`${hubId}${OF_HUB}`);
}

function announced({ method, id, zoneId }: Pick<Handler, 'method' | 'id' | 'zoneId'>): Announced {
  return { method, id, ...(zoneId !== undefined && { zoneId }) };
}

/** Throws an RpcRefusal for what no carrier may announce. */
function checkAnnounced({ method, id, zoneId = '' }: Announced): void {
  const problem = methodProblem(method);
  if (problem !== undefined) throw new RpcRefusal('invalidParams', `method: ${problem}`);
  if (method.startsWith('rpc.')) {
    throw new RpcRefusal('invalidParams', `method: must not be a reserved name, found ${show(method)}`);
  }
  const wanted = `must have at most ${HANDLER_ID_MAX_CHARACTERS} characters`;
  for (const [name, text] of Object.entries({ id, zone_id: zoneId })) {
    if (text.length <= HANDLER_ID_MAX_CHARACTERS) continue;
    throw new RpcRefusal('invalidParams', `${name}: ${wanted}, found ${grouped(text.length)}`);
  }
  if (id === '') throw new RpcRefusal('invalidParams', 'id: must not be empty');
}
