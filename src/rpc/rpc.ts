import { problemOf } from '../problem.ts';
import { HANDLER_ID_MAX_CHARACTERS, IDENTIFY, PING, type RpcAvailable, type RpcErrorName, XCMD } from '../model/rpc.ts';
import { show } from '../model/error_value_text.ts';
import { RPC_BOUNDS, type RpcBounds } from './bounds.ts';
import { type RpcCall, methodProblem } from './call.ts';
import { type CallEnd, Calls, type CallTaker, type OpenCall } from './calls.ts';
import { CarriedCalls } from './carried_calls.ts';
import type { Announced, Carrier, CarrierPort } from './carrier.ts';
import { type Handler, Handlers, type HandlerLink } from './handlers.ts';
import { failure, RpcRejection, readLongMessage, limitReached } from './message.ts';

/**
 * Remote procedure calls of a hub, with one registry of handlers for all transports. Callers over REST, WebSocket or a
 * carrier (carrier.ts) reach handlers on any transport:
 *
 *   caller                    handlers.ts: matching handlers         handler
 *   REST, WebSocket: begin -> the hub's own, WebSocket clients',  -> Link.send
 *                             those announced by carriers
 *   carrier: CarrierPort.call the hub's own, WebSocket clients'      its answers: calls.ts
 */
export interface RpcOptions {
  /** Id under which the hub handles its own methods. */
  readonly hubId: string;
  /** Result of the identify method, without the list of methods. */
  readonly identity: Readonly<Record<'name' | 'hub_id' | 'hub_name' | 'vendor' | 'version' | 'api_version', string>>;
  /** Monotonic time in milliseconds. */
  elapsed(): number;
  /** Schedules `callback` after `delayMs`. Returns a function that cancels it. */
  schedule(delayMs: number, callback: () => void): () => void;
  /** Returns a new unpredictable string. */
  newId(): string;
  /**
   * Id of the first request to a handler; 10,000 by default. It should differ between starts, so that late answers to
   * requests before a restart are not mistaken for answers to new ones.
   */
  readonly firstId?: number;
  /**
   * Returns an id for a request that others besides its handler can read and answer, as on a broker. It must be
   * unpredictable and differ from the ids that count up from `firstId`. If absent, ids are consecutive.
   */
  randomId?(): number;
  readonly bounds?: Partial<RpcBounds>;
}

/** A WebSocket client as a handler of methods. */
export interface ClientPort {
  /** Handler id of the client. */
  readonly id: string;
  /** Registers a method. Repeating it changes the zone. Throws an RpcRejection. */
  register(method: unknown, zoneId: string | undefined): void;
  /** Unregisters a method. Throws an RpcRejection if it is not registered. */
  unregister(method: unknown): void;
  /** Handles a response to a request. Returns whether it was expected. */
  answered(response: unknown, bytes: number): boolean;
  /** Removes the client's handlers when the connection closes. Their open requests fail with −32000. */
  close(): void;
}

/** Counters since start, and current numbers. */
export interface RpcCounts {
  /** Number of calls by outcome. */
  readonly calls: Readonly<Record<CallEnd, number>>;
  /** Number of requests sent to handlers. */
  readonly forwarded: number;
  /** Number of answers from handlers. */
  readonly responses: number;
  /** Number of answers to requests that are unknown or closed. */
  readonly late: number;
  /** Number of rejected and aborted calls, by error. */
  readonly refused: ReadonlyMap<RpcErrorName, number>;
  /** Number of registered handlers, by kind of link. */
  readonly handlers: ReadonlyMap<string, number>;
  readonly open: number;
}

