import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Server } from 'hyper-express';
import type { NativeApp, NativeResponse } from './native.ts';

/**
 * Where a connection becomes a WebSocket when its request had to wait.
 *
 * What is sent later has to be sent under a cork: the native server complains on stderr otherwise. But a request that
 * becomes a WebSocket under its own cork may be closed at once, with 1006: behind the upgrade the native server looks at
 * flags of the request. Where the WebSocket, which is smaller, has stayed at the same place in memory, these have been
 * freed, and what was written over them decides (uWebSockets pull request 1929). Under the cork of another request it
 * looks at the flags of that one. So the hub keeps a request of its own, which is never answered, at a server that stops
 * listening as soon as it has it.
 */
export class SideCork {
  readonly #client: Socket;
  /** Undefined once it has ended. */
  #kept: NativeResponse | undefined;

  private constructor(client: Socket, kept: NativeResponse) {
    this.#client = client;
    this.#kept = kept;
  }

  /** Rejects when nothing can be listened on. */
  static async open(): Promise<SideCork> {
    const server = new Server({ auto_close: false });
    const app: NativeApp = server.uws_instance;
    const path = `/${randomUUID()}`;
    const asked = Promise.withResolvers<SideCork>();
    app.any('/*', (response, request) => {
      if (request.getUrl() !== path) {
        response.close();
        return;
      }
      const cork = new SideCork(client, response);
      response.onAborted(() => {
        cork.#kept = undefined;
      });
      asked.resolve(cork);
    });
    // hyper-express would put its own catch-all over the one above.
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

  /** Runs what makes a WebSocket of a request; under its own cork when there is no other. */
  run(response: NativeResponse, upgrade: () => void): void {
    (this.#kept ?? response).cork(upgrade);
  }

  close(): void {
    this.#client.destroy();
  }
}
