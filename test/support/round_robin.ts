import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

/** Hands each request, and each WebSocket, to the next of several hubs on 127.0.0.1. */
export class RoundRobin {
  readonly #ports: readonly number[];
  readonly #agent = new Agent({ keepAlive: true });
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #turn = 0;

  private constructor(ports: readonly number[]) {
    this.#ports = ports;
    this.#server = createServer((incoming, answer) => {
      const { method, url: path, rawHeaders } = incoming;
      const options = { host: '127.0.0.1', port: this.#next(), method, path, agent: this.#agent };
      const forwarded = request({ ...options, headers: rawHeaders as never }, (answered) => {
        answer.writeHead(answered.statusCode ?? 502, answered.rawHeaders);
        answered.pipe(answer);
      });
      forwarded.on('error', () => answer.destroy());
      incoming.pipe(forwarded);
    });
    this.#server.on('upgrade', (incoming: IncomingMessage, client: Socket, head: Buffer) => {
      const hub = connect(this.#next(), '127.0.0.1');
      const lines = [`${incoming.method} ${incoming.url} HTTP/1.1`];
      for (let at = 0; at < incoming.rawHeaders.length; at += 2) {
        lines.push(`${incoming.rawHeaders[at]}: ${incoming.rawHeaders[at + 1]}`);
      }
      hub.write(`${lines.join('\r\n')}\r\n\r\n`);
      hub.write(head);
      hub.pipe(client).pipe(hub);
      for (const [one, other] of [
        [hub, client],
        [client, hub],
      ] as const) {
        this.#sockets.add(one);
        one.on('error', () => undefined);
        one.on('close', () => {
          this.#sockets.delete(one);
          other.destroy();
        });
      }
    });
  }

  static async open(ports: readonly number[]): Promise<RoundRobin> {
    const balancer = new RoundRobin(ports);
    await once(balancer.#server.listen(0, '127.0.0.1'), 'listening');
    return balancer;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.#agent.destroy();
    for (const socket of this.#sockets) socket.destroy();
    const closed = once(this.#server, 'close');
    this.#server.close();
    this.#server.closeAllConnections();
    await closed;
  }

  #next(): number {
    this.#turn = (this.#turn + 1) % this.#ports.length;
    return this.#ports[this.#turn] as number;
  }
}
