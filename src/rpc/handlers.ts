import { grouped } from '../model/bounds.ts';
import { PING, type RpcAvailable } from '../model/rpc.ts';
import type { RpcBounds } from './bounds.ts';
import type { Forwarded } from './carrier.ts';
import { RpcRefusal } from './message.ts';

/** How a handler is reached. Handlers that are gone together have one link. */
export interface Link {
  /** For metrics: hub, websocket, or the name of a carrier. */
  readonly kind: string;
  /** Whether its handlers are of this hub: its own, or WebSocket clients'. */
  readonly isLocal: boolean;
  /** Whether requests get anywhere now; left out: always. */
  isUp?(): boolean;
  /** Hands a request over; false where that cannot be. Never throws. */
  send(request: Forwarded): boolean;
}

export interface Handler {
  readonly method: string;
  readonly id: string;
  /** The zone that it is for; undefined: any. */
  readonly zoneId: string | undefined;
  readonly link: Link;
}

/** Which handlers of a method are meant. */
export interface Wanted {
  readonly method: string;
  readonly handlerId: string | undefined;
  readonly zoneId: string | undefined;
}

interface Known {
  readonly handler: Handler;
  /** When it is forgotten, unless it is heard of again. */
  readonly untilMs: number;
}

/**
 * Who handles which method: (method, id) names a handler. A name of this hub is nobody else's until it is gone. A handler
 * that several carriers bring is there once, with several ways to it: it is asked on the first that is up.
 */
export class Handlers {
  readonly #elapsed: () => number;
  readonly #bounds: RpcBounds;
  /** The ways to each handler, in the order in which they became known; one at least. */
  readonly #byMethod = new Map<string, Map<string, Known[]>>();
  readonly #sizes = new Map<Link, number>();
  #size = 0;

  /** `elapsed`: time that has passed since some moment, in milliseconds. */
  constructor({ elapsed, bounds }: { elapsed(): number; readonly bounds: RpcBounds }) {
    this.#elapsed = elapsed;
    this.#bounds = bounds;
  }

  /**
   * Knows a handler from now on, for so long at least. Returns whether it is new; false also where the name is somebody
   * else's. Throws an RpcRefusal where there are too many.
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
    const ofMethod = this.#byMethod.get(method) ?? new Map<string, Known[]>();
    this.#byMethod.set(method, ofMethod.set(id, [...ways, { handler, untilMs }]));
    this.#count(link, 1);
    return ways.length === 0;
  }

  /** Forgets a handler of a link. Returns whether there was one. */
  remove(method: string, id: string, link: Link): boolean {
    const known = this.#waysTo(method, id).find(({ handler }) => handler.link === link);
    if (known !== undefined) this.#forget(known);
    return known !== undefined;
  }

  /** Forgets all handlers of a link, and returns them. */
  removeAll(link: Link): readonly Handler[] {
    const removed = this.known(link);
    for (const { method, id } of removed) this.remove(method, id, link);
    return removed;
  }

  /** The handlers that a link leads to. */
  known(link: Link): readonly Handler[] {
    const nowMs = this.#elapsed();
    return this.#allWays()
      .filter(({ handler, untilMs }) => handler.link === link && untilMs > nowMs)
      .map(({ handler }) => handler);
  }

  /** Ids of the handlers of a method that a link leads to. */
  idsOf(method: string, link: Link): readonly string[] {
    const nowMs = this.#elapsed();
    const ways = [...(this.#byMethod.get(method)?.values() ?? [])].flat();
    return ways
      .filter(({ handler, untilMs }) => handler.link === link && untilMs > nowMs)
      .map(({ handler }) => handler.id);
  }

  /** Those that are meant, in the order in which they became known. */
  find({ method, handlerId, zoneId }: Wanted): readonly Handler[] {
    return this.#of(method).filter(
      (handler) =>
        (handlerId === undefined || handler.id === handlerId) &&
        (zoneId === undefined || handler.zoneId === undefined || handler.zoneId === zoneId),
    );
  }

  /** Whether anybody handles a method. */
  has(method: string): boolean {
    return this.#of(method).length > 0;
  }

  all(): readonly Handler[] {
    return [...this.#byMethod.keys()].flatMap((method) => this.#of(method));
  }

  /** All methods with their handlers, in the order in which they became known; what every hub has comes first. */
  available(): RpcAvailable {
    const names = [...this.#byMethod.keys()].filter((method) => this.has(method));
    names.sort((a, b) => Number(b === PING) - Number(a === PING));
    // An entry, not an assignment: a method may have any name.
    return Object.fromEntries(names.map((name) => [name, { handler_id: this.#of(name).map(({ id }) => id) }]));
  }

  /** Each handler as it is to be asked. */
  #of(method: string): readonly Handler[] {
    const nowMs = this.#elapsed();
    return [...(this.#byMethod.get(method)?.values() ?? [])].flatMap((ways) => {
      const live = ways.filter(({ untilMs }) => untilMs > nowMs);
      const best = live.find(({ handler }) => handler.link.isUp?.() !== false) ?? live[0];
      return best === undefined ? [] : [best.handler];
    });
  }

  /** The ways to a handler, without those that were not heard of again in time. */
  #waysTo(method: string, id: string): Known[] {
    const nowMs = this.#elapsed();
    for (const known of this.#byMethod.get(method)?.get(id) ?? []) if (known.untilMs <= nowMs) this.#forget(known);
    return this.#byMethod.get(method)?.get(id) ?? [];
  }

  #allWays(): readonly Known[] {
    return [...this.#byMethod.values()].flatMap((ofMethod) => [...ofMethod.values()].flat());
  }

  #forget({ handler: { method, id, link } }: Known): void {
    const ofMethod = this.#byMethod.get(method);
    const ways = ofMethod?.get(id);
    const left = ways?.filter(({ handler }) => handler.link !== link);
    if (ofMethod === undefined || left === undefined || left.length === ways?.length) return;
    this.#count(link, -1);
    if (left.length > 0) ofMethod.set(id, left);
    else ofMethod.delete(id);
    if (ofMethod.size === 0) this.#byMethod.delete(method);
  }

  #count(link: Link, by: number): void {
    this.#size += by;
    const ofLink = (this.#sizes.get(link) ?? 0) + by;
    if (ofLink > 0) this.#sizes.set(link, ofLink);
    else this.#sizes.delete(link);
  }

  /** What was not heard of again makes room. */
  #checkCapacity(method: string, link: Link): void {
    if (this.#tooMany(method, link) === undefined) return;
    const nowMs = this.#elapsed();
    for (const known of this.#allWays()) if (known.untilMs <= nowMs) this.#forget(known);
    const refusal = this.#tooMany(method, link);
    if (refusal !== undefined) throw refusal;
  }

  #tooMany(method: string, link: Link): RpcRefusal | undefined {
    const { handlers, handlersOfMethod, handlersOfCarrier } = this.#bounds;
    if (this.#size >= handlers) return tooMany('handlers', handlers, this.#size);
    const ofMethod = this.#byMethod.get(method)?.size ?? 0;
    if (ofMethod >= handlersOfMethod) return tooMany(`handlers of "${method}"`, handlersOfMethod, ofMethod);
    const ofLink = this.#sizes.get(link) ?? 0;
    if (link.isLocal || ofLink < handlersOfCarrier) return undefined;
    return tooMany(`handlers known by ${link.kind}`, handlersOfCarrier, ofLink);
  }
}

function tooMany(what: string, max: number, found: number): RpcRefusal {
  return new RpcRefusal('tooMuch', `${what}: must be at most ${grouped(max)}, found ${grouped(found)} before this one`);
}
