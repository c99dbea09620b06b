/** Bounds of what callers and handlers can make the hub hold. What is beyond is refused with −32010, and counted. */
export interface RpcBounds {
  /** Calls that wait for answers. */
  readonly openCalls: number;
  /** Calls of the hub's own methods that may wait beyond that. */
  readonly openCallsReserved: number;
  /** Calls of one client, by REST and WebSocket, that wait for answers. */
  readonly openCallsOfClient: number;
  /** The same of one carrier. */
  readonly openCallsOfCarrier: number;
  /** Pairs of a method and a handler. */
  readonly handlers: number;
  readonly handlersOfMethod: number;
  /** Pairs that are known from one carrier. */
  readonly handlersOfCarrier: number;
  /** Methods of one WebSocket connection. */
  readonly methodsOfClient: number;
  /** Bytes of the responses that one call collects, and all calls together. */
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

/** Tells clients apart by the subject of their token, or else by their address. Those of unknown addresses count as one. */
export function clientOf(subject: string | undefined, address = ''): string {
  return subject === undefined ? `address ${address}` : `subject ${subject}`;
}
