// hot: run for each event that is read
import type { Socket } from 'node:net';
import { openSocket } from '../load/connection.ts';
import { Latencies } from '../load/latencies.ts';
import { DUE_FIELD, respCommand } from '../load/set_commands.ts';
import { PushParser } from './push_parser.ts';

const READ_BYTES = 262_144;
const DUE = Buffer.from(`"${DUE_FIELD}":`);
const [ZERO, NINE] = [0x30, 0x39];

/** Counts the fence events of a Tile38, and measures the age of each since its update was due. */
export class PushCounter {
  readonly latencies = new Latencies();
  readonly latenciesApart = new Latencies();
  readonly #nowUs: () => number;
  objects = 0;
  frames = 0;
  bytes = 0;

  constructor(nowUs: () => number) {
    this.#nowUs = nowUs;
  }

  /** Processes an event within the bytes. */
  event(bytes: Buffer, from: number, to: number): void {
    this.objects++;
    this.frames++;
    this.bytes += to - from;
    const at = bytes.indexOf(DUE, from);
    if (at < 0 || at >= to) throw new Error(`An event has no ${DUE_FIELD}: ${bytes.toString('utf8', from, to)}`);
    let dueUs = 0;
    for (let i = at + DUE.length; bytes[i]! >= ZERO && bytes[i]! <= NINE; i++) dueUs = dueUs * 10 + bytes[i]! - ZERO;
    this.latencies.record(this.#nowUs() - dueUs);
  }
}

/** A subscriber of all channels of a Tile38. */
export class PushClient {
  #socket: Socket | undefined;
  #isClosed = false;

  /** Connects and subscribes. Resolves when the subscription is confirmed. */
  static async open(port: number, counter: PushCounter): Promise<PushClient> {
    const client = new PushClient();
    let confirm = (): void => undefined;
    const confirmed = new Promise<void>((resolve) => {
      confirm = resolve;
    });
    const parser = new PushParser({
      event: (bytes, from, to) => counter.event(bytes, from, to),
      subscribed: () => confirm(),
    });
    const onRead = (bytes: Buffer): void => parser.push(bytes);
    const socket = await openSocket(port, { bufferBytes: READ_BYTES, onRead });
    socket.on('error', () => socket.destroy());
    socket.on('close', () => {
      client.#isClosed = true;
    });
    client.#socket = socket;
    socket.write(respCommand('PSUBSCRIBE', '*'));
    await confirmed;
    return client;
  }

  /** 1 after the connection has closed, in analogy to the close code of the hub; 0 before. */
  get closeCode(): number {
    return this.#isClosed ? 1 : 0;
  }

  pause(): void {
    this.#socket?.pause();
  }

  close(): void {
    this.#socket?.destroy();
  }
}
