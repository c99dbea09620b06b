import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { LookupFunction } from 'node:net';
import { getCACertificates } from 'node:tls';
import { EnvHttpProxyAgent, fetch, ping, WebSocket } from 'undici';
import { StartupError } from '../errors.ts';
import type { OutgoingSocket, SocketEvents } from '../links/link_runner.ts';
import { type Failure, reasonOfFailure } from '../model/target_failure.ts';
import { problemOf } from '../problem.ts';

/** Settings of outgoing requests. */
export interface OutgoingOptions {
  /** Environment with `https_proxy` and `no_proxy`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** PEM of a certificate that is trusted in addition to those of the system. */
  readonly trusted?: string | undefined;
  /** Whether the server's certificate must be valid. Default: true. */
  readonly verify?: boolean;
  /** Resolves host names of servers, other than those that a proxy resolves. By default that of the system. */
  readonly lookup?: LookupFunction;
}

/** Functions for requests and WebSockets, and a function that closes the connections. */
export interface Outgoing {
  fetch(url: string, init?: FetchInit): ReturnType<typeof fetch>;
  openSocket(url: string, events: SocketEvents, headers?: Readonly<Record<string, string>>): OutgoingSocket;
  close(): Promise<void>;
}

interface FetchInit {
  readonly method?: string;
  readonly signal?: AbortSignal;
  readonly headers?: object;
  readonly body?: string;
  /** `manual`: a redirect is returned as it is; `error`: it rejects. */
  readonly redirect?: 'error' | 'manual';
}

/** Maximum size of a received WebSocket message, decompressed. */
const MESSAGE_BYTES_MAX = 16 << 20;

/** Hosts that are never reached through a proxy. */
const THIS_MACHINE = ['localhost', '127.0.0.1', '0.0.0.0', '::1'];

/**
 * Creates the fetch function for outgoing requests. HTTPS uses the proxy `https_proxy`
 * (`[http://]user:password@host:port`), except for hosts that match a suffix in `no_proxy`; plain HTTP uses none.
 * Throws a StartupError if https_proxy is not an address.
 */
export function outgoingFetch({ env, trusted, verify = true, lookup }: OutgoingOptions): Outgoing {
  const ca = trusted === undefined ? {} : { ca: [...getCACertificates('default'), trusted] };
  const tls = { ...ca, rejectUnauthorized: verify };
  const agent = new EnvHttpProxyAgent({
    // An empty string prevents the agent from reading the variable itself, which it may be unable to parse.
    httpProxy: '',
    httpsProxy: proxyAddress(env['https_proxy'] || env['HTTPS_PROXY'] || ''),
    noProxy: [...hosts(env['no_proxy'] || env['NO_PROXY'] || ''), ...THIS_MACHINE].join(','),
    connect: { ...tls, ...(lookup && { lookup }) },
    requestTls: tls,
    webSocket: { maxPayloadSize: MESSAGE_BYTES_MAX },
  });
  return {
    openSocket: (url, events, headers = {}) => openSocket(new URL(url), { dispatcher: agent, headers }, events),
    fetch: (url, init = {}) => fetch(url, { ...init, dispatcher: agent } as Parameters<typeof fetch>[1]),
    close: () => agent.close(),
  };
}

/**
 * Names of the channels on which undici publishes the pongs of all sockets, failed connections, and answers. The error event
 * of a WebSocket has no cause.
 */
const PONGS = 'undici:websocket:pong';
const FAILURES = 'undici:client:connectError';
const ANSWERS = 'undici:request:headers';

interface FailedConnection {
  readonly connectParams: { readonly host: string };
  readonly error: Error;
}

interface Answer {
  readonly request: { readonly origin: string; readonly path: string; readonly upgrade: string | null };
  readonly response: { readonly statusCode: number };
}

/** Finds out why a WebSocket could not be opened. */
class OpeningFailure {
  readonly #url: URL;
  #failure: Failure | undefined;

