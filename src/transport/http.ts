import { STATUS_CODES } from 'node:http';
import { HubError } from '../errors.ts';
import type { HandleHttp, HttpReply, HttpRequest } from '../exchange.ts';
import type { Guard, Incoming } from './guard.ts';
import type { NativeRequest, NativeResponse } from './native.ts';

export interface HttpOptions {
  readonly bodyMaxBytes: number;
  readonly guard: Guard;
  readonly handleHttp: HandleHttp;
  /** Paths that speak WebSocket only; a plain request to them is answered 426. */
  readonly socketPaths: readonly string[];
  /** Makes the answer to a request for a path that could not be handled. */
  readonly refuse: (error: HubError, path: string) => HttpReply;
  /** Told of what went wrong inside the hub, for the log. */
  readonly report: (error: unknown) => void;
}

/** Methods that change nothing. */
const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** The HTTP side of the server: reads requests, hands them over, writes the replies. */
export class HttpSide {
  readonly #options: HttpOptions;
  readonly #socketPaths: ReadonlySet<string>;
  #inFlight = 0;
  #closing = false;
  #idle: (() => void) | undefined;

  constructor(options: HttpOptions) {
    this.#options = options;
    this.#socketPaths = new Set(options.socketPaths);
  }

  /** Takes a request from the native server. hot: once per PUT. */
  receive(response: NativeResponse, native: NativeRequest): void {
    const exchange = new Exchange(response, native);
    this.#inFlight++;
    response.onAborted(() => {
      exchange.aborted = true;
      if (!exchange.answered) this.#leave();
    });
    if (this.#closing) {
      this.#refuse(exchange, new HubError('HUB_UNAVAILABLE', 'Cannot take the request: the hub is shutting down'));
      return;
    }
    if (exchange.isAmbiguous) {
      response.close();
      return;
    }
    const problem = this.#options.guard.problemOf(exchange, response, !READING.has(exchange.method));
    if (problem !== undefined) {
      this.#refuse(exchange, problem);
      return;
    }
    if (Number(exchange.header('content-length')) > this.#options.bodyMaxBytes) {
      this.#refuse(exchange, this.#tooLarge(Number(exchange.header('content-length'))));
      return;
    }
    response.onData((chunk, isLast) => {
      // What still comes after a refusal is read and thrown away, so that the client gets to read the answer.
      if (exchange.answered) return;
      if (isLast && exchange.bodyBytes === 0) exchange.borrow(chunk);
      else exchange.append(chunk);
      if (exchange.bodyBytes > this.#options.bodyMaxBytes) {
        this.#refuse(exchange, this.#tooLarge(exchange.bodyBytes));
      } else if (isLast) {
        exchange.finish();
        this.#handle(exchange);
      }
    });
  }

  /** Refuses new requests and resolves when those in flight have been answered. */
  drained(): Promise<void> {
    this.#closing = true;
    if (this.#inFlight === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#idle = resolve;
    });
  }

  #handle(exchange: Exchange): void {
    if (this.#socketPaths.has(exchange.path) && exchange.method !== 'OPTIONS') {
      const { method, path } = exchange;
      const what = `Cannot answer ${method} ${path}: it is a WebSocket address, and the request asks for no upgrade`;
      this.#refuse(exchange, new HubError('HUB_UPGRADE_REQUIRED', what), { Upgrade: 'websocket' });
      return;
    }
    try {
      const reply = this.#options.handleHttp(exchange);
      if (!(reply instanceof Promise)) {
        this.#answer(exchange, reply);
        return;
      }
      exchange.keepBody();
      reply.then(
        (settled) => this.#answer(exchange, settled),
        (error: unknown) => this.#fail(exchange, error),
      );
    } catch (error) {
      this.#fail(exchange, error);
    }
  }

  #tooLarge(bytes: number): HubError {
    const { bodyMaxBytes } = this.#options;
    return new HubError('HUB_PAYLOAD_TOO_LARGE', `body: must have at most ${bodyMaxBytes} bytes, found ${bytes}`);
  }

  #fail(exchange: Exchange, error: unknown): void {
    if (error instanceof HubError) {
      this.#refuse(exchange, error);
      return;
    }
    this.#options.report(error);
    const { method, path } = exchange;
    this.#refuse(
      exchange,
      new HubError('HUB_INTERNAL', `Cannot answer ${method} ${path}: an internal error occurred`, { cause: error }),
    );
  }

  #refuse(exchange: Exchange, error: HubError, headers: Readonly<Record<string, string>> = {}): void {
    const reply = this.#options.refuse(error, exchange.path);
    this.#answer(exchange, { ...reply, headers: { ...reply.headers, ...headers } });
  }

  #answer(exchange: Exchange, reply: HttpReply): void {
    if (exchange.aborted || exchange.answered) return;
    exchange.answered = true;
    exchange.response.cork(() => write(exchange, reply, this.#closing));
    this.#leave();
  }

  #leave(): void {
    this.#inFlight--;
    if (this.#inFlight === 0) this.#idle?.();
  }
}

