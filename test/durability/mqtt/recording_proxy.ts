import type { Socket } from 'node:net';
import { PacketReader, type ReceivedPublish } from '../../../src/mqtt/packet_reader.ts';
import { TcpProxy } from '../../support/tcp_proxy.ts';

/** A location that the broker has sent to the hub. */
export interface Delivery {
  /** Sequence among the locations of its provider. */
  readonly number: number;
  /** DUP flag: the broker reports that it has sent it before. */
  readonly isRedelivered: boolean;
  /** Whether the hub has acknowledged it. */
  isAcknowledged: boolean;
  /** Sequence of the hub's connection on which it was sent. */
  readonly connection: number;
}

const PUBACK = 4;
const REFUSED = 0x80;
const BYTES_MAX = 1 << 20;

/**
 * A proxy between a hub and a broker that records deliveries of the broker and acknowledgments of the hub. Its records
 * distinguish what a broker forgets from what a hub loses.
 */
export class RecordingProxy extends TcpProxy {
  /** By provider, in the order of sending. */
  readonly deliveries = new Map<string, Delivery[]>();
  /** Locations that the hub has rejected. */
  readonly refused: string[] = [];
  /** Number of connections that the hub has opened. */
  connections = 0;

  static open(target: number): Promise<RecordingProxy> {
    return new RecordingProxy(target).listen();
  }

  protected override forward(hub: Socket, broker: Socket): void {
    /** Unacknowledged deliveries of this connection, by packet id. */
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
    hub.on('data', (chunk: Buffer) => ofHub.push(chunk));
    broker.on('data', (chunk: Buffer) => ofBroker.push(chunk));
    super.forward(hub, broker);
  }

  #sent({ bytes, payloadAt, payloadEnd, isRedelivered }: ReceivedPublish, connection: number): Delivery {
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
