import { RPC_MESSAGE_MAX_BYTES } from '../model/rpc.ts';
import type { Params } from './message.ts';

/**
 * How the hub reaches handlers that are connected to something else, such as an MQTT broker, and is reached from there.
 *
 *   Carrier, made by whoever carries          CarrierPort, what it is given by Rpc.attach()
 *   ------------------------------------      ---------------------------------------------------------
 *   announce, withdraw: own methods      -->  heard, gone: methods of others
 *   send: a request to one of them       -->  answered: the response
 *   respond (of a call): the response    <--  call: a request of others to a handler of this hub
 *
 * A carrier carries a call one hop: calls that it brings go to handlers of this hub alone, never to those that a carrier has
 * announced, since these are asked by the caller itself.
 */
export interface Carrier {
  /** What carries, for metrics: a word such as `mqtt`. */
  readonly name: string;
  /** Whether requests get anywhere now. Where several carriers know a handler, one that is up is asked to send. */
  isUp(): boolean;
  /**
   * Hands a request to a handler that this carrier has announced. Returns whether it is on its way; if not, the call goes on
   * without it. Never throws. The answer may come before it returns.
   */
  send(request: Forwarded): boolean;
  /**
   * A method has a handler at this hub: its own, or a WebSocket client's. Called for all that there are while the carrier is
   * attached, for each that comes, and for one whose zone has changed.
   */
  announce(handler: Announced): void;
  /** A handler that was announced is gone. */
  withdraw(handler: Announced): void;
}

/** A handler of a method. Neither text is empty; both may hold any character. */
export interface Announced {
  readonly method: string;
  /** Of the handler. */
  readonly id: string;
  /** The zone that it is for; left out: any. */
  readonly zoneId?: string;
}

/** A request as a handler gets it. */
export interface Forwarded {
  /** The hub's own, 10,000 or more, and another one for each handler; undefined: nobody waits for an answer. */
  readonly id: number | undefined;
  readonly method: string;
  readonly handlerId: string;
  /** Without the reserved parameters: those are between the caller and the hub. */
  readonly params: Params | undefined;
  /** The same as JSON, made once for all handlers. */
  readonly paramsText: string | undefined;
  /** How long the hub waits for the answer. */
  readonly timeoutMs: number;
}

/** A call that a carrier brings. */
export interface CarriedCall {
  /** The request as it came: JSON. Its `_aggregation` is the caller's own affair. */
  readonly text: string;
  /** The method that it must name, where the way that it came on says so. */
  readonly method?: string;
  /** The handler that it was addressed to, where the way that it came on says so. */
  readonly handlerId?: string;
  /**
   * Told each response, one for each handler of this hub that answers: to whom, as the request's `_caller_id` says, and JSON
   * with the request's id. An error of the hub is told once. Not called for a request without `_caller_id`, for one of this
   * hub itself, nor where it is for nobody here.
   */
  respond(callerId: string, text: string): void;
}

/** What a carrier tells the hub. None of it throws. */
export interface CarrierPort {
  /**
   * A handler has announced itself, perhaps again: it is known for 120 s, or as long as is said. Returns why it is refused, if
   * it is. What the hub has announced itself is ignored.
   */
  heard(handler: Announced, forMs?: number): string | undefined;
  /** Ids of the handlers of a method that are known from this carrier. */
  handlersOf(method: string): readonly string[];
  /** A handler has taken its announcement back, or is known to be gone. What it was asked is answered with −32000. */
  gone(handler: Announced): void;
  /** The same of a hub that is gone, with its own handlers and those of its clients. */
  goneWith(hubId: string): void;
  /**
   * A response, as JSON, to what was sent by this carrier. `from`: what the way that it came on says of its handler. Returns
   * whether it was waited for: an id that is unknown, of another carrier, method or handler, or answered before is not.
   */
  answered(text: string, from?: Responding): boolean;
  /**
   * A request of somebody else. Whoever may not call has to be stopped before: the hub asks for no token here. Returns why it
   * is refused, if it is.
   */
  call(call: CarriedCall): string | undefined;
  /** Ends it: its handlers are gone. */
  close(): void;
}

/** What is known of the handler that has sent a response. */
export interface Responding {
  readonly method?: string;
  readonly handlerId?: string;
}

/** The hub, to a carrier. */
export interface CarriedRpc {
  /** The hub as a caller, and as a handler of its own methods. */
  readonly hubId: string;
  /** Whether a handler id is one of this hub, or was. */
  isOwn(handlerId: string): boolean;
  attach(carrier: Carrier): CarrierPort;
}

/**
 * A request as carriers send it: who calls, and how long it waits for an answer, are among the parameters. Undefined where it
 * is longer than requests may be.
 */
export function carriedText(
  { id, method, paramsText = '{}', timeoutMs }: Forwarded,
  callerId: string,
): string | undefined {
  const caller = `"_caller_id":${JSON.stringify(callerId)},"_timeout":${timeoutMs}`;
  const rest = paramsText === '{}' ? '}' : `,${paramsText.slice(1)}`;
  const params = id === undefined ? paramsText : `{${caller}${rest}`;
  const number = id === undefined ? '' : `,"id":${id}`;
  const text = `{"jsonrpc":"2.0"${number},"method":${JSON.stringify(method)},"params":${params}}`;
  return Buffer.byteLength(text) > RPC_MESSAGE_MAX_BYTES ? undefined : text;
}
