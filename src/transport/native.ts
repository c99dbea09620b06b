/**
 * Types of the native server under hyper-express, which has none of its own. HTTP uses it directly: the request and
 * response objects of hyper-express cost a third more CPU per small PUT (10.1 instead of 7.5 µs, including system
 * calls), copy a body twice, and answer 413 without a body. WebSockets use it because they need more than hyper-express
 * exposes.
 */
export interface NativeApp {
  /** `rest` are options, if any, and a callback, which receives false if the address is not available. */
  listen(host: string, port: number, ...rest: readonly (number | ListenDone)[]): unknown;
  any(pattern: string, handle: (response: NativeResponse, request: NativeRequest) => void): unknown;
  /**
   * Handles upgrade requests that match the pattern. The most specific of several matching patterns comes first, `any`
   * last.
   */
  ws<Data extends object>(pattern: string, behavior: NativeBehavior<Data>): unknown;
  /** Called with 1 when a connection opens and with -1 when it closes. */
  filter(changed: (response: NativeResponse, change: number) => void): unknown;
  /** Closes all connections immediately. */
  close(): unknown;
}

/** Opaque. */
export type ListenSocket = object;
type ListenDone = (socket: ListenSocket | false) => void;

/** Option that rejects a port on which another process listens. By default, the port is shared. */
export const EXCLUSIVE_PORT = 1;

/** A request, valid only during the handler's call. */
export interface NativeRequest {
  getCaseSensitiveMethod(): string;
  getUrl(): string;
  getQuery(): string | null | undefined;
  /** Passes the request to the next matching handler. */
  setYield(leaves: boolean): unknown;
  forEach(visit: (lowerCaseName: string, value: string) => void): void;
}

/** A response, valid until it has ended or was aborted. */
export interface NativeResponse {
  writeStatus(line: string): unknown;
  writeHeader(name: string, value: string): unknown;
  end(body: string | Uint8Array, closeConnection: boolean): unknown;
  /**
   * Sends a chunk; the first one is preceded by the header of chunked bodies. Returns whether the buffer is empty
   * afterwards. As long as onWritable has a handler, buffered bytes are sent only with the next write.
   */
  write(chunk: Uint8Array): boolean;
  /**
   * Sends `rest`, the end of a body of `totalBytes` bytes, as far as the network accepts it. Returns whether all of it
   * was accepted, and whether the response has ended.
   */
  tryEnd(rest: Uint8Array, totalBytes: number): readonly [hasTakenAll: boolean, hasEnded: boolean];
  /** Number of body bytes that the network has accepted. */
  getWriteOffset(): number;
  /**
   * Sets a handler that is called when the network accepts more, with the number of accepted bytes of a tryEnd. It
   * returns whether all bytes were sent.
   */
  onWritable(handle: (takenBytes: number) => boolean): unknown;
  /**
   * Ends the response without a body and without Content-Length. Any argument, even undefined, would be used as the
   * length.
   */
  endWithoutBody(): unknown;
  onAborted(handle: () => void): unknown;
  /**
   * Upgrades the connection to a WebSocket with the behavior of the context, and opens it before it returns. Must not
   * be called under the response's own cork (see deferred_upgrade.ts).
   */
  upgrade(data: object, key: string, protocol: string, extensions: string, context: NativeContext): unknown;
  /**
   * Sets the handler of body chunks. A chunk is detached when the handler returns. Without a body, the handler receives
   * an empty last chunk.
   */
  onData(handle: (chunk: ArrayBuffer, isLast: boolean) => void): unknown;
  cork(write: () => void): unknown;
  /** Pauses reading from the connection until `resume`. */
  pause(): unknown;
  resume(): unknown;
  /** Closes the connection at once. */
  close(): unknown;
  /** Address of the client: 4 or 16 bytes. */
  getRemoteAddress(): ArrayBuffer;
  /** Client address in a PROXY header, which any client may have sent; empty without one. */
  getProxiedRemoteAddress(): ArrayBuffer;
}

/** A registered behavior. Opaque; valid as long as the server. */
export type NativeContext = object;

export interface NativeBehavior<Data extends object> {
  /** Maximum size of a buffered incomplete frame. A longer frame closes the connection without a close frame. */
  readonly maxPayloadLength: number;
  /**
   * Timeout of an idle connection: 0, or 8 to 960 seconds; other values terminate the process. A ping is sent shortly
   * before.
   */
  readonly idleTimeout: number;
  /** 0 for no bound. Frames beyond it are silently dropped. */
  readonly maxBackpressure: number;
  readonly upgrade: (response: NativeResponse, request: NativeRequest, context: NativeContext) => void;
  readonly open: (socket: NativeSocket<Data>) => void;
  /** The frame is detached when the handler returns. */
  readonly message: (socket: NativeSocket<Data>, frame: ArrayBuffer, isBinary: boolean) => void;
  /** A ping, which the native server answers itself. */
  readonly ping: (socket: NativeSocket<Data>, text: ArrayBuffer) => void;
  readonly drain: (socket: NativeSocket<Data>) => void;
  /** Called once, with code 1006 if no close frame was sent or received. */
  readonly close: (socket: NativeSocket<Data>, code: number, reason: ArrayBuffer) => void;
}

/** Code of a connection that has closed without a close frame. */
export const WITHOUT_CLOSE_FRAME = 1006;

/** A WebSocket with the members of the upgrade data. Its methods throw once it has closed. */
export type NativeSocket<Data extends object> = Readonly<Data> & {
  send(text: string | Uint8Array, isBinary: boolean): unknown;
  getBufferedAmount(): number;
  /** Sends a close frame and calls `close` before it returns. The connection stays open until the client closes it. */
  end(code: number, reason: string): unknown;
  /** Closes the connection without a close frame. */
  close(): unknown;
};
