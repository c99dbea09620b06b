import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import mqtt from 'mqtt';
import { WebSocketServer } from 'ws';
import type { Payload, Script } from './source_scripts.ts';

/** Target of a device that sends its payloads by POST. */
export interface Endpoint {
  readonly url: string;
  readonly token?: string | undefined;
}

/** A simulated positioning system, which sends payloads to the hub. */
export interface Device {
  /** Members of the source by which the hub connects to the device. */
  readonly source: { readonly url?: string; readonly port?: number; readonly interval?: number };
  /** Port to which an adapter of the hub connects. */
  readonly port?: number;
  /** Sends a payload. Rejects if the hub answers something else than the payload's outcome demands. */
  send(payload: Payload, endpoint: Endpoint): Promise<void>;
  close(): void;
}

/** Ports of a broker and of the hub that devices send to. */
export interface DevicePorts {
  readonly broker: number;
  readonly udp: number;
}

/** Opens the device of a transport. It is connected, or can be connected to, when the promise resolves. */
export async function openDevice(kind: Script['kind'], ports: DevicePorts): Promise<Device> {
  switch (kind) {
    case 'http':
    case 'cisco':
      return { source: {}, send: post, close: () => undefined };
    case 'mqtt':
      return openPublisher(ports.broker);
    case 'udp':
      return openDatagrams(ports.udp);
    case 'tcp':
    case 'iso24730':
      return openLines();
    case 'websocket':
      return openMessages();
    case 'poll':
      return openBodies();
  }
}

async function post({ text, outcome }: Payload, { url, token }: Endpoint): Promise<void> {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const response = await fetch(url, { method: 'POST', body: text, headers });
  const said = await response.text();
  const expected = outcome === 'mapped' || outcome === 'skipped' ? 204 : 400;
  if (response.status !== expected) throw new Error(`${url}: answered ${response.status}: ${said}`);
}

async function openPublisher(port: number): Promise<Device> {
  const url = `mqtt://127.0.0.1:${port}`;
  const client = await mqtt.connectAsync(url);
  return {
    source: { url },
    async send({ text, topic = '' }) {
      await client.publishAsync(topic, text, { qos: 1 });
    },
    close: () => void client.end(true),
  };
}

async function openDatagrams(port: number): Promise<Device> {
  const socket = createSocket('udp4');
  return {
    source: { port },
    send: ({ text }) =>
      new Promise((resolve, reject) => {
        socket.send(text, port, '127.0.0.1', (error) => (error === null ? resolve() : reject(error)));
      }),
    close: () => void socket.close(),
  };
}

/** A TCP server that sends lines. */
async function openLines(): Promise<Device> {
  const clients = new Set<Socket>();
  const server = createServer((socket) => {
    clients.add(socket.on('error', () => undefined));
    socket.once('close', () => clients.delete(socket));
  });
  const port = await listen(server);
  return {
    port,
    source: { url: `tcp://127.0.0.1:${port}` },
    async send({ text }) {
      if (clients.size === 0) await once(server, 'connection');
      for (const client of clients) client.write(`${text}\r\n`);
    },
    close() {
      for (const client of clients) client.destroy();
      server.close();
    },
  };
}

/** A WebSocket server that sends messages. */
async function openMessages(): Promise<Device> {
  const server = createHttpServer();
  const sockets = new WebSocketServer({ server });
  const port = await listen(server);
  return {
    source: { url: `ws://127.0.0.1:${port}/` },
    async send({ text }) {
      for (const client of sockets.clients) client.send(text);
    },
    close() {
      for (const client of sockets.clients) client.terminate();
      server.close();
    },
  };
}

/** An HTTP server whose responses wait for the next payload, so that the hub fetches each payload once. */
async function openBodies(): Promise<Device> {
  let next = Promise.withResolvers<(text: string) => void>();
  const server = createHttpServer((_request, response) => next.resolve((text) => void response.end(text)));
  const port = await listen(server);
  return {
    source: { url: `http://127.0.0.1:${port}/`, interval: 100 },
    async send({ text }) {
      const answer = await next.promise;
      next = Promise.withResolvers();
      answer(text);
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function listen(server: Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}
