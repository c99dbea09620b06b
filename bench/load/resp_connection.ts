// hot: run for each pipeline that is sent
import type { Socket } from 'node:net';
import { type Connection, type Fate, openSocket } from './connection.ts';

const READ_BYTES = 16_384;
const [LINE_FEED, MINUS, G] = [0x0a, 0x2d, 0x47];

/**
 * Sends pipelines of commands to Tile38. Each ends with a PING, and is complete with the PONG: no other response
 * contains a capital G. Only errors begin with a minus.
 */
export class RespConnection implements Connection {
  /** Tile38 rejects no client. */
  readonly retryAfterMissing = 0;
  #socket: Socket | undefined;
  #done: ((fate: Fate) => void) | undefined;
  #hasPong = false;
  #error = '';

  static async open(port: number): Promise<RespConnection> {
    const connection = new RespConnection();
    const onRead = (bytes: Buffer): void => connection.#read(bytes);
    const socket = await openSocket(port, { bufferBytes: READ_BYTES, onRead });
    socket.on('error', () => undefined);
    socket.on('close', () => connection.#closed());
    connection.#socket = socket;
    return connection;
  }

  /** Answer to the last pipeline from its first error on; empty if it had no error. */
  get error(): string {
    return this.#error;
  }

  send(bytes: Buffer, done: (fate: Fate) => void): void {
    this.#hasPong = false;
    this.#error = '';
    this.#done = done;
    this.#socket?.write(bytes);
  }

  close(): void {
    this.#done = undefined;
    this.#socket?.destroy();
  }

  #read(bytes: Buffer): void {
    const errorAt = this.#error === '' ? bytes.indexOf(MINUS) : 0;
    if (errorAt >= 0) this.#error += bytes.toString('latin1', errorAt);
    this.#hasPong ||= bytes.includes(G);
    if (!this.#hasPong || bytes[bytes.length - 1] !== LINE_FEED) return;
    // An error message may contain a G, too. Then only the end of the response is conclusive.
    if (this.#error !== '' && !this.#error.endsWith('+PONG\r\n')) return;
    this.#settle(this.#error === '' ? 'accepted' : 'failed');
  }

  #closed(): void {
    this.#error ||= 'the connection was closed';
    this.#settle('failed');
  }

  #settle(fate: Fate): void {
    const done = this.#done;
    this.#done = undefined;
    done?.(fate);
  }
}
