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
 * Who handles which method: (method, id) names a handler. Whoever was known first under a name keeps it until it is gone or
 * forgotten, so that what several carriers bring is there once, and nobody takes a name from somebody else.
 */
export class Handlers {
  readonly #elapsed: () => number;
  readonly #bounds: RpcBounds;
  readonly #byMethod = new Map<string, Map<string, Known>>();
  #size = 0;

  /** `elapsed`: time that has passed since some moment, in milliseconds. */
  constructor({ elapsed, bounds }: { elapsed(): number; readonly bounds: RpcBounds }) {
    this.#elapsed = elapsed;
    this.#bounds = bounds;
  }

  /**
   * Knows a handler from now on, for so long. Returns whether it is new; false also where the name is somebody else's. Throws
   * an RpcRefusal where there are too many.
   */
  add(handler: Handler, forMs = Number.POSITIVE_INFINITY): boolean {
    const { method, id, link } = handler;
    const known = this.#live(method, id);
    if (known !== undefined && known.handler.link !== link) return false;
    if (known === undefined) this.#checkCapacity(method);
    const ofMethod = this.#byMethod.get(method) ?? new Map<string, Known>();
    this.#byMethod.set(method, ofMethod);
    ofMethod.set(id, { handler, untilMs: this.#elapsed() + forMs });
    if (known === undefined) this.#size++;
    return known === undefined;
  }

  /** Forgets a handler of a link. Returns whether there was one. */
  remove(method: string, id: string, link: Link): boolean {
    if (this.#live(method, id)?.handler.link !== link) return false;
    this.#forget(method, id);
    return true;
  }

  /** Forgets all handlers of a link, and returns them. */
  removeAll(link: Link): readonly Handler[] {
    const removed = this.all().filter((handler) => handler.link === link);
    for (const { method, id } of removed) this.#forget(method, id);
    return removed;
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

  #of(method: string): readonly Handler[] {
    const nowMs = this.#elapsed();
    return [...(this.#byMethod.get(method)?.values() ?? [])]
      .filter(({ untilMs }) => untilMs > nowMs)
      .map(({ handler }) => handler);
  }

  #live(method: string, id: string): Known | undefined {
    const known = this.#byMethod.get(method)?.get(id);
    if (known === undefined || known.untilMs > this.#elapsed()) return known;
    this.#forget(method, id);
    return undefined;
  }

  #forget(method: string, id: string): void {
    const ofMethod = this.#byMethod.get(method);
    if (ofMethod?.delete(id) !== true) return;
    this.#size--;
    if (ofMethod.size === 0) this.#byMethod.delete(method);
  }

  /** What was not heard of again makes room. */
  #checkCapacity(method: string): void {
    const { handlers, handlersOfMethod } = this.#bounds;
    const isFull = () => this.#size >= handlers || (this.#byMethod.get(method)?.size ?? 0) >= handlersOfMethod;
    if (!isFull()) return;
    const nowMs = this.#elapsed();
    for (const ofMethod of [...this.#byMethod.values()]) {
      for (const { handler, untilMs } of [...ofMethod.values()]) {
        if (untilMs <= nowMs) this.#forget(handler.method, handler.id);
      }
    }
    if (this.#size >= handlers) throw tooMany('handlers', handlers, this.#size);
    const ofMethod = this.#byMethod.get(method)?.size ?? 0;
    if (ofMethod >= handlersOfMethod) throw tooMany(`handlers of "${method}"`, handlersOfMethod, ofMethod);
  }
}

function tooMany(what: string, max: number, found: number): RpcRefusal {
  return new RpcRefusal('tooMuch', `${what}: must be at most ${grouped(max)}, found ${grouped(found)} before this one`);
}
