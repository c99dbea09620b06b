import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { look } from '../../src/model/borrowed.ts';
import { FRAMINGS } from './framings.ts';
import { raw, serve } from './harness.ts';

/** Compares how the server and llhttp parse the same bytes. Many proxies parse like llhttp. */

/** A server that records the requests that it handles. */
interface Noting {
  readonly port: number;
  readonly handled: string[];
}

const noted = (method: string | undefined, path: string | undefined, body: Uint8Array): string =>
  `${method} ${path} ${Buffer.from(body)}`.trim();

async function openLlhttp(): Promise<Noting & { close(): void }> {
  const handled: string[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('error', () => undefined);
    request.on('end', () => {
      handled.push(noted(request.method, request.url, Buffer.concat(chunks)));
      response.end('{}');
    });
  });
  server.on('upgrade', (_request, socket) => socket.end());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  return { port: (server.address() as AddressInfo).port, handled, close };
}

/** Sends the bytes and returns the result in the notation of `Framing`. */
async function outcomeOf({ port, handled }: Noting, bytes: string, expected: string): Promise<string> {
  handled.length = 0;
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  const statuses = () => [...answer.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status).join(' ');
  const isWhole = Promise.withResolvers<void>();
  socket.on('data', (chunk: Buffer) => {
    answer += chunk.toString('latin1');
    if (statuses() === expected.split(':')[0]) isWhole.resolve();
  });
  socket.on('error', () => undefined);
  let hasEnded = false;
  socket.on('close', () => {
    hasEnded = true;
    isWhole.resolve();
  });
  socket.write(Buffer.from(bytes, 'latin1'));
  if (expected === 'waits') isWhole.resolve();
  await isWhole.promise;
  const found = [...handled].join(' ; ');
  // A final request, after everything that the server had to do with the bytes.
  await raw(port, ['GET /after HTTP/1.1\r\nHost: h\r\n\r\n'], /\{\}/);
  assert.deepEqual(handled.join(' ; '), [found, 'GET /after'].filter((one) => one !== '').join(' ; '));
  const outcome = [statuses(), found].filter((one) => one !== '').join(': ');
  socket.destroy();
  return outcome === '' ? (hasEnded ? 'ends' : 'waits') : outcome;
}

describe('Framing', () => {
  let llhttp: Awaited<ReturnType<typeof openLlhttp>>;
  before(async () => {
    llhttp = await openLlhttp();
  });
  after(() => llhttp.close());

  for (const { name, bytes, ours, llhttp: theirs } of FRAMINGS) {
    test(`${name}: ${ours}${theirs === ours ? '' : `; llhttp: ${theirs}`}`, async (t) => {
      const handled: string[] = [];
      const { port } = await serve(t, {
        handleHttp({ method, path, body }) {
          handled.push(noted(method, path, look(body)));
          return { status: 200, body: '{}' };
        },
      });
      assert.equal(await outcomeOf({ port, handled }, bytes, ours), ours);
      assert.equal(await outcomeOf(llhttp, bytes, theirs), theirs);
    });
  }

  test('Neither parser handles a smuggled request', () => {
    for (const { name, ours } of FRAMINGS) {
      if (name !== 'a length in an underscored name') assert.doesNotMatch(ours, /smuggled/, name);
    }
  });
});
