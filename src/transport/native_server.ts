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
  /** Maximum number of connections. Further ones are closed immediately. */
  readonly connectionsMax: number;
}

/**
 * The native server with its routes and addresses. Its TLS is not used, because its WebSockets break over TLS if a
 * client continues to send without reading while the hub is about to answer.
 */
export class NativeServer {
  readonly #server: Server;
  readonly #app: NativeApp;
  readonly #listening: ListenSocket[] = [];
  /** Folder of the private socket. */
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
    // The filter is not called when a WebSocket closes.
    peers.serve(this.#app, () => this.#open--);
    this.#app.any('/*', (response, request) => http.receive(response, request));
    // hyper-express would otherwise register its own catch-all.
    (this.#server.handlers as { on_not_found: unknown }).on_not_found = null;
    this.#bindExclusively();
  }

  /**
   * Listens on a port of an address, 0 for a free one, and resolves to the port. Rejects with a StartupError if that
   * fails.
   */
  async listen(address: string, port: number): Promise<number> {
    let socket: ListenSocket;
    try {
      // hyper-express registers its routes here, which must precede any other binding.
      socket = await this.#server.listen(port, address);
    } catch (cause) {
      throw new StartupError(await whyRefused(address, port), { cause });
    }
    this.#listening.push(socket);
    return this.#server.port;
  }

  /** Listens on a socket that only this user can reach, and resolves to its path. Rejects with the system's error. */
  async listenPrivately(): Promise<string> {
    // Only this user has access to the folder and its content.
    this.#folder = mkdtempSync(join(tmpdir(), 'hub-'));
    const path = join(this.#folder, 'front');
    this.#listening.push(await this.#server.listen(path));
    return path;
  }

  /** Also listens on another address, if possible. */
  async listenToo(address: string, port: number): Promise<void> {
    const socket = await new Promise<ListenSocket | false>((resolve) => this.#app.listen(address, port, resolve));
    if (socket !== false) this.#listening.push(socket);
  }

  /** Stops accepting connections. */
  stop(): void {
    for (const socket of this.#listening.splice(0)) this.#server.close(socket as never);
    if (this.#folder !== undefined) rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Closes all connections immediately. */
  close(): void {
    this.#app.close();
  }

  /**
   * Binds ports exclusively. By default, several processes can listen on one port, and two hubs would each receive a
   * part of the clients.
   */
  #bindExclusively(): void {
    const app = this.#app;
    const listenNative = app.listen.bind(app);
    app.listen = (host, port, ...rest) => listenNative(host, port, EXCLUSIVE_PORT, ...rest.slice(-1));
  }
}

/**
 * Returns why an address cannot be bound. The native server reports no reason, so the binding is repeated with
 * node:net.
 */
function whyRefused(host: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', (error: NodeJS.ErrnoException) => resolve(reasonOf(error)));
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve('the address was refused')));
  });
}

/** Explains why an address cannot be bound. */
export function reasonOf(error: NodeJS.ErrnoException): string {
  return REASONS[error.code ?? ''] ?? error.message;
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use by another process',
  EACCES: 'this user may not listen on the port',
  EADDRNOTAVAIL: 'the host is no address of this machine',
  ENOTFOUND: 'the host name is unknown',
};
