import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { connectPacket, LOCATIONS_IN, publishPacket } from '../../../bench/load/mqtt_packets.ts';
import { locationOf } from '../hub_process.ts';

const PUBACK = 4;
/** All MQTT 3.1.1 responses to packets of a source. */
const ANSWER_BYTES = 4;
const AGAIN_MS = 20;
/**
 * Pause between two locations of a provider: a hub that is down for some seconds should find thousands, not a hundred
 * thousand.
 */
const PACE_MS = 10;

/** A connection of a source, which reconnects when it has closed. */
class Connection {
  readonly #port: number;
  readonly #name: string;
  #socket: Socket | undefined;
  readonly #waiting = new Map<number, (isAcknowledged: boolean) => void>();
  #held = Buffer.alloc(0);

  constructor(port: number, name: string) {
    this.#port = port;
    this.#name = name;
  }

  /** Publishes with QoS 1. Returns false if the connection has closed before the acknowledgment. */
  publish(topic: string, payload: string, packetId: number): Promise<boolean> {
    this.#socket ??= this.#open();
    this.#socket.write(publishPacket(topic, payload, packetId));
    return new Promise((resolve) => this.#waiting.set(packetId, resolve));
  }

  close(): void {
    this.#socket?.destroy();
  }

  #open(): Socket {
    const socket = connect(this.#port, '127.0.0.1');
    this.#held = Buffer.alloc(0);
    socket.setNoDelay(true);
    socket.write(connectPacket(this.#name));
    socket.on('data', (chunk) => this.#read(chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      if (this.#socket === socket) this.#socket = undefined;
      for (const [packetId, settle] of [...this.#waiting]) {
        this.#waiting.delete(packetId);
        settle(false);
      }
    });
    return socket;
  }

  #read(chunk: Buffer): void {
    const bytes = Buffer.concat([this.#held, chunk]);
    let at = 0;
    for (; at + ANSWER_BYTES <= bytes.length; at += ANSWER_BYTES) {
      if ((bytes[at] as number) >> 4 !== PUBACK) continue;
      const packetId = bytes.readUInt16BE(at + 2);
      this.#waiting.get(packetId)?.(true);
      this.#waiting.delete(packetId);
    }
    this.#held = bytes.subarray(at);
  }
}

/**
 * Providers that number their locations. Each sends the next one when the broker has acknowledged the last, and
 * otherwise repeats it.
 */
export class Sources {
  /** Number of the last location that the broker has acknowledged, by provider. */
  readonly acknowledged = new Map<string, number>();
  readonly #connections: readonly Connection[];
  #isStopped = true;
  #walks: Promise<void>[] = [];

  constructor(port: number, { connections, providers }: { readonly connections: number; readonly providers: number }) {
    this.#connections = Array.from({ length: connections }, (_, i) => new Connection(port, `source-${i}`));
    for (let i = 0; i < providers; i++) this.acknowledged.set(`tag-${i}`, 0);
  }

  start(): void {
    this.#isStopped = false;
    this.#walks = Array.from(this.acknowledged.keys(), (provider, index) => this.#walk(provider, index));
  }

  /** Resolves when everything sent is acknowledged. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#walks);
  }

  /** Stops without waiting for acknowledgments. */
  close(): void {
    this.#isStopped = true;
    for (const connection of this.#connections) connection.close();
  }

  async #walk(provider: string, index: number): Promise<void> {
    const connection = this.#connections[index % this.#connections.length] as Connection;
    while (!this.#isStopped) {
      const number = (this.acknowledged.get(provider) as number) + 1;
      const location = JSON.stringify(locationOf(provider, number % 50, { accuracy: number }));
      let isTaken = await connection.publish(`${LOCATIONS_IN}/${provider}`, location, index + 1);
      while (!isTaken && !this.#isStopped) {
        await delay(AGAIN_MS);
        isTaken = await connection.publish(`${LOCATIONS_IN}/${provider}`, location, index + 1);
      }
      if (isTaken) this.acknowledged.set(provider, number);
      await delay(PACE_MS);
    }
  }
}
