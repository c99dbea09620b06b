import { PING, type RpcAvailable } from '../model/rpc.ts';
import type { RpcBounds } from './bounds.ts';
import type { ForwardedRequest } from './carrier.ts';
import { type RpcRejection, limitReached } from './message.ts';

/** Transport to handlers. Handlers that leave together share one link. */
export interface HandlerLink {
  /** Kind for metrics: hub, websocket, or the name of a carrier. */
  readonly kind: string;
  /** Whether the handlers are this hub's own or its WebSocket clients'. */
  readonly isLocal: boolean;
  /** Whether requests can be delivered; always if absent. */
  isUp?(): boolean;
  /** Sends a request. Returns false if it cannot be sent. Never throws. */
  send(request: ForwardedRequest): boolean;
}

export interface Handler {
  readonly method: string;
  readonly id: string;
  /** Zone of the handler; undefined for any. */
  readonly zoneId: string | undefined;
  readonly link: HandlerLink;
}

/** Criteria for handlers of a method. */
export interface HandlerQuery {
  readonly method: string;
  readonly handlerId: string | undefined;
  readonly zoneId: string | undefined;
}

interface HandlerRoute {
  readonly handler: Handler;
  /** Time at which the route expires unless it is announced again. */
  readonly untilMs: number;
}

/**
 * Registry of the handlers of methods. A handler is identified by method and id. While an id of this hub is registered,
 * others cannot register it. A handler announced by several carriers is registered once, with several routes; requests
 * take the first route that is up.
 */
export class Handlers {
  readonly #elapsed: () => number;
  readonly #bounds: RpcBounds;
  /** Routes to each handler in order of registration, at least one. */
  readonly #byMethod = new Map<string, Map<string, HandlerRoute[]>>();
  readonly #sizes = new Map<HandlerLink, number>();
  #size = 0;

  /** `elapsed` returns monotonic time in milliseconds. */
  constructor({ elapsed, bounds }: { elapsed(): number; readonly bounds: RpcBounds }) {
    this.#elapsed = elapsed;
    this.#bounds = bounds;
  }

