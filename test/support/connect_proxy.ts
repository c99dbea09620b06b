import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { TestContext } from 'node:test';

/** A CONNECT request received by the proxy. */
export interface Tunnel {
  /** `host:port` */
  readonly target: string;
  /** Value of the Proxy-Authorization header. */
  readonly authorization: string | undefined;
}

/** An HTTP proxy whose tunnels (CONNECT) all lead to one port of this machine, regardless of the requested host. */
export async function openConnectProxy(t: TestContext, toPort: number, options: { refuse?: number } = {}) {
  const tunnels: Tunnel[] = [];
  const sockets = new Set<Socket>();
  const proxy = createServer((_request, response) => response.writeHead(405).end());
  proxy.on('connect', (request: IncomingMessage, client: Socket, head: Buffer) => {
    sockets.add(client);
    client.on('error', () => undefined);
    tunnels.push({ target: request.url ?? '', authorization: request.headers['proxy-authorization'] });
    if (options.refuse !== undefined) {
      client.end(`HTTP/1.1 ${options.refuse} Refused\r\n\r\n`);
      return;
    }
    const server = connect(toPort, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      server.write(head);
      server.pipe(client).pipe(server);
    });
    sockets.add(server);
    server.on('error', () => client.destroy());
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  t.after(() => {
    proxy.close();
    for (const socket of sockets) socket.destroy();
  });
  return { tunnels, port: (proxy.address() as AddressInfo).port };
}
