import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

/** A server over real sockets whose messages are controlled by the test. */
export class RtlsServer {
  readonly port: number;
  readonly #server: Server;
  readonly #accepted: Socket[] = [];
  readonly #waiting: ((socket: Socket) => void)[] = [];
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server) {
    this.#server = server;
    this.port = (server.address() as AddressInfo).port;
    server.on('connection', (socket) => {
      socket.setNoDelay(true);
      // The client may hang up at any time.
      socket.on('error', () => undefined);
      this.#sockets.add(socket);
      const waiting = this.#waiting.shift();
      if (waiting === undefined) this.#accepted.push(socket);
      else waiting(socket);
    });
  }

  /** Listens on a port, by default a free one. */
  static async open(port = 0): Promise<RtlsServer> {
    const server = createServer();
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
    return new RtlsServer(server);
  }

  /** Returns the next connection that was not returned yet. */
  next(): Promise<Socket> {
    const socket = this.#accepted.shift();
    return socket === undefined ? new Promise((resolve) => this.#waiting.push(resolve)) : Promise.resolve(socket);
  }

  /** Returns the latest connection that was not returned yet, or else the next one. Discards earlier ones. */
  last(): Promise<Socket> {
    this.#accepted.splice(0, this.#accepted.length - 1);
    return this.next();
  }

  async close(): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}

/** Resolves when the bytes have reached the receiver's system. */
export function write(socket: Socket, bytes: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => socket.write(bytes, (error) => (error ? reject(error) : resolve())));
}

/** Resolves when the condition holds. Yields to the sockets of both sides until then. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const endMs = Date.now() + 30_000;
  while (!condition()) {
    if (Date.now() > endMs) throw new Error(`Not within 30 s: ${what}`);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
