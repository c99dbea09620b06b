import type { HttpRequest } from '../exchange.ts';
import { type Borrowed, lend } from '../model/borrowed.ts';
import { saysClose } from './answer.ts';
import type { BodyMemory } from './body_memory.ts';
import { withoutMark } from './byte_order_mark.ts';
import type { Forwarded } from './forwarded.ts';
import type { Guard, Incoming } from './guard.ts';
import type { NativeRequest, NativeResponse } from './native.ts';

interface ExchangeOptions {
  readonly bodies: BodyMemory;
  readonly forwarded: Forwarded;
  readonly guard: Pick<Guard, 'addressOf'>;
}

const NO_BYTES = new Uint8Array(0);

/** One request and its answer. The native request is gone when its handler returns, so all of it is copied. */
export class Exchange implements HttpRequest, Incoming {
  readonly method: string;
  readonly path: string;
  readonly prefix: string;
  readonly query: string;
  readonly response: NativeResponse;
  #body: Uint8Array = NO_BYTES;
  bodyBytes = 0;
  answered = false;
  #isAborted = false;
  #gone: AbortController | undefined;
  /** Whether the client may send a large body; undefined until that was asked. */
  admission: 'asked' | 'given' | undefined;
  /** What came since others had their turn. */
  unpacedBytes = 0;
  /** The body is complete. */
  isWhole = false;
  /** The connection ends with the answer. */
  isLast = false;
  /** The native server closes the connection after the answer. */
  asksToClose = false;
  /** It was handed on. */
  isHandled = false;
  headerBytes = 0;
  /** The native server has found its end, which takes some chunks for the last that are not, and knows no trailers. */
  isChunked = false;
  /**
   * Where the body ends is a guess: it has two lengths, an empty one, or a coding that the native server does not know,
   * but takes for chunks. A proxy before the hub may guess otherwise, and take for a body what is a request of its own.
   */
  isAmbiguous = false;
  /** Names and values in turn: cheaper to fill than an object, and requests have few headers. */
  readonly #headers: string[] = [];
  readonly #memory: BodyMemory;
  readonly #guard: Pick<Guard, 'addressOf'>;
  /** What has come of a body that is longer than one chunk. */
  #pieces: Uint8Array[] = [];
  /** Bytes that the body counts for in the memory of bodies. */
  #takenBytes = 0;
  #isBorrowed = false;
  #isPaused = false;

  constructor(response: NativeResponse, native: NativeRequest, { bodies, forwarded, guard }: ExchangeOptions) {
    this.response = response;
    this.#guard = guard;
    this.#memory = bodies;
    this.method = native.getCaseSensitiveMethod().toUpperCase();
    const path = native.getUrl();
    this.path = forwarded.localPath(path);
    this.query = native.getQuery() ?? '';
    const headers = this.#headers;
    let hasLength = false;
    native.forEach((name, value) => {
      headers.push(name, value);
      this.headerBytes += name.length + value.length;
      if (name === 'content-length') {
        this.isAmbiguous ||= hasLength || value === '';
        hasLength = true;
      } else if (name === 'transfer-encoding') {
        this.isChunked = true;
        this.isAmbiguous ||= value.toLowerCase() !== 'chunked';
      } else if (name === 'connection') this.asksToClose = saysClose(value);
    });
    this.prefix = forwarded.prefixOf(this, response, path);
  }

  /** Whether its connection has ended. */
  get aborted(): boolean {
    return this.#isAborted;
  }

  abort(): void {
    this.#isAborted = true;
    this.#gone?.abort();
  }

  gone(): AbortSignal {
    this.#gone ??= new AbortController();
    if (this.#isAborted) this.#gone.abort();
    return this.#gone.signal;
  }

  address(): string {
    // The native response may not be touched any more.
    return this.#isAborted || this.answered ? '' : this.#guard.addressOf(this.response);
  }

  /** Nothing more is read of the connection, but what the native server has read already. */
  pause(): void {
    this.#isPaused = true;
    this.response.pause();
  }

  /** Goes on, if it was paused. Before an answer, or the connection's next request is never read. */
  resume(): void {
    if (!this.#isPaused || this.aborted || this.answered) return;
    this.#isPaused = false;
    this.response.resume();
  }

  get body(): Borrowed {
    return lend(withoutMark(this.#body));
  }

  header(name: string): string | undefined {
    const headers = this.#headers;
    for (let i = 0; i < headers.length; i += 2) {
      if (headers[i] === name) return headers[i + 1];
    }
    return undefined;
  }

  /** Takes a body that is one chunk, as most are. The chunk is detached when the native server's call returns. */
  borrow(chunk: ArrayBuffer): void {
    this.bodyBytes = chunk.byteLength;
    this.#body = new Uint8Array(chunk);
    this.#isBorrowed = true;
  }

  /** Copies what is borrowed: somebody may read it after the native server's call. */
  keepBody(): void {
    if (this.#isBorrowed) this.#body = this.#body.slice();
    this.#isBorrowed = false;
  }

  /** What is borrowed need not be copied: nobody reads it again. */
  dropBody(): void {
    if (this.#isBorrowed) this.#body = NO_BYTES;
    this.#isBorrowed = false;
  }

  /** Copies a chunk, which is detached soon. Returns false where there is no memory for it. */
  append(chunk: ArrayBuffer): boolean {
    this.bodyBytes += chunk.byteLength;
    if (chunk.byteLength === 0) return true;
    const piece = this.#memory.copy(chunk);
    if (piece === undefined) return false;
    this.#takenBytes += chunk.byteLength;
    this.#pieces.push(piece);
    return true;
  }

  /** Puts the body together. */
  finish(): void {
    if (this.#pieces.length === 0) return;
    this.#body = this.#memory.join(this.#pieces, this.bodyBytes);
    this.#pieces = [];
  }

  /** Gives back what the body has: nobody reads it any more. */
  release(): void {
    this.#memory.give(this.#pieces, this.#takenBytes);
    this.#takenBytes = 0;
    this.#pieces = [];
    this.#body = NO_BYTES;
  }
}