  constructor(url: URL) {
    this.#url = url;
    subscribe(FAILURES, this.#onFailure);
    subscribe(ANSWERS, this.#onAnswer);
  }

  /** The failure; undefined if it is not known. Stops to listen. */
  end(): Failure | undefined {
    unsubscribe(FAILURES, this.#onFailure);
    unsubscribe(ANSWERS, this.#onAnswer);
    return this.#failure;
  }

  readonly #onFailure = (published: unknown): void => {
    const { connectParams, error } = published as FailedConnection;
    if (connectParams.host !== this.#url.host) return;
    this.#failure = { why: `The WebSocket failed: ${error.message}`, problem: reasonOfFailure(error) };
  };

  readonly #onAnswer = (published: unknown): void => {
    const { request, response } = published as Answer;
    const { host, pathname } = this.#url;
    const isOwn = request.upgrade === 'websocket' && new URL(request.origin).host === host && request.path === pathname;
    const status = response.statusCode;
    if (!isOwn || status === SWITCHING) return;
    this.#failure = {
      why: `The WebSocket failed: the server answered ${status}`,
      problem: problemOf('target_answered', { status }),
    };
  };
}

/** Status of an answer that opens a WebSocket. */
const SWITCHING = 101;

function openSocket(
  url: URL,
  options: { readonly dispatcher: EnvHttpProxyAgent; readonly headers: Readonly<Record<string, string>> },
  { opened, message, pong, closed }: SocketEvents,
): OutgoingSocket {
  const opening = new OpeningFailure(url);
  const socket = new WebSocket(url, options);
  let isOpened = false;
  const onPong = (event: unknown): void => {
    if ((event as { readonly websocket: unknown }).websocket === socket) pong();
  };
  let isOver = false;
  const end = (failure: Failure): void => {
    if (isOver) return;
    isOver = true;
    unsubscribe(PONGS, onPong);
    closed(opening.end() ?? failure);
  };
  const lost = (why: string): Failure => {
    return { why: `The WebSocket ${why}`, problem: problemOf('target_connection_lost', {}, why) };
  };
  subscribe(PONGS, onPong);
  socket.addEventListener('open', () => {
    isOpened = true;
    opening.end();
    opened();
  });
  socket.addEventListener('message', ({ data }) => message(String(data)));
  socket.addEventListener('error', ({ error, message: why }) => {
    const reason = why || (error as Error | undefined)?.message;
    end(
      lost(`failed: ${reason || (isOpened ? 'the connection ended without a close frame' : 'it could not be opened')}`),
    );
  });
  socket.addEventListener('close', ({ code, reason }) => {
    end(lost(`was closed: ${reason || `code ${code}`}`));
  });
  return {
    send(text) {
      if (!isOver) socket.send(text);
    },
    ping: () => ping(socket),
    close() {
      isOver = true;
      opening.end();
      unsubscribe(PONGS, onPong);
      socket.close();
    },
  };
}

/**
 * Returns the URL of a proxy, given an environment variable. Adds a missing scheme, and encodes characters of user name
 * and password that are not allowed in URLs. Empty for an empty string.
 */
export function proxyAddress(text: string): string {
  const written = text.trim();
  if (written === '') return '';
  const [, scheme = 'http', rest = ''] = /^(?:([a-z][a-z0-9+.-]*):\/\/)?(.*)$/is.exec(written) ?? [];
  const at = rest.lastIndexOf('@');
  const [user = '', ...password] = rest.slice(0, Math.max(at, 0)).split(':');
  const credentials = at < 0 ? '' : `${encoded(user)}:${encoded(password.join(':'))}@`;
  const url = URL.parse(`${scheme}://${credentials}${rest.slice(at + 1)}`);
  if (url === null || !/^https?:$/.test(url.protocol) || url.hostname === '') {
    // The message does not contain the password.
    const shown = JSON.stringify(at < 0 ? written : `***@${rest.slice(at + 1)}`);
    throw new StartupError(`environment: https_proxy: must be [user:password@]host:port, found ${shown}`);
  }
  return url.origin.replace('://', `://${credentials}`);
}

/** Returns the hosts of a list, whose elements may be URLs. */
function hosts(list: string): string[] {
  return list
    .split(/[\s,]/)
    .map((entry) => (entry.split('://').at(-1) ?? '').split('/', 1)[0] ?? '')
    .filter((host) => host !== '');
}

/** Percent-encodes a part of a URL. Encoded characters stay unchanged. */
function encoded(part: string): string {
  return encodeURIComponent(part).replaceAll(/%25([0-9a-f]{2})/gi, '%$1');
}
