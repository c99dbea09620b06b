import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Below the range of ephemeral ports, which systems also assign to outgoing connections, so that a port stays free until it is used. */
const FIRST = 10_000;
const COUNT = 11_000;

/**
 * Returns a free port of 127.0.0.1, for a program that binds it later. No other process gets it from this function until
 * this process ends: this process listens on the port that is `COUNT` higher, which is reserved for that purpose.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    const reservation = await listener(port + COUNT);
    if (reservation === undefined) continue;
    const server = await listener(port);
    if (server === undefined) {
      reservation.close();
      continue;
    }
    server.close();
    await once(server, 'close');
    reservation.unref();
    return port;
  }
}

/** Returns a server that listens on a port; undefined if another process listens on it. */
async function listener(port: number): Promise<Server | undefined> {
  const server = createServer().listen(port, '127.0.0.1');
  return await once(server, 'listening').then(
    () => server,
    () => undefined,
  );
}
