import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import type { Event } from '../support/socket_client.ts';

/** A collector of the OpenTelemetry Protocol that stores what it receives. */
export interface Collector {
  readonly endpoint: string;
  readonly headers: readonly IncomingHttpHeaders[];
  /** Parsed bodies that a path has received. */
  of(path: string): readonly Event[];
  /** Sets the status of all answers. */
  answer(status: number): void;
}

export async function openCollector(t: TestContext): Promise<Collector> {
  const received: { readonly path: string; readonly body: Event }[] = [];
  const headers: IncomingHttpHeaders[] = [];
  let status = 200;
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => void parts.push(part));
    request.on('end', () => {
      headers.push(request.headers);
      received.push({ path: request.url ?? '', body: JSON.parse(Buffer.concat(parts).toString()) });
      response.writeHead(status).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    headers,
    of: (path) => received.filter((one) => one.path === path).map(({ body }) => body),
    answer(next) {
      status = next;
    },
  };
}
