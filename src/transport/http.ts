import { randomUUID } from 'node:crypto';
import { hubError, HubError } from '../errors.ts';
import { type AdmitBody, type CountUnsent, type HandleHttp, type HttpReply, requestIdOf } from '../exchange.ts';
import type { TaskScheduler } from '../time/task_scheduler.ts';
import { answerWith } from './answer.ts';
import type { BodyMemory } from './body_memory.ts';
import type { ForwardedHeaders } from './forwarded.ts';
import type { Guard } from './guard.ts';
import type { NativeRequest, NativeResponse } from './native.ts';
import { HttpExchange } from './http_exchange.ts';

export interface HttpOptions {
  readonly bodyMaxBytes: number;
  readonly guard: Guard;
  readonly forwarded: ForwardedHeaders;
  /** Authorizes reading more than SMALL_BODY_BYTES of a body. */
  readonly admitBody: AdmitBody;
  /** Memory for bodies that are being received. */
  readonly bodies: BodyMemory;
  readonly unsent: CountUnsent;
  /** Schedules long responses. */
  readonly turns: TaskScheduler;
  readonly handleHttp: HandleHttp;
  /** Paths of WebSockets. A plain request to these is answered with 426. */
  readonly socketPaths: readonly string[];
  /** Creates the response to a rejected request for a path. */
  readonly refuse: (error: HubError, path: string) => HttpReply;
  /** Logs an internal error, with the request that has failed. */
  readonly report: (error: unknown, request: FailedRequest) => void;
}

/** Facts about a request that an internal error has ended. */
export interface FailedRequest {
  readonly method: string;
  readonly path: string;
  /** Header X-Request-Id of the request, or a new id. The response has it, too. */
  readonly request_id: string;
}

/**
 * Number of bytes of a body that are read before the client is authorized. Bodies up to this size are borrowed while
 * they are handled.
 */
const SMALL_BODY_BYTES = 64 * 1024;
/** Number of bytes read of one body before others are read. */
const READ_AT_ONCE_BYTES = 128 * 1024;
/** Methods without side effects. */
const READING: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);

