import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Server } from 'hyper-express';
import type { NativeApp, NativeResponse } from './native.ts';

/**
 * Upgrades requests to WebSockets asynchronously.
 *
 * Asynchronous output must be corked, otherwise the native server prints a warning to stderr. But a request upgraded
 * under its own cork may be closed at once with 1006, because the native server reads flags of the request after the
 * upgrade. The WebSocket, which is smaller, may occupy the same memory, and these flags may then be overwritten
 * (uWebSockets pull request 1929). Under the cork of another request, it reads the flags of that request. So the hub
 * holds a request of its own that is never answered, at a server that stops listening once it has received the request.
 */
export class DeferredUpgrade {
  readonly #client: Socket;
  /** The held request; undefined once it has closed. */
  #kept: NativeResponse | undefined;

  private constructor(client: Socket, kept: NativeResponse) {
    this.#client = client;
    this.#kept = kept;
  }

  /** Opens the held request. Rejects if no port is available. */
  static async open(): Promise<DeferredUpgrade> {
    const server = new Server({ auto_close: false });
    const app: NativeApp = server.uws_instance;
    const path = `/${randomUUID()}`;
    const asked = Promise.withResolvers<DeferredUpgrade>();
    app.any('/*', (response, request) => {
      if (request.getUrl() !== path) {
        response.close();
        return;
      }
      const cork = new DeferredUpgrade(client, response);
      response.onAborted(() => {
        cork.#kept = undefined;
      });
      asked.resolve(cork);
    });
    // hyper-express would otherwise register its own catch-all.
    (server.handlers as { on_not_found: unknown }).on_not_found = null;
    const listening = await server.listen(0, '127.0.0.1');
    const client = connect({ host: '127.0.0.1', port: server.port });
    asked.promise.catch(() => undefined);
    client.once('close', () => asked.reject(new Error('Cannot connect to 127.0.0.1: the connection was closed')));
    try {
      await once(client, 'connect');
      client.on('error', () => undefined);
      client.write(`GET ${path} HTTP/1.1\r\nHost: hub\r\n\r\n`);
      return await asked.promise;
    } finally {
      server.close(listening as never);
    }
  }

  /** Runs the upgrade of a request under the cork of the held one; under its own cork if that has closed. */
  run(response: NativeResponse, upgrade: () => void): void {
    (this.#kept ?? response).cork(upgrade);
  }

  close(): void {
    this.#client.destroy();
  }
}
