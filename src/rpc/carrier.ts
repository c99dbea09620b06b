import { RPC_MESSAGE_MAX_BYTES } from '../model/rpc.ts';
import type { RpcParams } from './message.ts';

/**
 * Transport to handlers and callers that are connected elsewhere, such as an MQTT broker.
 *
 *   Carrier, implemented by the transport     CarrierPort, returned by Rpc.attach()
 *   ------------------------------------      ---------------------------------------------------------
 *   announce, withdraw: own methods      -->  announced, left: methods of others
 *   send: a request to one of them       -->  answered: the response
 *   respond (of a call): the response    <--  call: a request of others to a handler of this hub
 *
 * A carrier forwards a call by one hop: calls that it receives go only to handlers of this hub, never to handlers
 * announced by a carrier, because the caller calls those itself.
 */
export interface Carrier {
  /** Name for metrics, such as `mqtt`. */
  readonly name: string;
  /** Whether requests can be delivered. If several carriers announce a handler, one that is up is used. */
  isUp(): boolean;
  /**
   * Sends a request to a handler announced by this carrier. Returns false if it cannot be sent; the call then continues
   * without that handler. Never throws. The answer may arrive before this returns.
   */
  send(request: ForwardedRequest): boolean;
  /**
   * Announces a handler of this hub: its own, or a WebSocket client's. Called for all existing handlers on attaching,
   * for each new one, and when the zone of a handler changes.
   */
  announce(handler: Announced): void;
  /** Withdraws the announcement of a handler that has left. */
  withdraw(handler: Announced): void;
}

/** A handler of a method. Both names are non-empty and may contain any character. */
export interface Announced {
  readonly method: string;
  /** Id of the handler. */
  readonly id: string;
  /** Zone of the handler; any if absent. */
  readonly zoneId?: string;
}

/** A request as sent to a handler. */
export interface ForwardedRequest {
  /** Assigned by the hub, 10,000 or more, unique per handler; undefined if no answer is expected. */
  readonly id: number | undefined;
  readonly method: string;
  readonly handlerId: string;
  /** Params without the reserved ones, which are only for the hub. */
  readonly params: RpcParams | undefined;
  /** `params` as JSON, serialized once for all handlers. */
  readonly paramsText: string | undefined;
  /** Maximum time that the hub waits for the answer. */
  readonly timeoutMs: number;
}

/** A call that arrives over a carrier. */
export interface CarriedCall {
  /** The request as JSON. Its `_aggregation` is ignored: the caller aggregates. */
  readonly text: string;
  /** Method in the address, which must equal that of the request; undefined if the address has none. */
  readonly method?: string;
  /** Handler in the address; undefined if the address has none. */
  readonly handlerId?: string;
  /**
   * Called with each response: the request's `_caller_id`, and JSON with the request's id. Each answering handler of
   * this hub sends one response, and so does an error of the hub. Not called for a request without `_caller_id`, from
   * this hub itself, or without a handler here.
   */
  respond(callerId: string, text: string): void;
}

/** Input of a carrier to the hub. Its methods never throw. */
export interface CarrierPort {
  /**
   * Registers an announced handler, or renews it, for `forMs` (120 s by default). Returns the reason if it is rejected.
   * The hub's own announcements are ignored.
   */
  announced(handler: Announced, forMs?: number): string | undefined;
  /** Returns the ids of a method's handlers that this carrier has announced. */
  handlersOf(method: string): readonly string[];
  /** Removes a handler that has withdrawn its announcement or has left. Its open requests fail with −32000. */
  left(handler: Announced): void;
  /** Removes the handlers of a hub that has left, including those of its clients. */
  hubLeft(hubId: string): void;
  /**
   * Handles a JSON response to a request sent by this carrier. `from` are properties of the handler known from the
   * address. Returns whether the response was expected: its id must be open and belong to this carrier, method and
   * handler.
   */
  answered(text: string, from?: Responding): boolean;
  /**
   * Handles a request of another caller, which the carrier must have authorized: the hub requires no token here.
   * Returns the reason if the request is rejected.
   */
  call(call: CarriedCall): string | undefined;
  /** Detaches the carrier and removes its handlers. */
  close(): void;
}

/** Properties of the handler that sent a response. */
export interface Responding {
  readonly method?: string;
  readonly handlerId?: string;
}

/** Interface of the hub for carriers. */
export interface CarriedRpc {
  /** Id of the hub as a caller, and as the handler of its own methods. */
  readonly hubId: string;
  /** Whether a handler id belongs, or belonged, to this hub. */
  isOwn(handlerId: string): boolean;
  attach(carrier: Carrier): CarrierPort;
}

/**
 * Serializes a request for a carrier, adding caller and timeout to the params. Returns undefined if it exceeds the
 * maximum length of a message.
 */
export function carriedText(
  { id, method, paramsText = '{}', timeoutMs }: ForwardedRequest,
  callerId: string,
): string | undefined {
  const caller = `"_caller_id":${JSON.stringify(callerId)},"_timeout":${timeoutMs}`;
  const rest = paramsText === '{}' ? '}' : `,${paramsText.slice(1)}`;
  const params = id === undefined ? paramsText : `{${caller}${rest}`;
  const number = id === undefined ? '' : `,"id":${id}`;
  const text = `{"jsonrpc":"2.0"${number},"method":${JSON.stringify(method)},"params":${params}}`;
  return Buffer.byteLength(text) > RPC_MESSAGE_MAX_BYTES ? undefined : text;
}
