import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Transform } from 'node:stream';

/** Bytes that a throttled link passes at a time. */
const PIECE_BYTES = 16_384;

/** Proxy between a client and a NATS server that simulates a bad network: settings apply from the next bytes on. */
export class NatsProxy {
  /** Whether new connections are closed at once. */
  isDown = false;
  /** Whether data of the server is lost, while data to it arrives and the connection stays open. */
  isDeaf = false;
  /** Delay of bytes, each way. */
  delayMs = 0;
  bytesPerSecond = Infinity;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(target: number) {
    this.#server = createServer((client) => {
      if (this.isDown) client.destroy();
      else this.#join(client, connect(target, '127.0.0.1'));
    });
  }

  static async open(target: number): Promise<NatsProxy> {
    const proxy = new NatsProxy(target);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port;
  }

  get address(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  /** Closes all connections, present and future. */
  cut(): void {
    this.isDown = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  /** Passes everything again, on new connections. */
  restore(): void {
    this.isDown = false;
    this.isDeaf = false;
  }

  close(): void {
    this.#server.close();
    this.cut();
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
    client.pipe(this.#link(() => false)).pipe(server);
    server.pipe(this.#link(() => this.isDeaf)).pipe(client);
  }

  #link(isLost: () => boolean): Duplex {
    return new Transform({
      transform: (bytes: Buffer, _, done) => {
        if (isLost()) done();
        else if (this.delayMs === 0 && this.bytesPerSecond === Infinity) done(null, bytes);
        else void this.#slowly(bytes).then(() => done(null, bytes));
      },
    });
  }

  async #slowly(bytes: Buffer): Promise<void> {
    const pieces = Math.ceil(bytes.length / PIECE_BYTES);
    const perPieceMs = this.bytesPerSecond === Infinity ? 0 : (1000 * bytes.length) / pieces / this.bytesPerSecond;
    await new Promise((resolve) => setTimeout(resolve, this.delayMs + pieces * perPieceMs));
  }
}
