import assert from 'node:assert/strict';
import { RawSocket, type WireFrame } from '../support/raw_socket.ts';
import { openTestHub, type TestHub, type TestReply } from '../support/running_hub.ts';

export const USER_AGENT = 'Go-http-client/1.1';
export const SOCKET_PATH = '/v2/ws/socket';
export const UUID = '0b680db2-b39b-45be-be77-40d7d2296cb4';
export const MAC = '77:4f:34:69:27:40';
export const LOCATION = {
  position: { type: 'Point', coordinates: [8.5, 50.1] },
  source: 'gps',
  provider_type: 'gps',
  provider_id: MAC,
  crs: 'EPSG:4326',
};

/** A running hub, addressed as by the public Go client: with paths without prefix. */
export interface AsGoClient {
  readonly hub: TestHub;
  /** Sends JSON, or a string unchanged. As with Go's encoder, a line feed follows, and there is no Content-Type. */
  send(method: string, path: string, body?: unknown): Promise<TestReply>;
  /** Subscribes on a new connection. All parameters are strings. */
  subscribe(topic: string, params?: Readonly<Record<string, string>>): Promise<RawSocket>;
  /** Deletes all entities. */
  clear(): Promise<void>;
  close(): Promise<void>;
}

export async function openAsGoClient(): Promise<AsGoClient> {
  const hub = await openTestHub();
  const sockets: RawSocket[] = [];
  return {
    hub,
    send(method, path, body) {
      const text = body === undefined ? undefined : `${typeof body === 'string' ? body : JSON.stringify(body)}\n`;
      const headers = { 'User-Agent': USER_AGENT, 'Accept-Encoding': 'gzip' };
      return hub.request(method, `${hub.origin}/v2${path}`, text, headers);
    },
    async subscribe(topic, params) {
      const socket = await RawSocket.open(hub.hub.port, SOCKET_PATH, USER_AGENT);
      sockets.push(socket);
      socket.send(1, `${JSON.stringify({ event: 'subscribe', topic, ...(params && { params }) })}\n`);
      const answer = messageOf(await socket.frame(({ opcode }) => opcode === 1));
      assert.equal(answer.event, 'subscribed', JSON.stringify(answer));
      return socket;
    },
    async clear() {
      for (const path of ['trackables', 'providers', 'fences', 'zones']) await hub.delete(`/${path}`);
    },
    async close() {
      for (const socket of sockets) socket.close();
      await hub.close();
    },
  };
}

export interface SocketMessage {
  readonly event: string;
  readonly subscription_id?: number;
  readonly payload: readonly Readonly<Record<string, unknown>>[];
}

export function messageOf({ payload }: WireFrame): SocketMessage {
  return JSON.parse(payload.toString()) as SocketMessage;
}
