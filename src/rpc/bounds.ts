/**
 * Bounds on the state that callers and handlers can cause in the hub. Requests beyond them are rejected with −32010 and
 * counted.
 */
export interface RpcBounds {
  /** Maximum number of open calls. */
  readonly openCalls: number;
  /** Number of additional open calls that are reserved for the hub's own methods. */
  readonly openCallsReserved: number;
  /** Maximum number of open calls of one client, over REST and WebSocket. */
  readonly openCallsOfClient: number;
  /** Maximum number of open calls of one carrier. */
  readonly openCallsOfCarrier: number;
  /** Maximum number of pairs of a method and a handler. */
  readonly handlers: number;
  readonly handlersOfMethod: number;
  /** Maximum number of pairs announced by one carrier. */
  readonly handlersOfCarrier: number;
  /** Maximum number of methods handled by one WebSocket connection. */
  readonly methodsOfClient: number;
  /** Maximum bytes of the responses collected by one call, and by all calls. */
  readonly responseBytes: number;
  readonly heldBytes: number;
}

export const RPC_BOUNDS: RpcBounds = {
  openCalls: 1000,
  openCallsReserved: 100,
  openCallsOfClient: 100,
  openCallsOfCarrier: 500,
  handlers: 10_000,
  handlersOfMethod: 1000,
  handlersOfCarrier: 5000,
  methodsOfClient: 100,
  responseBytes: 4 << 20,
  heldBytes: 64 << 20,
};

/**
 * Returns the key of a client: the subject of its token, otherwise its address. Clients with unknown addresses share a
 * key.
 */
export function clientOf(subject: string | undefined, address = ''): string {
  return subject === undefined ? `address ${address}` : `subject ${subject}`;
}
