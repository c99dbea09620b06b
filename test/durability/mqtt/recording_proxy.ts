import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { PacketReader, type Received } from '../../../src/mqtt/packet_reader.ts';

/** A location that the broker has sent to the hub. */
export interface Delivery {
  /** Its number among those of its provider. */
  readonly number: number;
  /** The broker says that it has sent it before. */
  readonly isRedelivered: boolean;
  /** The hub has acknowledged it. */
  isAcknowledged: boolean;
  /** Which of the hub's connections it was sent on, by their order. */
  readonly connection: number;
}

const PUBACK = 4;
const REFUSED = 0x80;
const BYTES_MAX = 1 << 20;

/**
 * Stands between a hub and a broker, and writes down what the broker sends and the hub acknowledges: so what a broker
 * forgets is told apart from what a hub loses.
 */
export class RecordingProxy {
  /** By provider, in the order in which they were sent. */
  readonly deliveries = new Map<string, Delivery[]>();
  /** What the hub has refused. */
  readonly refused: string[] = [];
  /** Whether whoever connects is cut off at once. */
  isDown = false;
  /** How many connections the hub has made. */
  connections = 0;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(target: number) {
    this.#server = createServer((hub) => {
      if (this.isDown) hub.destroy();
      else this.#join(hub, connect(target, '127.0.0.1'));
    });
  }

  static async open(target: number): Promise<RecordingProxy> {
    const proxy = new RecordingProxy(target);
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port;
  }

  /** Cuts all connections. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): void {
    this.#server.close();
    this.cut();
  }

  #join(hub: Socket, broker: Socket): void {
    /** Those of this connection that wait to be acknowledged, by packet id. */
    const open = new Map<number, Delivery>();
    const connection = ++this.connections;
    const ofBroker = new PacketReader(
      {
        message: (received) => void open.set(received.packetId, this.#sent(received, connection)),
        others: () => undefined,
      },
      { bytesMax: BYTES_MAX },
    );
    const ofHub = new PacketReader(
      { message: () => undefined, others: (packets) => this.#answered(packets, open) },
      { bytesMax: BYTES_MAX },
    );
    for (const [from, to, reader] of [
      [hub, broker, ofHub],
      [broker, hub, ofBroker],
    ] as const) {
      this.#sockets.add(from);
      from.setNoDelay(true);
      from.on('error', () => undefined);
      from.on('close', () => {
        this.#sockets.delete(from);
        to.destroy();
      });
      from.on('data', (chunk: Buffer) => reader.push(chunk));
      from.pipe(to);
    }
  }

  #sent({ bytes, payloadAt, payloadEnd, isRedelivered }: Received, connection: number): Delivery {
    const text = Buffer.from(bytes.subarray(payloadAt, payloadEnd)).toString();
    const { provider_id: provider, accuracy: number } = JSON.parse(text);
    const delivery = { number, isRedelivered, isAcknowledged: false, connection };
    const all = this.deliveries.get(provider) ?? [];
    all.push(delivery);
    this.deliveries.set(provider, all);
    return delivery;
  }

  #answered(packets: Uint8Array, open: Map<number, Delivery>): void {
    for (const packet of packetsIn(packets)) {
      if ((packet[0] as number) >> 4 !== PUBACK) continue;
      const packetId = ((packet[2] as number) << 8) | (packet[3] as number);
      const delivery = open.get(packetId);
      open.delete(packetId);
      if (delivery !== undefined) delivery.isAcknowledged = true;
      const code = packet[4] ?? 0;
      if (code >= REFUSED) this.refused.push(`location ${delivery?.number} with reason code ${code}`);
    }
  }
}

function* packetsIn(packets: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < packets.length; ) {
    let [next, length, unit] = [at + 1, 0, 1];
    for (let low = 0x80; low >= 0x80; unit *= 0x80) {
      low = packets[next++] as number;
      length += (low & 0x7f) * unit;
    }
    yield packets.subarray(at, next + length);
    at = next + length;
  }
}
