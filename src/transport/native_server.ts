import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Server } from 'hyper-express';
import { StartupError } from '../errors.ts';
import type { HttpSide } from './http.ts';
import { EXCLUSIVE_PORT, type ListenSocket, type NativeApp } from './native.ts';
import type { PeerSide } from './peers.ts';

export interface NativeServerOptions {
  readonly http: HttpSide;
  readonly peers: PeerSide;
  /** What comes beyond is closed at once. */
  readonly connectionsMax: number;
}

/**
 * The native server: its routes, and the addresses that it listens on. It can do TLS, but is not asked to: its WebSockets
 * break off over TLS when a client that the hub is about to answer goes on to send and does not read yet.
 */
export class NativeServer {
  readonly #server: Server;
  readonly #app: NativeApp;
  readonly #listening: ListenSocket[] = [];
  /** Of a socket that is private. */
  #folder: string | undefined;
  #open = 0;

  constructor({ http, peers, connectionsMax }: NativeServerOptions) {
    this.#server = new Server({ auto_close: false });
    this.#app = this.#server.uws_instance;
    // biome-ignore lint/suspicious/useIterableCallbackReturn: this is no array
    this.#app.filter((response, change) => {
      this.#open += change;
      if (change > 0 && this.#open > connectionsMax) response.close();
    });
    // The filter is not told of the end of a connection that has become a WebSocket.
    peers.serve(this.#app, () => this.#open--);
    this.#app.any('/*', (response, request) => http.receive(response, request));
    // hyper-express would put its own catch-all over the one above.
    (this.#server.handlers as { on_not_found: unknown }).on_not_found = null;
    this.#bindExclusively();
  }

  /**
   * Listens on a port of an address, 0 for a free one; resolves to the port. Throws a StartupError when
   * it cannot be had.
   */
  async listen(address: string, port: number): Promise<number> {
    let socket: ListenSocket;
    try {
      // hyper-express is ready with its routes when this resolves, which has to be before anything else is bound.
      socket = await this.#server.listen(port, address);
    } catch (cause) {
      throw new StartupError(await whyRefused(address, port), { cause });
    }
    this.#listening.push(socket);
    return this.#server.port;
  }

  /**
   * Listens where nobody but this user can reach it; returns the path of that socket. Throws what the system says.
   */
  async listenPrivately(): Promise<string> {
    // The folder is this user's alone, and so is what is in it.
    this.#folder = mkdtempSync(join(tmpdir(), 'hub-'));
    const path = join(this.#folder, 'front');
    this.#listening.push(await this.#server.listen(path));
    return path;
  }

  /** Listens on one more address, if the system lets it. */
  async listenToo(address: string, port: number): Promise<void> {
    const socket = await new Promise<ListenSocket | false>((resolve) => this.#app.listen(address, port, resolve));
    if (socket !== false) this.#listening.push(socket);
  }

  /** Takes no more connections. */
  stop(): void {
    for (const socket of this.#listening.splice(0)) this.#server.close(socket as never);
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Closes all connections at once. */
  close(): void {
    this.#app.close();
  }

  /** By default several processes may listen on one port and share its connections: two hubs would split the world. */
  #bindExclusively(): void {
    const app = this.#app;
    const listenNative = app.listen.bind(app);
    app.listen = (host, port, ...rest) => listenNative(host, port, EXCLUSIVE_PORT, ...rest.slice(-1));
  }
}

/** The native server gives no reason, so the system is asked once more through node:net. */
function whyRefused(host: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(reasonOf(error)));
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve('the address was refused')));
  });
}

/** Why an address cannot be listened on, in words. */
export function reasonOf(error: NodeJS.ErrnoException): string {
  return REASONS[error.code ?? ''] ?? error.message;
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use by another process',
  EACCES: 'this user may not listen on the port',
  EADDRNOTAVAIL: 'the host is no address of this machine',
  ENOTFOUND: 'the host name is unknown',
};
