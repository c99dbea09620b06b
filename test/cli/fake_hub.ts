import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { type WebSocket, WebSocketServer } from 'ws';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
}

export interface Answer {
  readonly status: number;
  readonly message?: string;
  readonly headers?: Record<string, string>;
}

export interface FakeHub {
  readonly url: string;
  readonly asked: Asked[];
  /** Frames that clients have sent. */
  readonly frames: Record<string, unknown>[];
  /** Sends a message of a topic to all clients. */
  publish(topic: string, payload: readonly unknown[]): void;
  /** Closes all WebSockets. */
  disconnect(code: number, reason: string): void;
}

interface Behaviour {
  /** The response to a request; 204 by default. */
  answer?(asked: Asked, hub: FakeHub): Answer | undefined;
  /** The frame that answers a subscription; `subscribed` by default. */
  subscribe?(frame: Record<string, unknown>, hub: FakeHub): Record<string, unknown> | undefined;
  /** Called after a subscription was answered. */
  subscribed?(hub: FakeHub): void;
}

/** An HTTP and WebSocket server on a free port that imitates a hub for the commands, until the end of the test. */
export async function fakeHub(
  context: TestContext,
  { answer, subscribe, subscribed }: Behaviour = {},
): Promise<FakeHub> {
  const sockets = new Set<WebSocket>();
  const server = createServer(async (request, response) => {
    // It records no history.
    if (request.url === '/hub/v2/health/history') return void response.writeHead(404).end();
    const text = (await request.setEncoding('utf8').toArray()).join('');
    const asked = {
      method: request.method ?? '',
      path: request.url ?? '',
      body: text === '' ? undefined : JSON.parse(text),
    };
    hub.asked.push(asked);
    const { status, message, headers } = answer?.(asked, hub) ?? { status: 204 };
    response.writeHead(status, headers);
    response.end(message === undefined ? undefined : JSON.stringify({ type: 'test', code: status, message }));
  });
  const webSockets = new WebSocketServer({ server, path: '/hub/v2/ws/socket' });
  webSockets.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('message', (data) => {
      const frame = JSON.parse(String(data));
      hub.frames.push(frame);
      const usual = { event: 'subscribed', topic: frame.topic, subscription_id: hub.frames.length };
      socket.send(JSON.stringify(subscribe?.(frame, hub) ?? usual));
      subscribed?.(hub);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  context.after(() => {
    for (const socket of sockets) socket.terminate();
    server.closeAllConnections();
    server.close();
  });
  const hub: FakeHub = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: [],
    frames: [],
    publish(topic, payload) {
      for (const socket of sockets) socket.send(JSON.stringify({ event: 'message', topic, payload }));
    },
    disconnect(code, reason) {
      for (const socket of sockets) socket.close(code, reason);
    },
  };
  return hub;
}
