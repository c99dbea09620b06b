import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';

/** A server that responds in these chunks, each in a separate packet. Without chunks it closes the connection. */
export async function answeringInPieces(pieces: readonly string[]) {
  const server = createServer((socket) => {
    socket.setNoDelay(true);
    socket.once('data', async () => {
      for (const piece of pieces) {
        socket.write(piece);
        await new Promise((resolve) => setImmediate(resolve));
      }
      if (pieces.length === 0) socket.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}
