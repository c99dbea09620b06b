import type { HttpRequest } from '../exchange.ts';
import { type Borrowed, lend } from '../model/borrowed.ts';
import { saysClose } from './answer.ts';
import type { BodyMemory, StoredBody } from './body_memory.ts';
import { withoutMark } from './byte_order_mark.ts';
import type { ForwardedHeaders } from './forwarded.ts';
import type { Guard, GuardedRequest } from './guard.ts';
import type { NativeRequest, NativeResponse } from './native.ts';

interface ExchangeOptions {
  readonly bodies: BodyMemory;
  readonly forwarded: ForwardedHeaders;
  readonly guard: Pick<Guard, 'addressOf'>;
}

const NO_BYTES = new Uint8Array(0);

/** A request and its response. The native request is valid only during its handler, so its parts are copied. */
export class HttpExchange implements HttpRequest, GuardedRequest {
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
  /** Authorization to send a large body; undefined until it is requested. */
  admission: 'asked' | 'given' | undefined;
  /** Number of bytes received since other bodies were read. */
  unpacedBytes = 0;
  /** Whether the body is complete. */
  isWhole = false;
  /** Whether the connection closes with the response. */
  isLast = false;
  /** Whether the native server closes the connection after the response. */
  asksToClose = false;
  /** Whether the native server is calling for this request, and thus collects what is written to its connection. */
  isCorked = true;
  /** Whether the request was passed to its handler. */
  isHandled = false;
  headerBytes = 0;
  /**
   * Whether the body is chunked. The native server may treat a chunk as the last one that is not, and ignores trailers.
   */
  isChunked = false;
  /**
   * Whether the end of the body is ambiguous: it has two lengths, an empty length, or an unknown coding that the native
   * server treats as chunked. A proxy in front of the hub may find another end, so that a part of the body is read as a
   * separate request (request smuggling).
   */
  isAmbiguous = false;
  /** Alternating names and values of headers. Cheaper to fill than an object, and requests have few headers. */
  readonly #headers: string[] = [];
  readonly #memory: BodyMemory;
  readonly #guard: Pick<Guard, 'addressOf'>;
  /** Body of several chunks. */
  #stored: StoredBody | undefined;
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

  /** Whether the connection has closed. */
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
    // The native response must not be used any more.
    return this.#isAborted || this.answered ? '' : this.#guard.addressOf(this.response);
  }

  /** Pauses reading from the connection. Bytes that the native server has already read still arrive. */
  pause(): void {
    this.#isPaused = true;
    this.response.pause();
  }

  /**
   * Resumes reading if it was paused. Must precede the response; otherwise the next request of the connection is never
   * read.
   */
  resume(): void {
    if (!this.#isPaused || this.aborted || this.answered) return;
    this.#isPaused = false;
    this.response.resume();
  }

  /** The whole body, valid until the request is answered. */
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

  /** Borrows a body of a single chunk, as most are. The chunk is detached when the native server's call returns. */
  borrow(chunk: ArrayBuffer): void {
    this.bodyBytes = chunk.byteLength;
    this.#body = new Uint8Array(chunk);
    this.#isBorrowed = true;
  }

  /** Copies a borrowed body, so that it can be read after the native server's call. */
  keepBody(): void {
    if (this.#isBorrowed) this.#body = this.#body.slice();
    this.#isBorrowed = false;
  }

  /** Drops a borrowed body that is not needed any more, so that it is not copied. */
  dropBody(): void {
    if (this.#isBorrowed) this.#body = NO_BYTES;
    this.#isBorrowed = false;
  }

  /** Appends a copy of a chunk, which is detached afterwards. Returns false if the memory is exhausted. */
  append(chunk: ArrayBuffer): boolean {
    this.bodyBytes += chunk.byteLength;
    if (chunk.byteLength === 0) return true;
    this.#stored ??= this.#memory.open();
    return this.#stored.append(chunk);
  }

  /** Joins the chunks of the body. */
  finish(): void {
    if (this.#stored !== undefined) this.#body = this.#stored.join();
  }

  /** Frees the body, which must not be read any more. */
  release(): void {
    this.#stored?.release();
    this.#stored = undefined;
    this.#body = NO_BYTES;
  }
}