/** One request and its answer. The native request is gone when its handler returns, so all of it is copied. */
class Exchange implements HttpRequest, Incoming {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly response: NativeResponse;
  body: Uint8Array = NO_BYTES;
  bodyBytes = 0;
  answered = false;
  aborted = false;
  headerBytes = 0;
  /**
   * Where the body ends is a guess: it has two lengths, or a coding that the native server does not know, but takes for
   * chunks. A proxy before the hub may guess otherwise, and take for a body what is a request of its own here.
   */
  isAmbiguous = false;
  /** Names and values in turn: cheaper to fill than an object, and requests have few headers. */
  readonly #headers: string[] = [];
  #chunks: Uint8Array[] | undefined;
  #isBorrowed = false;

  constructor(response: NativeResponse, native: NativeRequest) {
    this.response = response;
    this.method = native.getCaseSensitiveMethod().toUpperCase();
    this.path = native.getUrl();
    this.query = native.getQuery() ?? '';
    const headers = this.#headers;
    let hasLength = false;
    native.forEach((name, value) => {
      headers.push(name, value);
      this.headerBytes += name.length + value.length;
      if (name === 'content-length') {
        this.isAmbiguous ||= hasLength;
        hasLength = true;
      } else if (name === 'transfer-encoding' && value.toLowerCase() !== 'chunked') this.isAmbiguous = true;
    });
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
    this.body = new Uint8Array(chunk);
    this.#isBorrowed = true;
  }

  /** Copies what is borrowed: somebody may read it after the native server's call. */
  keepBody(): void {
    if (this.#isBorrowed) this.body = this.body.slice();
    this.#isBorrowed = false;
  }

  /** Copies a chunk, which is detached soon. */
  append(chunk: ArrayBuffer): void {
    if (chunk.byteLength === 0) return;
    this.bodyBytes += chunk.byteLength;
    const copy = new Uint8Array(chunk.slice(0));
    if (this.body === NO_BYTES) this.body = copy;
    else if (this.#chunks === undefined) this.#chunks = [this.body, copy];
    else this.#chunks.push(copy);
  }

  /** The body is complete. */
  finish(): void {
    if (this.#chunks === undefined) return;
    this.body = Buffer.concat(this.#chunks, this.bodyBytes);
    this.#chunks = undefined;
  }
}

const NO_BYTES = new Uint8Array(0);

const STATUS_LINES = new Map(
  Object.entries(STATUS_CODES).map(([status, phrase]) => [Number(status), `${status} ${phrase}`]),
);

/** Characters that would end a header early. Values may come from a client (an id in Location). */
const LINE_BREAKS = /[\r\n\0]/g;

function write({ response, method }: Exchange, { status, headers, body }: HttpReply, closeConnection: boolean): void {
  response.writeStatus(STATUS_LINES.get(status) ?? `${status} Unknown`);
  for (const name in headers) response.writeHeader(name, (headers[name] ?? '').replace(LINE_BREAKS, ''));
  if (method === 'HEAD') {
    if (body !== undefined) response.writeHeader('Content-Length', String(Buffer.byteLength(body)));
    response.endWithoutBody();
  } else if (status === 204 || status === 304) {
    response.endWithoutBody();
  } else {
    response.end(body ?? '', closeConnection);
  }
}
