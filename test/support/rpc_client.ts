import { once } from 'node:events';
import { WebSocket } from 'ws';

/** A JSON-RPC frame: a request from the hub, or a response. */
export interface RpcFrame {
  readonly jsonrpc: '2.0';
  readonly id?: number | string | null;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/** A WebSocket connection for remote procedure calls. It returns received frames in order. */
export class RpcClient {
  readonly socket: WebSocket;
  readonly #frames: RpcFrame[] = [];
  #wanted: ((frame: RpcFrame) => void) | undefined;

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on('message', (data) => {
      const frame = JSON.parse(String(data)) as RpcFrame;
      if (this.#wanted === undefined) this.#frames.push(frame);
      else this.#wanted(frame);
      this.#wanted = undefined;
    });
  }

  /** Connects to the hub at an origin. */
  static async open(origin: string, { path = '/hub/v2/ws/rpc', headers = {} } = {}): Promise<RpcClient> {
    const socket = new WebSocket(origin.replace(/^http/, 'ws') + path, { headers, perMessageDeflate: false });
    const client = new RpcClient(socket);
    await once(socket, 'open');
    return client;
  }

  /** Sends a frame: a string unchanged, other values as JSON. */
  send(frame: unknown): void {
    this.socket.send(typeof frame === 'string' ? frame : JSON.stringify(frame));
  }

  next(): Promise<RpcFrame> {
    const waiting = this.#frames.shift();
    if (waiting !== undefined) return Promise.resolve(waiting);
    return new Promise((resolve) => {
      this.#wanted = resolve;
    });
  }

  /** Sends a request and returns the next frame. */
  ask(request: object): Promise<RpcFrame> {
    this.send({ jsonrpc: '2.0', id: 1, ...request });
    return this.next();
  }

  register(method: string, zoneId?: string): Promise<RpcFrame> {
    return this.ask({ method: 'register', params: { method, ...(zoneId !== undefined && { zone_id: zoneId }) } });
  }

  /** Answers the next incoming request, and returns that request. */
  async answer(said: object): Promise<RpcFrame> {
    const request = await this.next();
    this.send({ jsonrpc: '2.0', id: request.id, ...said });
    return request;
  }

  /** Code and reason with which the hub closes the connection. */
  async ended(): Promise<readonly [number, string]> {
    const [code, reason] = await once(this.socket, 'close');
    return [code, String(reason)];
  }

  async close(): Promise<void> {
    if (this.socket.readyState === WebSocket.CLOSED) return;
    this.socket.close();
    await once(this.socket, 'close');
  }
}
