import { once } from 'node:events';
import { Agent, type ClientRequest, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

const HOST = '127.0.0.1';
const LOOK_MS = 200;
/** A hub whose health check takes longer counts as down. */
const ANSWER_MS = 2000;
/** Requests that may be repeated at another hub after a lost connection. */
const SAFE = new Set(['GET', 'HEAD']);

export interface BalancerOptions {
  /** Ports of the hubs on 127.0.0.1, which need not be running yet. */
  readonly ports: readonly number[];
  /** Port on 127.0.0.1; 0, if left out, is a free port. */
  readonly port?: number;
}

/**
 * Load balancer for HTTP requests and WebSockets, round-robin over the hubs that are up: those whose last GET /health was
 * answered without a server error. Open requests of a hub that is found to be down are aborted.
 *
 * A request goes to another hub if the first could not be connected to, or if the connection was lost during a GET or HEAD.
 * Other requests are then answered 502, because their outcome is unknown. Without any hub the answer is 503, and nothing was
 * done.
 */
export class Balancer {
  readonly #hubs: readonly Hub[];
  readonly #agent = new Agent({ keepAlive: true });
  readonly #server = createServer((incoming, answer) => this.#forward(incoming, answer, this.#inTurn()));
  readonly #looking: NodeJS.Timeout;
  readonly #sockets = new Set<Socket>();
  #turn = 0;

  private constructor(ports: readonly number[]) {
    this.#hubs = ports.map((port) => ({ port, isUp: false, isAsked: false, inHand: new Set() }));
    this.#looking = setInterval(() => void this.#lookAtAll(), LOOK_MS);
    this.#server.on('upgrade', (incoming, socket: Socket, head) => {
      this.#track(socket);
      this.#connect(incoming, { socket, head }, this.#inTurn());
    });
  }

  /** Rejects if it cannot listen on the port. */
  static async open({ ports, port = 0 }: BalancerOptions): Promise<Balancer> {
    const balancer = new Balancer(ports);
    try {
      await balancer.#lookAtAll();
      await once(balancer.#server.listen(port, HOST), 'listening');
      return balancer;
    } catch (error) {
      await balancer.close();
      throw error;
    }
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Ports of the hubs that are up. */
  get up(): readonly number[] {
    return this.#hubs.filter(({ isUp }) => isUp).map(({ port }) => port);
  }

  /** Closes all connections. */
  async close(): Promise<void> {
    clearInterval(this.#looking);
    for (const socket of this.#sockets) socket.destroy();
    this.#agent.destroy();
    if (!this.#server.listening) return;
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  async #lookAtAll(): Promise<void> {
    await Promise.all(this.#hubs.map((hub) => look(hub)));
  }

  /** The hubs that are up, beginning with the next in turn. */
  #inTurn(): readonly Hub[] {
    const up = this.#hubs.filter(({ isUp }) => isUp);
    const first = up.length === 0 ? 0 : this.#turn++ % up.length;
    return [...up.slice(first), ...up.slice(0, first)];
  }

  #forward(incoming: IncomingMessage, answer: ServerResponse, [hub, ...others]: readonly Hub[]): void {
    if (hub === undefined) {
      refuse(answer, 503, 'No hub is up');
      return;
    }
    const { method = 'GET', url, headers } = incoming;
    const outgoing = request({ host: HOST, port: hub.port, method, path: url, headers, agent: this.#agent });
    // The body is buffered until a hub takes it.
    const send = (): void => void (incoming.readableEnded ? outgoing.end() : incoming.pipe(outgoing));
    keep(hub, outgoing);
    outgoing.once('socket', (socket) => (socket.connecting ? socket.once('connect', send) : send()));
    outgoing.once('response', (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
      response.once('error', () => answer.destroy());
    });
    outgoing.once('error', (error: NodeJS.ErrnoException) => {
      const isConnected = error.syscall !== 'connect';
      if (!isConnected) hub.isUp = false;
      if (answer.headersSent || answer.destroyed) answer.destroy();
      else if (!isConnected || SAFE.has(method)) this.#forward(incoming, answer, others);
      else refuse(answer, 502, 'The hub has gone away over the request');
    });
    answer.once('close', () => outgoing.destroy());
  }

  #connect(incoming: IncomingMessage, peer: Peer, [hub, ...others]: readonly Hub[]): void {
    const { socket, head } = peer;
    if (hub === undefined) {
      socket.end('HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\n\r\n');
      return;
    }
    const toHub = connect(hub.port, HOST);
    keep(hub, toHub);
    this.#track(toHub);
    toHub.once('error', () => {
      if (toHub.bytesWritten === 0 && !socket.destroyed) this.#connect(incoming, peer, others);
    });
    toHub.once('connect', () => {
      toHub.write(`${headOf(incoming)}\r\n\r\n`);
      toHub.write(head);
      toHub.pipe(socket).pipe(toHub);
      toHub.once('close', () => socket.destroy());
      socket.once('close', () => toHub.destroy());
    });
  }

  #track(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => this.#sockets.delete(socket));
  }
}

interface Hub {
  readonly port: number;
  isUp: boolean;
  /** Whether a health check is in progress. */
  isAsked: boolean;
  /** Requests and WebSockets. */
  readonly inHand: Set<ClientRequest | Socket>;
}

/** The client of a WebSocket, and the bytes received with the upgrade. */
interface Peer {
  readonly socket: Socket;
  readonly head: Buffer;
}

async function look(hub: Hub): Promise<void> {
  if (hub.isAsked) return;
  hub.isAsked = true;
  const signal = AbortSignal.timeout(ANSWER_MS);
  const found = await fetch(`http://${HOST}:${hub.port}/health`, { signal }).catch(() => undefined);
  await found?.body?.cancel();
  hub.isAsked = false;
  hub.isUp = found !== undefined && found.status < 500;
  if (found === undefined) for (const each of hub.inHand) each.destroy(new Error('The hub is down'));
}

function keep(hub: Hub, work: ClientRequest | Socket): void {
  hub.inHand.add(work);
  work.once('close', () => hub.inHand.delete(work));
}

function headOf({ method, url, rawHeaders }: IncomingMessage): string {
  const lines = [`${method} ${url} HTTP/1.1`];
  for (let i = 0; i < rawHeaders.length; i += 2) lines.push(`${rawHeaders[i]}: ${rawHeaders[i + 1]}`);
  return lines.join('\r\n');
}

function refuse(answer: ServerResponse, status: 502 | 503, message: string): void {
  answer.writeHead(status, { 'Content-Type': 'application/json', 'Retry-After': '1' });
  answer.end(JSON.stringify({ type: 'unavailable', code: status, message }));
}
