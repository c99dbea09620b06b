import type { IncomingHttpHeaders } from 'node:http';
import type { Hub } from '../../src/hub/hub.ts';
import type { Event, Recorder, SocketClient } from './socket_client.ts';

/** One line of a hub's log. */
export interface Logged {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly facts: object;
}

/** Settings by their names in hub_config.yaml. */
export type TestSettings = Readonly<Record<string, string | number | boolean | null | readonly unknown[]>>;

export interface TestReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The body if it is JSON. */
  readonly body: Event;
}

export interface SocketOptions {
  /** Path of the WebSocket; `/hub/v2/ws/socket` when left out. */
  readonly path?: string;
  readonly userAgent?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * A hub in this process, spoken to over real sockets. Its folder is removed when it is closed. `t.after(hub.close)`
 * closes it; `await using` is a syntax that Node 22 does not know.
 */
export interface TestHub {
  readonly hub: Hub;
  readonly folder: string;
  /** `http://127.0.0.1:port/hub/v2` */
  readonly base: string;
  readonly origin: string;
  /** Log of the hub. */
  readonly logged: readonly Logged[];
  /** One request. A path is below `base` unless it is a URL. A text or bytes are sent as they are, else JSON. */
  request(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<TestReply>;
  get(path: string): Promise<TestReply>;
  post(path: string, body?: unknown): Promise<TestReply>;
  put(path: string, body?: unknown): Promise<TestReply>;
  delete(path: string): Promise<TestReply>;
  /** Opens a new connection. */
  socket(options?: SocketOptions): Promise<SocketClient>;
  /** Subscribes on a new connection. */
  subscribe(topic: string, params?: Readonly<Record<string, unknown>>, options?: SocketOptions): Promise<Recorder>;
  /** Resolves when the hub has processed all requests, and every connection has received the results. */
  settle(): Promise<void>;
  /** Closes the connections that were opened here; the hub keeps running. */
  closeSockets(): Promise<void>;
  close(): Promise<void>;
}

/** The requests of a hub by their methods. */
export function verbsOf(request: TestHub['request']): Pick<TestHub, 'request' | 'get' | 'post' | 'put' | 'delete'> {
  return {
    request,
    get: (path) => request('GET', path),
    post: (path, body) => request('POST', path, body),
    put: (path, body) => request('PUT', path, body),
    delete: (path) => request('DELETE', path),
  };
}