  /**
   * Registers a handler for at least `forMs`. Returns whether it is new; also false if its id is taken. Throws an
   * RpcRejection if there are too many handlers.
   */
  add(handler: Handler, forMs = Number.POSITIVE_INFINITY): boolean {
    const { method, id, link } = handler;
    const ways = this.#waysTo(method, id);
    const place = ways.findIndex((known) => known.handler.link === link);
    const untilMs = Math.max(this.#elapsed() + forMs, ways[place]?.untilMs ?? 0);
    if (place >= 0) {
      ways[place] = { handler, untilMs };
      return false;
    }
    if (ways.length > 0 && (link.isLocal || ways[0]?.handler.link.isLocal === true)) return false;
    this.#checkCapacity(method, link);
    const ofMethod = this.#byMethod.get(method) ?? new Map<string, HandlerRoute[]>();
    this.#byMethod.set(method, ofMethod.set(id, [...ways, { handler, untilMs }]));
    this.#count(link, 1);
    return ways.length === 0;
  }

  /** Removes a handler of a link. Returns whether it was registered. */
  remove(method: string, id: string, link: HandlerLink): boolean {
    const known = this.#waysTo(method, id).find(({ handler }) => handler.link === link);
    if (known !== undefined) this.#forget(known);
    return known !== undefined;
  }

  /** Removes all handlers of a link and returns them. */
  removeAll(link: HandlerLink): readonly Handler[] {
    const removed = this.known(link);
    for (const { method, id } of removed) this.remove(method, id, link);
    return removed;
  }

  /** Returns the handlers of a link. */
  known(link: HandlerLink): readonly Handler[] {
    const nowMs = this.#elapsed();
    return this.#allWays()
      .filter(({ handler, untilMs }) => handler.link === link && untilMs > nowMs)
      .map(({ handler }) => handler);
  }

  /** Returns the ids of a method's handlers on a link. */
  idsOf(method: string, link: HandlerLink): readonly string[] {
    const nowMs = this.#elapsed();
    const ways = [...(this.#byMethod.get(method)?.values() ?? [])].flat();
    return ways
      .filter(({ handler, untilMs }) => handler.link === link && untilMs > nowMs)
      .map(({ handler }) => handler.id);
  }

  /** Returns the matching handlers, in order of registration. */
  find({ method, handlerId, zoneId }: HandlerQuery): readonly Handler[] {
    return this.#of(method).filter(
      (handler) =>
        (handlerId === undefined || handler.id === handlerId) &&
        (zoneId === undefined || handler.zoneId === undefined || handler.zoneId === zoneId),
    );
  }

  /** Whether a method has a handler. */
  has(method: string): boolean {
    return this.#of(method).length > 0;
  }

  all(): readonly Handler[] {
    return [...this.#byMethod.keys()].flatMap((method) => this.#of(method));
  }

  /**
   * Returns all methods with their handlers, in order of registration, starting with the methods that every hub has.
   */
  available(): RpcAvailable {
    const names = [...this.#byMethod.keys()].filter((method) => this.has(method));
    names.sort((a, b) => Number(b === PING) - Number(a === PING));
    // Uses entries instead of assignments, because a method may be named like a member of Object.prototype.
    return Object.fromEntries(names.map((name) => [name, { handler_id: this.#of(name).map(({ id }) => id) }]));
  }

  /** Returns the handlers of a method, each with its best route. */
  #of(method: string): readonly Handler[] {
    const nowMs = this.#elapsed();
    return [...(this.#byMethod.get(method)?.values() ?? [])].flatMap((ways) => {
      const live = ways.filter(({ untilMs }) => untilMs > nowMs);
      const best = live.find(({ handler }) => handler.link.isUp?.() !== false) ?? live[0];
      return best === undefined ? [] : [best.handler];
    });
  }

  /** Returns the routes to a handler, after removing expired ones. */
  #waysTo(method: string, id: string): HandlerRoute[] {
    const nowMs = this.#elapsed();
    for (const known of this.#byMethod.get(method)?.get(id) ?? []) if (known.untilMs <= nowMs) this.#forget(known);
    return this.#byMethod.get(method)?.get(id) ?? [];
  }

  #allWays(): readonly HandlerRoute[] {
    return [...this.#byMethod.values()].flatMap((ofMethod) => [...ofMethod.values()].flat());
  }

  #forget({ handler: { method, id, link } }: HandlerRoute): void {
    const ofMethod = this.#byMethod.get(method);
    const ways = ofMethod?.get(id);
    const left = ways?.filter(({ handler }) => handler.link !== link);
    if (ofMethod === undefined || left === undefined || left.length === ways?.length) return;
    this.#count(link, -1);
    if (left.length > 0) ofMethod.set(id, left);
    else ofMethod.delete(id);
    if (ofMethod.size === 0) this.#byMethod.delete(method);
  }

  #count(link: HandlerLink, by: number): void {
    this.#size += by;
    const ofLink = (this.#sizes.get(link) ?? 0) + by;
    if (ofLink > 0) this.#sizes.set(link, ofLink);
    else this.#sizes.delete(link);
  }

  /** Throws an RpcRejection if a bound is reached. Removes expired handlers first. */
  #checkCapacity(method: string, link: HandlerLink): void {
    if (this.#tooMany(method, link) === undefined) return;
    const nowMs = this.#elapsed();
    for (const known of this.#allWays()) if (known.untilMs <= nowMs) this.#forget(known);
    const refusal = this.#tooMany(method, link);
    if (refusal !== undefined) throw refusal;
  }

  #tooMany(method: string, link: HandlerLink): RpcRejection | undefined {
    const { handlers, handlersOfMethod, handlersOfCarrier } = this.#bounds;
    if (this.#size >= handlers) return limitReached('handlers', handlers, this.#size);
    const ofMethod = this.#byMethod.get(method)?.size ?? 0;
    if (ofMethod >= handlersOfMethod) return limitReached('handlers_of_method', handlersOfMethod, ofMethod);
    const ofLink = this.#sizes.get(link) ?? 0;
    if (link.isLocal || ofLink < handlersOfCarrier) return undefined;
    return limitReached(`handlers_of_${link.kind}`, handlersOfCarrier, ofLink);
  }
}
