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

/** One request and its answer. The native request is valid during its handler only, so its parts are copied. */
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
  /** Bytes received since other requests had their turn. */
  unpacedBytes = 0;
  /** Whether the body is complete. */
  isWhole = false;
  /** Whether the connection closes with the answer. */
  isLast = false;
  /** Whether the native server closes the connection after the answer. */
  asksToClose = false;
  /** Whether it was passed to its handler. */
  isHandled = false;
  headerBytes = 0;
  /**
   * Whether the body is chunked. The native server takes some chunks for the last one that are not, and ignores
   * trailers.
   */
  isChunked = false;
  /**
   * Whether the end of the body is ambiguous: it has two lengths, an empty one, or a coding that the native server does
   * not know but treats as chunks. A proxy in front of the hub may disagree, and treat as a body what is a separate
   * request (request smuggling).
   */
  isAmbiguous = false;
  /** Alternating names and values: cheaper to fill than an object, and requests have few headers. */
  readonly #headers: string[] = [];
  readonly #memory: BodyMemory;
  readonly #guard: Pick<Guard, 'addressOf'>;
  /** Body that is longer than one chunk. */
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

  /** Whether its connection has closed. */
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

  /** Pauses reading from the connection. What the native server has already read still arrives. */
  pause(): void {
    this.#isPaused = true;
    this.response.pause();
  }

  /** Resumes reading if it was paused. Must precede the answer, or the connection's next request is never read. */
  resume(): void {
    if (!this.#isPaused || this.aborted || this.answered) return;
    this.#isPaused = false;
    this.response.resume();
  }

  /** Whole body, which is valid until the request is answered. */
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

  /** Uses a body that is one chunk, as most are. The chunk is detached when the native server's call returns. */
  borrow(chunk: ArrayBuffer): void {
    this.bodyBytes = chunk.byteLength;
    this.#body = new Uint8Array(chunk);
    this.#isBorrowed = true;
  }

  /** Copies a borrowed body that may be read after the native server's call. */
  keepBody(): void {
    if (this.#isBorrowed) this.#body = this.#body.slice();
    this.#isBorrowed = false;
  }

  /** Drops a borrowed body that will not be read again, so that it need not be copied. */
  dropBody(): void {
    if (this.#isBorrowed) this.#body = NO_BYTES;
    this.#isBorrowed = false;
  }

  /** Copies a chunk, which is detached afterwards. Returns false if there is no memory for it. */
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

  /** Frees the body, which is not read any more. */
  release(): void {
    this.#stored?.release();
    this.#stored = undefined;
    this.#body = NO_BYTES;
  }
}
