/**
 * What is used of the native server under hyper-express, which has no type package of its own. HTTP goes straight to
 * it: hyper-express's request and response objects cost a third more CPU per small PUT (10.1 against 7.5 µs, the system
 * calls included), copy a body twice and answer 413 without a body. So do WebSockets, which need more of it than
 * hyper-express passes on.
 */
export interface NativeApp {
  /** The rest is options, which may be left out, and a callback. It gets false when the address cannot be had. */
  listen(host: string, port: number, ...rest: readonly (number | ListenDone)[]): unknown;
  any(pattern: string, handle: (response: NativeResponse, request: NativeRequest) => void): unknown;
  /**
   * Takes upgrade requests that fit the pattern. Of several that fit, the one that leaves less open is asked first, and
   * `any` after all of them.
   */
  ws<Data extends object>(pattern: string, behavior: NativeBehavior<Data>): unknown;
  /** Called with 1 when a connection opens and with -1 when it closes. */
  filter(changed: (response: NativeResponse, change: number) => void): unknown;
  /** Closes every connection at once. */
  close(): unknown;
}

/** Opaque. */
export type ListenSocket = object;
type ListenDone = (socket: ListenSocket | false) => void;

/** Refuse a port that another process listens on, where the default would share it. */
export const EXCLUSIVE_PORT = 1;

/** Valid during the handler's call only. */
export interface NativeRequest {
  getCaseSensitiveMethod(): string;
  getUrl(): string;
  getQuery(): string | null | undefined;
  /** Leaves the request to the next handler that fits. */
  setYield(leaves: boolean): unknown;
  forEach(visit: (lowerCaseName: string, value: string) => void): void;
}

/** Valid until it has ended or was aborted. */
export interface NativeResponse {
  writeStatus(line: string): unknown;
  writeHeader(name: string, value: string): unknown;
  end(body: string | Uint8Array, closeConnection: boolean): unknown;
  /**
   * Sends a chunk, and before the first one that the body is in chunks. Says whether nothing of it, and of what was
   * written before, had to be kept: that goes out with the next write only, as long as somebody waits for onWritable.
   */
  write(chunk: Uint8Array): boolean;
  /**
   * Sends what the network takes of a body that has `totalBytes` in all, and of which this is the rest. Says whether it
   * took all that was given, and whether the response has ended with it.
   */
  tryEnd(rest: Uint8Array, totalBytes: number): readonly [hasTakenAll: boolean, hasEnded: boolean];
  /** How much of the body the network has taken. */
  getWriteOffset(): number;
  /** Called when the network takes more: with how much of a tryEnd it has taken. To return whether it took all then. */
  onWritable(handle: (takenBytes: number) => boolean): unknown;
  /** Ends without a body and without Content-Length. Any argument, undefined too, would be taken for a length. */
  endWithoutBody(): unknown;
  onAborted(handle: () => void): unknown;
  /**
   * Makes a WebSocket of the connection, and opens it before it returns. Its behavior is that of the context. Not to be
   * called under the response's own cork, see side_cork.ts.
   */
  upgrade(data: object, key: string, protocol: string, extensions: string, context: NativeContext): unknown;
  /** The chunk is detached when the handler returns. Called with an empty last chunk when there is no body. */
  onData(handle: (chunk: ArrayBuffer, isLast: boolean) => void): unknown;
  cork(write: () => void): unknown;
  /** Reads nothing more of the connection until it is resumed. */
  pause(): unknown;
  resume(): unknown;
  /** Closes the connection at once. */
  close(): unknown;
  /** The client's address, 4 or 16 bytes. */
  getRemoteAddress(): ArrayBuffer;
  /** That of a PROXY header, which anybody may have sent; empty when there was none. */
  getProxiedRemoteAddress(): ArrayBuffer;
}

/** A behavior that the native server has been given. Opaque; lives as long as the server. */
export type NativeContext = object;

export interface NativeBehavior<Data extends object> {
  /** What comes of an unfinished frame is kept up to here. A longer one cuts the connection without a close frame. */
  readonly maxPayloadLength: number;
  /** 0, or 8 to 960 seconds; anything else ends the process. A ping goes out shortly before. */
  readonly idleTimeout: number;
  /** 0: none. Frames beyond it are dropped without a word. */
  readonly maxBackpressure: number;
  readonly upgrade: (response: NativeResponse, request: NativeRequest, context: NativeContext) => void;
  readonly open: (socket: NativeSocket<Data>) => void;
  /** The frame is detached when the handler returns. */
  readonly message: (socket: NativeSocket<Data>, frame: ArrayBuffer, isBinary: boolean) => void;
  /** A ping, which the native server answers by itself. */
  readonly ping: (socket: NativeSocket<Data>, text: ArrayBuffer) => void;
  readonly drain: (socket: NativeSocket<Data>) => void;
  /** Called once, with a code of its own where no close frame came or went. */
  readonly close: (socket: NativeSocket<Data>, code: number, reason: ArrayBuffer) => void;
}

/** The code of a connection that ended without a close frame. */
export const WITHOUT_CLOSE_FRAME = 1006;

/** With what the upgrade was given. Throws whatever is called once it has closed. */
export type NativeSocket<Data extends object> = Readonly<Data> & {
  send(text: string | Uint8Array, isBinary: boolean): unknown;
  getBufferedAmount(): number;
  /** Sends a close frame, and calls `close` before it returns. The connection lives on until the client ends it. */
  end(code: number, reason: string): unknown;
  /** Cuts the connection. */
  close(): unknown;
};
