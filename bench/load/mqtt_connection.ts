// hot: run for each message that is sent
import type { Socket } from 'node:net';
import { type Connection, type Fate, openSocket } from './connection.ts';
import { connectPacket, LAST_ID } from './mqtt_packets.ts';

const READ_BYTES = 16_384;
const [CONNACK, PUBACK] = [0x20, 0x40];
/** Both responses have four bytes. */
const ANSWER_BYTES = 4;

/** Publishes batches of QoS 1 PUBLISH packets. A batch is accepted when the broker has acknowledged its last packet. */
export class MqttConnection implements Connection {
  /** A broker rejects no client; it applies backpressure to the socket. */
  readonly retryAfterMissing = 0;
  #socket: Socket | undefined;
  #done: ((fate: Fate) => void) | undefined;
  #opened: ((code: number) => void) | undefined;
  /** The partially read response as a number, and its number of bytes. */
  #answer = 0;
  #bytes = 0;

  static async open(port: number): Promise<MqttConnection> {
    const connection = new MqttConnection();
    const onRead = (bytes: Buffer): void => connection.#read(bytes);
    const socket = await openSocket(port, { bufferBytes: READ_BYTES, onRead });
    socket.on('error', () => undefined);
    socket.on('close', () => connection.#settle('failed'));
    connection.#socket = socket;
    const opened = new Promise<number>((resolve) => {
      connection.#opened = resolve;
    });
    socket.write(connectPacket(`source-${process.pid}-${socket.localPort}`));
    const code = await opened;
    if (code !== 0) throw new Error(`Cannot connect to the broker: answered with code ${code}`);
    return connection;
  }

  send(bytes: Buffer, done: (fate: Fate) => void): void {
    this.#done = done;
    this.#socket?.write(bytes);
  }

  close(): void {
    this.#done = undefined;
    this.#socket?.destroy();
  }

  #read(bytes: Buffer): void {
    for (let i = 0; i < bytes.length; i++) {
      this.#answer = (this.#answer << 8) | bytes[i]!;
      this.#bytes++;
      if (this.#bytes < ANSWER_BYTES) continue;
      const [type, code] = [this.#answer >>> 24, this.#answer & 0xffff];
      this.#bytes = 0;
      if (type === CONNACK) this.#opened?.(code & 0xff);
      else if (type !== PUBACK) throw new Error(`Cannot read what the broker sends: a packet of type ${type >> 4}`);
      else if (code === LAST_ID) this.#settle('accepted');
    }
  }

  #settle(fate: Fate): void {
    const done = this.#done;
    this.#done = undefined;
    done?.(fate);
  }
}
