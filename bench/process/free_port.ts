import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the range of ephemeral ports, which systems also assign to outgoing connections, so that a port stays free until it is used. */
const FIRST = 10_000;
const COUNT = 20_000;

/** Returns a free port of 127.0.0.1, for a program that binds it later. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * COUNT);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
