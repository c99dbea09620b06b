import type { IncomingHttpHeaders } from 'node:http';
import type { Hub } from '../../src/hub/hub.ts';
import type { Event, Recorder, SocketClient } from './socket_client.ts';

/** One entry of a hub's log. */
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
  /** Parsed body, if it is JSON. */
  readonly body: Event;
}

export interface SocketOptions {
  /** Path of the WebSocket; `/hub/v2/ws/socket` by default. */
  readonly path?: string;
  readonly userAgent?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * A hub in this process, accessed through real sockets. Closing it deletes its folder. Tests call `t.after(hub.close)`,
 * because Node 22 does not support `await using`.
 */
export interface TestHub {
  readonly hub: Hub;
  readonly folder: string;
  /** `http://127.0.0.1:port/hub/v2` */
  readonly base: string;
  readonly origin: string;
  /** Entries that the hub has logged. */
  readonly logged: readonly Logged[];
  /**
   * Sends a request. A path is relative to `base` unless it is a URL. Strings and bytes are sent unchanged, other
   * bodies as JSON.
   */
  request(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<TestReply>;
  get(path: string): Promise<TestReply>;
  post(path: string, body?: unknown): Promise<TestReply>;
  put(path: string, body?: unknown): Promise<TestReply>;
  delete(path: string): Promise<TestReply>;
  /** Opens a new connection. */
  socket(options?: SocketOptions): Promise<SocketClient>;
  /** Subscribes on a new connection. */
  subscribe(topic: string, params?: Readonly<Record<string, unknown>>, options?: SocketOptions): Promise<Recorder>;
  /** Resolves when the hub has processed all requests and every connection has received the results. */
  settle(): Promise<void>;
  /** Closes the connections that this object has opened. The hub keeps running. */
  closeSockets(): Promise<void>;
  close(): Promise<void>;
}

/** Returns a function per HTTP method. */
export function verbsOf(request: TestHub['request']): Pick<TestHub, 'request' | 'get' | 'post' | 'put' | 'delete'> {
  return {
    request,
    get: (path) => request('GET', path),
    post: (path, body) => request('POST', path, body),
    put: (path, body) => request('PUT', path, body),
    delete: (path) => request('DELETE', path),
  };
}
