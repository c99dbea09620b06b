import type { Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { TcpProxy } from './tcp_proxy.ts';

/** A proxy between a browser and a hub that can stop forwarding the hub's bytes. */
export class Line extends TcpProxy {
  readonly #hubs = new Set<Socket>();

  /** Stops forwarding the hub's bytes on the current connections, which stay open. */
  mute(): void {
    for (const hub of this.#hubs) hub.unpipe();
  }

  protected override forward(client: Socket, hub: Socket): void {
    this.#hubs.add(hub);
    hub.on('close', () => this.#hubs.delete(hub));
    super.forward(client, hub);
  }
}

/** Opens a proxy to a hub's port. It is closed after the test. */
export async function openLine(t: TestContext, hubPort: number): Promise<Line> {
  const line = await new Line(hubPort).listen();
  t.after(() => line.close());
  return line;
}
