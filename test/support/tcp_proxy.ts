import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';

/**
 * A TCP proxy in front of a server on 127.0.0.1 that fails on demand. Subclasses inspect or modify the forwarded bytes.
 */
export class TcpProxy {
  /** Whether new connections are closed immediately. */
  isDown = false;
  /** Port of the server. Without one, new connections are closed immediately. */
  target: number | undefined;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(target: number) {
    this.target = target;
    this.#server = createServer((client) => {
      if (this.isDown || this.target === undefined) client.destroy();
      else this.#join(client, connect(this.target, '127.0.0.1'));
    });
  }

  /** Listens on a free port. */
  async listen(): Promise<this> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return this;
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port;
  }

  /** Closes all connections. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): void {
    this.#server.close();
    this.cut();
  }

  /** Forwards the bytes of a new connection in both directions. */
  protected forward(client: Socket, server: Socket): void {
    client.pipe(server);
    server.pipe(client);
  }

  #join(client: Socket, server: Socket): void {
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      this.#sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        this.#sockets.delete(socket);
        other.destroy();
      });
    }
    this.forward(client, server);
  }
}
