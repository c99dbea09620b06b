import type { Borrowed } from './model/borrowed.ts';

/**
 * Values exchanged between transport/ and api/ or socket/: plain requests, replies and peers, so that neither side
 * depends on the other or on the HTTP server.
 */

/** A request before its body is read. */
export interface HttpHead {
  /** Upper case. */
  readonly method: string;
  /** Path as received, still percent-encoded, without query and base path. */
  readonly path: string;
  /**
   * Path before `path` in the client's URLs, such as /rtls, if a proxy has removed it or the hub has a base path. Empty
   * or absent without such a path.
   */
  readonly prefix?: string;
  /** Query as received, without the question mark. */
  readonly query: string;
  /** Returns the value of a header, by its lower-case name. */
  header(name: string): string | undefined;
}

/** Ids of requests that are recorded. Others may contain anything. */
const REQUEST_ID = /^[\x21-\x7e]{1,128}$/;

/** Returns the header X-Request-Id of a request; undefined without it, or if its value is not recorded. */
export function requestIdOf(head: Pick<HttpHead, 'header'>): string | undefined {
  const id = head.header('x-request-id');
  return id !== undefined && REQUEST_ID.test(id) ? id : undefined;
}

export interface HttpRequest extends HttpHead {
  /**
   * Empty without a body. A body of up to 64 KiB is borrowed until the next await, after which it must be read from
   * here again; a longer one until the request is answered.
   */
  readonly body: Borrowed;
  /** Drops the body. Call it if the response takes time and the body is not needed any more. */
  dropBody?(): void;
  /**
   * Returns a signal that is aborted if the client disconnects before the response, so that a long operation can stop.
   * Absent if unsupported.
   */
  gone?(): AbortSignal;
  /** Returns the address of the client for limits (see PeerHead). Call it before the request is answered. */
  address?(): string;
  /** Part of this hub that makes the request on behalf of a client; absent for a request by HTTP. */
  readonly via?: 'mcp' | 'demo';
}

export interface HttpReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: ReplyBody;
}

/** A reply with a short body. */
export interface TextReply extends HttpReply {
  readonly body?: string;
}

export type ReplyBody = string | Uint8Array | LongBody | FetchedBody;

/**
 * A body generated in parts as the client reads it, once. It must not depend on state that changes in the meantime.
 * Generating a part takes a few milliseconds at most; a part may be empty.
 */
export interface LongBody {
  readonly parts: Iterable<string>;
  /** Memory that only the body retains until it has been read, in bytes. */
  readonly ownBytes?: number;
}

/**
 * A body whose parts are fetched one by one as the client reads it, once. A part that cannot be fetched closes the
 * connection, so that no client mistakes an incomplete body for the whole.
 */
export interface FetchedBody {
  readonly parts: AsyncIterable<Uint8Array>;
  readonly ownBytes?: number;
}

export type HandleHttp = (request: HttpRequest) => HttpReply | Promise<HttpReply>;

/** Decides whether a large body is read. Returns undefined, or the response to send instead. */
export type AdmitBody = (head: HttpHead) => HttpReply | undefined | Promise<HttpReply | undefined>;

/** An upgrade request. */
export interface PeerHead {
  /** Contains the API version and no base path. */
  readonly path: string;
  readonly userAgent: string;
  /** Authorization header. */
  readonly authorization: string | undefined;
  /** As received. */
  readonly query: string;
  /** Address of the client for limits: the first half of an IPv6 address. Absent if unknown. */
  readonly address?: string;
}

/** Whether an upgrade request is authenticated. Neither throws nor rejects. */
export type AuthenticatePeer = (head: PeerHead) => boolean | Promise<boolean>;

/** Remote end of a WebSocket connection. */
export interface Peer extends PeerHead {
  /** Whether the upgrade request was authenticated; true without authentication. */
  readonly isKnown: boolean;
  /**
   * Sends a text frame. Bytes are UTF-8 and are read before this returns. Frames stay in order; data that the network
   * does not accept yet is buffered.
   */
  send(text: string | Borrowed): void;
  /** Returns the bytes sent but not yet accepted by the network. */
  bufferedBytes(): number;
  close(code: number, reason: string): void;
}

/** Event handlers of a WebSocket connection. */
export interface PeerEvents {
  /**
   * Handles a text message as bytes, borrowed until this returns. Returns whether it was accepted; otherwise it is
   * passed to `message`. If absent, all messages are.
   */
  bytes?(message: Borrowed): boolean;
  message(text: string): void;
  /** Called when the network has accepted the buffered data. */
  drained(): void;
  closed(): void;
}

export type HandlePeer = (peer: Peer) => PeerEvents;

/** Data that waits for a client to read it. */
export interface UnsentData {
  /** Number of bytes currently waiting. */
  readonly bytes: number;
  /** Closes the connection and discards the data. */
  drop(): void;
}

/** Counts and limits the unsent data of all connections. */
export interface CountUnsent {
  /** Adds to the waiting bytes of one connection; `by` may be negative. May drop that connection or another one. */
  changed(by: number, one: UnsentData): void;
}
