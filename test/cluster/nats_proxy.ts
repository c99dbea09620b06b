import type { Socket } from 'node:net';
import { type Duplex, Transform } from 'node:stream';
import { TcpProxy } from '../support/tcp_proxy.ts';

/** Bytes that a throttled link lets through at a time. */
const PIECE_BYTES = 16_384;

/** A proxy in front of a NATS server that behaves like a bad network. A setting takes effect from the next bytes on. */
export class NatsProxy extends TcpProxy {
  /** Whether bytes from the server are dropped, while those to the server arrive and connections stay open. */
  isDeaf = false;
  /** Delay of bytes, each way. */
  delayMs = 0;
  bytesPerSecond = Infinity;

  static open(target: number): Promise<NatsProxy> {
    return new NatsProxy(target).listen();
  }

  get address(): string {
    return `nats://127.0.0.1:${this.port}`;
  }

  /** Closes all connections, and new ones at once. */
  override cut(): void {
    this.isDown = true;
    super.cut();
  }

  /** Forwards everything again, on new connections. */
  restore(): void {
    this.isDown = false;
    this.isDeaf = false;
  }

  protected override forward(client: Socket, server: Socket): void {
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
