import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

/** Answer to a request: a status and a body. */
export type Answer = readonly [status: number, body?: unknown, headers?: Readonly<Record<string, string>>];

export interface FakeRequest {
  readonly method: string;
  readonly path: string;
  readonly token: string | undefined;
  readonly body: string;
}

/** What a client sent on its WebSocket. */
export interface FakeFrame {
  readonly event: string;
  readonly topic?: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** A server that speaks the omlox document as far as the test says. */
export interface FakeHub {
  readonly url: string;
  readonly requests: FakeRequest[];
  /** Frames of all connections, in order. */
  readonly frames: FakeFrame[];
  close(): Promise<void>;
}

export interface Behavior {
  answer(request: FakeRequest): Answer | Promise<Answer>;
  /** Called for each frame. */
  framed?(frame: FakeFrame, connection: FakeConnection): void;
}

export interface FakeConnection {
  send(frame: object): void;
  /** Closes the connection with a code; 0 ends it without one. */
  close(code: number): void;
  /** Resolves when the client has received all frames. */
  received(): Promise<unknown>;
}

/** Starts a server on a free port, or on this one. */
export async function openFakeHub(behavior: Behavior, port = 0): Promise<FakeHub> {
  const requests: FakeRequest[] = [];
  const frames: FakeFrame[] = [];
  const server = createServer((request, response) => {
    void read(request).then(async (body) => {
      const { method = '', url: path = '', headers } = request;
      const token = headers.authorization?.replace('Bearer ', '');
      const made = { method, path, token, body };
      requests.push(made);
      const [status, value, more = {}] = await behavior.answer(made);
      response.writeHead(status, { 'Content-Type': 'application/json', ...more });
      response.end(value === undefined ? '' : JSON.stringify(value));
    });
  });
  const sockets = new WebSocketServer({ server });
  sockets.on('connection', (socket: WebSocket) => {
    socket.on('message', (text) => {
      const frame = { params: {}, ...JSON.parse(String(text)) } as FakeFrame;
      frames.push(frame);
      behavior.framed?.(frame, {
        send: (sent) => socket.send(JSON.stringify(sent)),
        close: (code) => (code === 0 ? socket.terminate() : socket.close(code)),
        received() {
          socket.ping();
          return once(socket, 'pong');
        },
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2`,
    requests,
    frames,
    async close() {
      for (const socket of sockets.clients) socket.terminate();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function read(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString();
}
