// hot: run for each message that is read
import type { Socket } from 'node:net';
import { openSocket } from '../load/connection.ts';
import { connectPacket, subscribePacket } from '../load/mqtt_packets.ts';
import type { EventCounter } from './counter.ts';

const READ_BYTES = 262_144;
const [CONNACK, PUBLISH, PUBACK, SUBACK] = [2, 3, 0x40, 9];
const REFUSED = 0x80;

/** Subscriber of an MQTT broker. It acknowledges QoS 1 messages, those of one chunk together. */
export class MqttSubscriber {
  readonly #counter: EventCounter;
  readonly #confirm: (wasRefused: boolean) => void;
  #socket: Socket | undefined;
  #held: Buffer = Buffer.alloc(0);
  #isClosed = false;

  private constructor(counter: EventCounter, confirm: (wasRefused: boolean) => void) {
    this.#counter = counter;
    this.#confirm = confirm;
  }

  /** Connects and subscribes with QoS 1. Resolves when the subscription is confirmed. */
  static async open(port: number, filter: string, counter: EventCounter): Promise<MqttSubscriber> {
    let confirm = (_wasRefused: boolean): void => undefined;
    const refused = new Promise<boolean>((resolve) => {
      confirm = resolve;
    });
    const subscriber = new MqttSubscriber(counter, (wasRefused) => confirm(wasRefused));
    const onRead = (bytes: Buffer): void => subscriber.#read(bytes);
    const socket = await openSocket(port, { bufferBytes: READ_BYTES, onRead });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      subscriber.#isClosed = true;
    });
    subscriber.#socket = socket;
    socket.write(
      Buffer.concat([connectPacket(`subscriber-${process.pid}-${socket.localPort}`), subscribePacket(filter)]),
    );
    if (await refused) throw new Error(`The broker refuses the subscription to ${filter}`);
    return subscriber;
  }

  /** 1 after the connection has closed, in analogy to the close code of a WebSocket; 0 before. */
  get closeCode(): number {
    return this.#isClosed ? 1 : 0;
  }

  /** Stops reading. */
  pause(): void {
    this.#socket?.pause();
  }

  close(): void {
    this.#socket?.destroy();
  }

  #read(chunk: Buffer): void {
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const acks: number[] = [];
    let isFirst = true;
    let at = 0;
    while (at + 2 <= bytes.length) {
      let [length, shift, from] = [0, 0, at + 1];
      let low = 0x80;
      while ((low & 0x80) !== 0 && from < bytes.length) {
        low = bytes[from++]!;
        length |= (low & 0x7f) << shift;
        shift += 7;
      }
      const end = from + length;
      if ((low & 0x80) !== 0 || end > bytes.length) break;
      const type = bytes[at]! >> 4;
      if (type === PUBLISH) {
        let payloadAt = from + 2 + bytes.readUInt16BE(from);
        if ((bytes[at]! & 0x06) !== 0) {
          acks.push(PUBACK, 2, bytes[payloadAt]!, bytes[payloadAt + 1]!);
          payloadAt += 2;
        }
        this.#counter.payload(bytes.subarray(payloadAt, end), isFirst);
        isFirst = false;
      } else if (type === SUBACK) this.#confirm((bytes[end - 1]! & REFUSED) !== 0);
      else if (type !== CONNACK) throw new Error(`Cannot read what the broker sends: a packet of type ${type}`);
      at = end;
    }
    // The memory of the chunk is reused.
    this.#held = Buffer.from(bytes.subarray(at));
    if (acks.length > 0) this.#socket?.write(Buffer.from(acks));
  }
}