/** HTTP side of the server: reads requests, passes them to the handler, and writes the responses. */
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

  /** Handles a request of the native server. hot: once per PUT. */
  receive(response: NativeResponse, native: NativeRequest): void {
    const { guard, forwarded, bodies } = this.#options;
    const exchange = new HttpExchange(response, native, { bodies, forwarded, guard });
    this.#begin(exchange, response);
    exchange.isCorked = false;
  }

  #begin(exchange: HttpExchange, response: NativeResponse): void {
    const { guard, bodyMaxBytes } = this.#options;
    this.#inFlight++;
    response.onAborted(() => {
      exchange.abort();
      if (!exchange.answered) this.#leave(exchange);
    });
    if (this.#closing) {
      this.#refuse(exchange, hubError('shutting_down', { operation: 'take_request' }));
      return;
    }
    if (exchange.isAmbiguous) {
      response.close();
      return;
    }
    const problem = guard.problemOf(exchange, response, !READING.has(exchange.method));
    if (problem !== undefined) {
      this.#refuse(exchange, problem);
      return;
    }
    const declaredBytes = Number(exchange.header('content-length'));
    if (declaredBytes > bodyMaxBytes) {
      this.#refuse(exchange, this.#tooLarge(declaredBytes));
      return;
    }
    if (declaredBytes > SMALL_BODY_BYTES) {
      this.#askToAdmit(exchange);
      if (exchange.admission === 'given') this.#awaitTurn(exchange);
    }
    if (exchange.answered) return;
    response.onData((chunk, isLast) => {
      exchange.isCorked = true;
      this.#read(exchange, chunk, isLast);
      exchange.isCorked = false;
    });
  }

  #read(exchange: HttpExchange, chunk: ArrayBuffer, isLast: boolean): void {
    // The rest of a rejected request is read and discarded, so that the client reads the response.
    if (exchange.answered || exchange.aborted) return;
    exchange.isWhole = isLast;
    const isWaiting = exchange.admission === 'asked';
    const isShort = chunk.byteLength <= SMALL_BODY_BYTES;
    if (isLast && isShort && exchange.bodyBytes === 0 && !isWaiting) exchange.borrow(chunk);
    else if (!exchange.append(chunk)) {
      const { maxBytes } = this.#options.bodies;
      // Closes the connection, because the native server would read the whole rest.
      exchange.isLast = true;
      this.#refuse(exchange, hubError('bodies_waiting', { limit: maxBytes }));
      return;
    }
    if (exchange.bodyBytes > this.#options.bodyMaxBytes) {
      this.#refuse(exchange, this.#tooLarge(exchange.bodyBytes));
      return;
    }
    if (isLast) {
      if (!isWaiting) this.#finish(exchange);
    } else if (exchange.bodyBytes > SMALL_BODY_BYTES && exchange.admission === undefined) this.#askToAdmit(exchange);
    else if (!isWaiting) this.#pace(exchange, chunk.byteLength);
  }

  /** Yields between parts of large bodies, because reading and copying several at once would block other clients. */
  #pace(exchange: HttpExchange, bytes: number): void {
    exchange.unpacedBytes += bytes;
    if (exchange.unpacedBytes >= READ_AT_ONCE_BYTES) this.#awaitTurn(exchange);
  }

  /** Pauses reading until a turn of the event loop in which no other large body resumes. */
  #awaitTurn(exchange: HttpExchange): void {
    exchange.unpacedBytes = 0;
    exchange.pause();
    void this.#options.turns.next().then(() => exchange.resume());
  }

  /** Authorizes a large body by the headers. Reading pauses until the result is known. */
  #askToAdmit(exchange: HttpExchange): void {
    let refused: ReturnType<AdmitBody>;
    try {
      refused = this.#options.admitBody(exchange);
    } catch (error) {
      this.#fail(exchange, error);
      return;
    }
    if (!(refused instanceof Promise)) {
      if (refused !== undefined) this.#answer(exchange, refused);
      else exchange.admission = 'given';
      return;
    }
    exchange.admission = 'asked';
    exchange.pause();
    refused.then(
      (reply) => this.#admit(exchange, () => reply !== undefined && this.#answer(exchange, reply)),
      (error: unknown) => this.#admit(exchange, () => this.#fail(exchange, error)),
    );
  }

  /** Runs `answer`, which may answer the request, and otherwise continues with it. */
  #admit(exchange: HttpExchange, answer: () => void): void {
    if (exchange.aborted || exchange.answered) return;
    exchange.admission = 'given';
    answer();
    if (exchange.answered) return;
    if (exchange.isWhole) this.#finish(exchange);
    else this.#awaitTurn(exchange);
  }

  #finish(exchange: HttpExchange): void {
    exchange.finish();
    if (!exchange.isChunked) {
      this.#handle(exchange);
      return;
    }
    // Handles the request later, because bytes after the last chunk are parsed first. If they close the connection, the
    // request is not handled.
    exchange.keepBody();
    setImmediate(() => {
      if (!exchange.aborted && !exchange.answered) this.#handle(exchange);
    });
  }

  /** Rejects new requests. Resolves when all requests in flight have been answered. */
  drained(): Promise<void> {
    this.#closing = true;
    if (this.#inFlight === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#idle = resolve;
    });
  }

  #handle(exchange: HttpExchange): void {
    exchange.isHandled = true;
    if (this.#socketPaths.has(exchange.path) && exchange.method !== 'OPTIONS') {
      const { method, path } = exchange;
      this.#refuse(exchange, hubError('upgrade_required', { request: `${method} ${path}` }), { Upgrade: 'websocket' });
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
    return hubError('body_too_large', { path: 'body', limit: bodyMaxBytes, found: bytes });
  }

  #fail(exchange: HttpExchange, error: unknown): void {
    if (error instanceof HubError) {
      this.#refuse(exchange, error);
      return;
    }
    const { method, path, request_id: id } = this.#report(exchange, error);
    const refused = hubError('internal_error', { request: `${method} ${path}` }, { cause: error });
    this.#refuse(exchange, refused, { 'X-Request-Id': id });
  }

  #report(exchange: HttpExchange, error: unknown): FailedRequest {
    const { method, path } = exchange;
    const request = { method, path, request_id: requestIdOf(exchange) ?? randomUUID() };
    this.#options.report(error, request);
    return request;
  }

  #refuse(exchange: HttpExchange, error: HubError, headers: Readonly<Record<string, string>> = {}): void {
    const reply = this.#options.refuse(error, exchange.path);
    this.#answer(exchange, { ...reply, headers: { ...reply.headers, ...headers } });
  }

  #answer(exchange: HttpExchange, reply: HttpReply): void {
    if (exchange.aborted) exchange.release();
    if (exchange.aborted || exchange.answered) return;
    exchange.resume();
    exchange.answered = true;
    // Whether the connection closes with the response. Bytes after chunks may be part of the body and must not be read
    // as a request, but a client that is still sending would not read the response.
    const isLast = (): boolean => this.#closing || exchange.isLast || (exchange.isChunked && exchange.isWhole);
    const { unsent, turns } = this.#options;
    let sent: Promise<void> | undefined;
    const write = (): void => {
      sent = answerWith(exchange, reply, { unsent, turns, isLast });
    };
    if (exchange.isCorked) write();
    else exchange.response.cork(write);
    exchange.release();
    if (sent === undefined) this.#leave(exchange);
    else sent.catch((error: unknown) => this.#report(exchange, error)).finally(() => this.#leave(exchange));
  }

  /**
   * Releases the body after the connection has closed. A request that is being handled is completed and retains its
   * body.
   */
  #leave(exchange: HttpExchange): void {
    if (!exchange.isHandled) exchange.release();
    this.#inFlight--;
    if (this.#inFlight === 0) this.#idle?.();
  }
}
