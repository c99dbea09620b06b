/**
 * Bounds on what callers and handlers can make the hub hold. Requests beyond them are rejected with −32010 and counted.
 */
export interface RpcBounds {
  /** Calls waiting for answers. */
  readonly openCalls: number;
  /** Further calls of the hub's own methods that may wait beyond that. */
  readonly openCallsReserved: number;
  /** Calls of one client, by REST and WebSocket, waiting for answers. */
  readonly openCallsOfClient: number;
  /** The same of one carrier. */
  readonly openCallsOfCarrier: number;
  /** Pairs of a method and a handler. */
  readonly handlers: number;
  readonly handlersOfMethod: number;
  /** Pairs received from one carrier. */
  readonly handlersOfCarrier: number;
  /** Methods of one WebSocket connection. */
  readonly methodsOfClient: number;
  /** Bytes of the responses collected by one call, and by all calls. */
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

/** Key of a client: the subject of its token, or else its address. Clients with unknown addresses share one key. */
export function clientOf(subject: string | undefined, address = ''): string {
  return subject === undefined ? `address ${address}` : `subject ${subject}`;
}
