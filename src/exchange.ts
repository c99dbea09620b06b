import type { Borrowed } from './model/borrowed.ts';

/**
 * What transport/ exchanges with api/ and socket/: plain requests, replies and peers, so that neither side knows the
 * other, nor the HTTP server in use.
 */

/** What is known of a request before its body is read. */
export interface HttpHead {
  /** Upper case. */
  readonly method: string;
  /** As received, without the query and the base path: still percent-encoded. */
  readonly path: string;
  /**
   * Path before `path` in the addresses of the client, such as /rtls, where a proxy has taken it off or the hub has a base path.
   * Empty or left out: none.
   */
  readonly prefix?: string;
  /** As received, without the question mark. */
  readonly query: string;
  /** Value of a header, by its lower-case name. */
  header(name: string): string | undefined;
}

export interface HttpRequest extends HttpHead {
  /**
   * Empty when there is none. Lent until the next await, behind which it is to be asked for anew; one of more than 64 KiB
   * until the request is answered.
   */
  readonly body: Borrowed;
  /** To be called where the answer waits for something, and nobody reads the body again. */
  dropBody?(): void;
  /** Aborted when the client goes before it is answered: nobody waits then for what takes long. Left out: nobody knows. */
  gone?(): AbortSignal;
  /** What the address of the client counts as: see PeerHead. To be called before the request is answered. */
  address?(): string;
}

export interface HttpReply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Body;
}

/** A reply whose body is short. */
export interface TextReply extends HttpReply {
  readonly body?: string;
}

export type Body = string | Uint8Array | LongBody | FetchedBody;

/**
 * A body that is made part by part, as the client reads it, and once. It must not depend on what changes meanwhile. To make
 * a part takes a few milliseconds at most, and a part may be empty.
 */
export interface LongBody {
  readonly parts: Iterable<string>;
  /** Bytes that it keeps until it has been read, beside what is kept anyway. */
  readonly ownBytes?: number;
}

/**
 * A body whose parts are fetched one by one, as the client reads it, and once. A part that cannot be had ends the connection, so
 * no client takes what it has for the whole.
 */
export interface FetchedBody {
  readonly parts: AsyncIterable<Uint8Array>;
  readonly ownBytes?: number;
}

export type HandleHttp = (request: HttpRequest) => HttpReply | Promise<HttpReply>;

/** Decides whether a large body is read: undefined, or what the request is answered instead. */
export type AdmitBody = (head: HttpHead) => HttpReply | undefined | Promise<HttpReply | undefined>;

/** An upgrade request. */
export interface PeerHead {
  /** It carries the API version, and no base path. */
  readonly path: string;
  readonly userAgent: string;
  /** The header. */
  readonly authorization: string | undefined;
  /** As received. */
  readonly query: string;
  /** What the address of the client counts as: of IPv6 its first half. Left out: unknown. */
  readonly address?: string;
}

/** Whether an upgrade request shows who sends it. Neither throws nor rejects. */
export type KnowPeer = (head: PeerHead) => boolean | Promise<boolean>;

/** The other end of a WebSocket connection. */
export interface Peer extends PeerHead {
  /** Whether its upgrade request has shown who it is; true where nobody asks. */
  readonly isKnown: boolean;
  /**
   * Sends one text frame, UTF-8 where it is bytes, which are read before this returns. Frames keep their order; what the
   * network does not take yet is buffered.
   */
  send(text: string | Borrowed): void;
  /** Bytes sent but not yet taken by the network. */
  bufferedBytes(): number;
  close(code: number, reason: string): void;
}

/** One end of a WebSocket connection: what happens to it. */
export interface PeerEvents {
  /**
   * A message of text as bytes, lent until this returns. Returns whether it was taken; otherwise it comes as a text. Left
   * out: all come as texts.
   */
  bytes?(message: Borrowed): boolean;
  message(text: string): void;
  /** The network has taken what was buffered. */
  drained(): void;
  closed(): void;
}

export type HandlePeer = (peer: Peer) => PeerEvents;

/** Something that waits for a client to read it. */
export interface Waiting {
  /** Bytes that wait now. */
  readonly bytes: number;
  /** Ends the connection, and forgets what waits. */
  drop(): void;
}

/** Counts what clients have not read yet, of all connections, and bounds it. */
export interface CountUnsent {
  /** That much more waits in one place; less where it is negative. May drop it, or another one. */
  changed(by: number, one: Waiting): void;
}
