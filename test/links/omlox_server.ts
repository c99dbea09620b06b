import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';
import { type WebSocket, WebSocketServer } from 'ws';

/** A frame that a client has sent. */
export interface ClientFrame {
  readonly event: string;
  readonly topic: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** A server of the omlox Hub API with only what a link needs: no identity, no pages, no extensions. */
export interface OmloxServer {
  /** URL of its API. */
  readonly url: string;
  /** Frames of clients. */
  readonly frames: readonly ClientFrame[];
  /** Method, path and authorization of each request. */
  readonly requests: readonly string[];
  /** Last locations, as its REST API returns them. */
  locations: readonly unknown[];
  /** Access token that it accepts; undefined for any client. */
  token: string | undefined;
  /** Sends text, or a value as JSON, to all clients. */
  send(frame: unknown): void;
  publish(topic: string, ...payload: readonly unknown[]): void;
  /** Ends all connections of WebSockets without a close frame. */
  terminate(): void;
}

export async function openOmloxServer(t: TestContext): Promise<OmloxServer> {
  const frames: ClientFrame[] = [];
  const requests: string[] = [];
  const sockets = new Set<WebSocket>();
  let issued = 0;
  const http = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://localhost');
    requests.push(`${request.method} ${pathname} ${request.headers.authorization ?? '-'}`);
    const json = (status: number, body: unknown) =>
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
    if (pathname === '/token') {
      void textOf(request).then((form) => {
        requests.push(form);
        server.token = `token-${++issued}`;
        json(200, { access_token: server.token, expires_in: 3600 });
      });
      return;
    }
    const isPermitted = server.token === undefined || request.headers.authorization === `Bearer ${server.token}`;
    if (!isPermitted) json(401, { type: 'auth', code: 401 });
    else if (pathname === '/v2/providers/locations') json(200, server.locations);
    else json(404, { type: 'not_found', code: 404 });
  });
  const webSockets = new WebSocketServer({ server: http, path: '/v2/ws/socket' });
  webSockets.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('message', (bytes: Buffer) => {
      const frame = JSON.parse(bytes.toString()) as ClientFrame;
      frames.push(frame);
      const isPermitted = server.token === undefined || frame.params['token'] === server.token;
      const answer = isPermitted
        ? { event: 'subscribed', topic: frame.topic, subscription_id: frames.length }
        : { event: 'error', code: 10006, description: 'not authenticated' };
      socket.send(JSON.stringify(answer));
    });
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const terminate = (): void => {
    for (const socket of sockets) socket.terminate();
  };
  t.after(() => {
    terminate();
    webSockets.close();
    http.close();
    http.closeAllConnections();
  });
  const send = (frame: unknown): void => {
    for (const socket of sockets) socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  };
  const server: OmloxServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    frames,
    requests,
    locations: [],
    token: undefined,
    send,
    terminate,
    publish: (topic, ...payload) => send({ event: 'message', topic, payload }),
  };
  return server;
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks = (await request.toArray()) as Buffer[];
  return Buffer.concat(chunks).toString();
}
