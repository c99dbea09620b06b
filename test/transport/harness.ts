import { connect } from 'node:net';
import type { TestContext } from 'node:test';
import type { HttpRequest, Peer, PeerEvents } from '../../src/exchange.ts';
import { look } from '../../src/model/borrowed.ts';
import { type ListenOptions, listen } from '../../src/transport/server.ts';

export const SOCKET_PATH = '/v2/ws/socket';

const SILENT: PeerEvents = { message() {}, drained() {}, closed() {} };

/** Opens a server on a free port. Dependencies that are not given do as little as possible. */
export async function serve(t: TestContext, options: Partial<ListenOptions> = {}) {
  const reported: unknown[] = [];
  const server = await listen({
    host: '127.0.0.1',
    port: 0,
    bodyMaxBytes: 1_000_000,
    frameMaxBytes: 10_000,
    idleTimeoutSeconds: 60,
    handleHttp: describe,
    handlePeer: () => SILENT,
    socketPaths: [SOCKET_PATH],
    refuse: (error) => ({
      status: error.status,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(error.body('com.flowcate')),
    }),
    report: (error) => reported.push(error),
    ...options,
  });
  t.after(() => server.close());
  return { server, port: server.port, reported, url: `http://127.0.0.1:${server.port}` };
}

/** Echoes the request as JSON. */
export function describe({ method, path, query, body }: HttpRequest) {
  return {
    status: 200,
    headers: { 'X-Seen': method },
    body: JSON.stringify({ method, path, query, bytes: look(body).length }),
  };
}

/** Echoes each text frame. */
export function echo(peer: Peer): PeerEvents {
  return { ...SILENT, message: (text) => peer.send(text) };
}

/** Sends raw HTTP and returns the response bytes until `until` matches or the server closes. */
export function raw(port: number, parts: readonly string[], until: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(port, '127.0.0.1');
    const sendNext = (left: readonly string[]): void => {
      const [part, ...rest] = left;
      if (part !== undefined) socket.write(part, () => setImmediate(sendNext, rest));
    };
    socket.on('connect', () => sendNext(parts));
    socket.on('error', reject);
    socket.on('data', (data) => {
      answer += String(data);
      if (until.test(answer)) socket.destroy();
    });
    socket.on('close', () => resolve(answer));
  });
}
