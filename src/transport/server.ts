import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { Server } from 'hyper-express';
import { type HubError, StartupError } from '../errors.ts';
import type { HandleHttp, HandlePeer, HttpReply } from '../exchange.ts';
import { HttpSide } from './http.ts';
import { EXCLUSIVE_PORT, type ListenSocket, type NativeApp } from './native.ts';
import { PeerSide } from './peers.ts';

export interface ListenOptions {
  /** Name or address of the interface; `localhost` means both loopback addresses. */
  readonly host: string;
  /** 0 asks for any free port. */
  readonly port: number;
  readonly bodyMaxBytes: number;
  readonly frameMaxBytes: number;
  readonly idleTimeoutSeconds: number;
  readonly handleHttp: HandleHttp;
  readonly handlePeer: HandlePeer;
  readonly socketPaths: readonly string[];
  /** Makes the answer to a request that could not be handled. */
  readonly refuse: (error: HubError) => HttpReply;
  /** Told of what went wrong inside the hub, for the log. */
  readonly report?: (error: unknown) => void;
}

export interface Listening {
  /** The real one, also when 0 was asked for. */
  readonly port: number;
  /** Takes no more, answers what is in flight, closes sockets with 1001. Resolves when no connection is left. */
  close(): Promise<void>;
}

/** How long a shutdown waits for answers in flight, and for peers to read their close frame. */
const DRAIN_MS = 5_000;
const CLOSE_FRAME_MS = 100;

/** Serves HTTP and WebSocket on one port. Throws a StartupError naming host and port when they cannot be had. */
export async function listen(options: ListenOptions): Promise<Listening> {
  const { host, report = () => {} } = options;
  const socketPaths = options.socketPaths.flatMap((path) => [path, `${path}/`]);
  const server = new Server({ auto_close: false });
  const app: NativeApp = server.uws_instance;
  const http = new HttpSide({ ...options, socketPaths, report });
  const peers = new PeerSide(server, { ...options, report });
  app.any('/*', (response, request) => http.receive(response, request));
  // hyper-express would put its own catch-all over the one above.
  (server.handlers as { on_not_found: unknown }).on_not_found = null;

  // `localhost` alone would bind only the first of the addresses that the system has for the name.
  const [address, twin] = host === 'localhost' ? ['127.0.0.1', '::1'] : [host];
  listenExclusively(app);
  try {
    await server.listen(options.port, address);
  } catch (cause) {
    const why = await whyRefused(address, options.port);
    throw new StartupError(`Cannot listen on ${host}:${options.port}: ${why}`, { cause });
  }
  const port = server.port;
  const twinSocket = twin === undefined ? false : await bind(app, { host: twin, port });

  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    server.close();
    if (twinSocket !== false) server.close(twinSocket as never);
    const drained = http.drained();
    const open = peers.close();
    const deadline = new AbortController();
    await Promise.race([drained, delay(DRAIN_MS, undefined, { signal: deadline.signal, ref: false })]);
    deadline.abort();
    if (open > 0) await delay(CLOSE_FRAME_MS);
    app.close();
  };
  return {
    port,
    close() {
      closed ??= close();
      return closed;
    },
  };
}

/** By default several processes may listen on one port and share its connections: two hubs would split the world. */
function listenExclusively(app: NativeApp): void {
  const listenNative = app.listen.bind(app);
  app.listen = (host, port, ...rest) => listenNative(host, port, EXCLUSIVE_PORT, ...rest.slice(-1));
}

function bind(app: NativeApp, at: { host: string; port: number }): Promise<ListenSocket | false> {
  return new Promise((resolve) => {
    app.listen(at.host, at.port, resolve);
  });
}

/** The native server gives no reason, so the system is asked once more through node:net. */
function whyRefused(host: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(REASONS[error.code ?? ''] ?? error.message));
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve('the address was refused')));
  });
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use by another process',
  EACCES: 'this user may not listen on the port',
  EADDRNOTAVAIL: 'the host is no address of this machine',
  ENOTFOUND: 'the host name is unknown',
};