/** Separator in handler ids between the id of the hub and its client. Ids of hubs do not contain it. */
const OF_HUB = ':';
/** Time until a carrier's handler expires after its last announcement. */
const ANNOUNCED_MS = 120_000;

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

  /** Whether a handler id belongs, or belonged, to this hub. */
  isOwn(handlerId: string): boolean {
    return isOf(this.hubId, handlerId);
  }

  /** Returns all methods with handlers. */
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

  /** Counts a rejection, which the calling code answers. */
  refused(reason: RpcErrorName): void {
    this.#refused.set(reason, (this.#refused.get(reason) ?? 0) + 1);
  }

  /**
   * Calls all matching handlers. `taker` may be called before this returns. `client` is the key by which open calls are
   * bounded; undefined if unknown. Throws an RpcRejection if no handler matches or too many calls are open.
   */
  begin(call: RpcCall, taker: CallTaker, client?: string): OpenCall {
    return this.#calls.begin(call, this.#handlersFor(call), { taker, client });
  }

  /** Connects a WebSocket client. `send` sends it a frame. */
  connect(send: (frame: string) => void): ClientPort {
    const id = `${this.hubId}${OF_HUB}${this.#options.newId()}`;
    /** Zones by method. */
    const methods = new Map<string, string | undefined>();
    const link: HandlerLink = {
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
          throw limitReached('methods_of_connection', methodsOfClient, methods.size);
        }
        const isNew = this.#handlers.add({ method: name, id, zoneId, link });
        if (isNew || methods.get(name) !== zoneId) this.#announce(announced({ method: name, id, zoneId }));
        methods.set(name, zoneId);
      },
      unregister: (method) => {
        if (typeof method !== 'string' || !methods.delete(method)) {
          throw new RpcRejection(
            'invalidParams',
            problemOf('not_registered', { path: 'params.method', method: String(method) }),
          );
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

  /** Connects a carrier. */
  attach(carrier: Carrier): CarrierPort {
    const link: HandlerLink = {
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
      announced: (handler, forMs = ANNOUNCED_MS) => this.#register(handler, link, forMs),
      handlersOf: (method) => this.#handlers.idsOf(method, link),
      left: ({ method, id }) => {
        if (this.#handlers.remove(method, id, link)) this.#calls.gone(link, { method, id });
      },
      hubLeft: (hubId) => {
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

  /** Answers all open calls with an error and closes them. */
  close(): void {
    this.#calls.close(failure('internal', problemOf('shutting_down', { operation: 'call' })));
  }

  #addOwn(methods: Readonly<Record<string, () => unknown>>): void {
    const link: HandlerLink = {
      kind: 'hub',
      isLocal: true,
      send: ({ id, method }) => {
        if (id !== undefined) this.#calls.take(link, id, { answer: { result: methods[method]?.() }, bytes: 0 });
        return true;
      },
    };
    for (const method of Object.keys(methods)) this.#handlers.add({ method, id: this.hubId, zoneId: undefined, link });
  }

  /** Returns the handlers that match a call. Throws an RpcRejection if no handler matches. */
  #handlersFor({ method, handlerId, zoneId, id }: RpcCall): readonly Handler[] {
    const found = this.#handlers.find({ method, handlerId, zoneId });
    if (found.length > 0) return found;
    if (!this.#handlers.has(method)) {
      const reason = method === XCMD ? 'nobodyForXcmd' : 'unknownMethod';
      throw new RpcRejection(reason, problemOf('no_handler', { method }), id);
    }
    if (handlerId === undefined) {
      throw new RpcRejection('unknownMethod', problemOf('no_handler_in_zone', { method }), id);
    }
    throw new RpcRejection('unknownHandler', problemOf('no_handler_of_id', { method, handler_id: handlerId }), id);
  }

  #announce(handler: Announced): void {
    for (const carrier of this.#carriers) carrier.announce(handler);
  }

  #withdraw(handler: Announced): void {
    for (const carrier of this.#carriers) carrier.withdraw(handler);
  }

  /**
   * Registers a handler announced by a carrier. Any name but those of JSON-RPC is allowed, as every handler may have a
   * ping.
   */
  #register({ method, id, zoneId }: Announced, link: HandlerLink, forMs: number): string | undefined {
    if (this.isOwn(id)) return undefined;
    try {
      checkAnnounced({ method, id, ...(zoneId !== undefined && { zoneId }) });
      this.#handlers.add({ method, id, zoneId, link }, forMs);
      return undefined;
    } catch (error) {
      return this.#refusedWith(error).message;
    }
  }

  /** Counts a rejection that is not answered. */
  #refusedWith(error: unknown): RpcRejection {
    if (!(error instanceof RpcRejection)) throw error;
    this.refused(error.reason);
    return error;
  }

  /** Validates the name of a method that a client registers. Throws an RpcRejection. */
  #registrable(method: unknown): string {
    const problem = methodProblem(method);
    if (problem !== undefined) throw new RpcRejection('invalidParams', problem.at('params.method'));
    const name = method as string;
    if (!isReserved(name)) return name;
    throw new RpcRejection('invalidParams', problemOf('reserved_method', { path: 'params.method', found: show(name) }));
  }
}

/**
 * Whether a name is reserved by JSON-RPC, the standard, or the WebSocket's commands. A core zone may announce its xcmd.
 */
function isReserved(name: string): boolean {
  if (name === 'register' || name === 'unregister') return true;
  return name.startsWith('rpc.') || (name.startsWith('com.omlox.') && name !== XCMD);
}

/** Whether a handler id is that of a hub or of one of its clients. */
function isOf(hubId: string, handlerId: string): boolean {
  return handlerId === hubId || handlerId.startsWith(`${hubId}${OF_HUB}`);
}

function announced({ method, id, zoneId }: Pick<Handler, 'method' | 'id' | 'zoneId'>): Announced {
  return { method, id, ...(zoneId !== undefined && { zoneId }) };
}

/** Validates an announcement. Throws an RpcRejection if it is invalid. */
function checkAnnounced({ method, id, zoneId = '' }: Announced): void {
  const problem = methodProblem(method);
  if (problem !== undefined) throw new RpcRejection('invalidParams', problem.at('method'));
  if (method.startsWith('rpc.')) {
    throw new RpcRejection('invalidParams', problemOf('reserved_method', { path: 'method', found: show(method) }));
  }
  for (const [name, text] of Object.entries({ id, zone_id: zoneId })) {
    if (text.length <= HANDLER_ID_MAX_CHARACTERS) continue;
    const where = { path: name, limit: HANDLER_ID_MAX_CHARACTERS, unit: 'characters', found: text.length } as const;
    throw new RpcRejection('invalidParams', problemOf('too_many', where));
  }
  if (id === '') throw new RpcRejection('invalidParams', problemOf('empty', { path: 'id' }));
}
