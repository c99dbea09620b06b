// hot: run for each request that is sent
import type { Socket } from 'node:net';
import { type Connection, type Fate, openSocket } from './connection.ts';

const END_OF_HEAD = Buffer.from('\r\n\r\n');
const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)/i;
const READ_BYTES = 16_384;

/** An HTTP connection that sends requests as they are given and reads of each answer little more than its status. */
export class HttpConnection implements Connection {
  #socket: Socket | undefined;
  #done: ((fate: Fate) => void) | undefined;
  #held = '';
  retryAfterMissing = 0;

  static async open(port: number): Promise<HttpConnection> {
    const connection = new HttpConnection();
    const onRead = (bytes: Buffer): void => connection.#read(bytes);
    const socket = await openSocket(port, { bufferBytes: READ_BYTES, onRead });
    socket.on('error', () => connection.#settle('failed'));
    socket.on('close', () => connection.#settle('failed'));
    connection.#socket = socket;
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
    // Nearly always one whole answer without a body: HTTP/1.1 204 No Content
    const isWhole = this.#held === '' && bytes.indexOf(END_OF_HEAD) === bytes.length - 4;
    if (isWhole && bytes[9] === 0x32 && bytes[10] === 0x30 && bytes[11] === 0x34) {
      this.#settle('accepted');
      return;
    }
    this.#held += bytes.toString('latin1');
    const headEnd = this.#held.indexOf('\r\n\r\n');
    if (headEnd < 0) return;
    const head = this.#held.slice(0, headEnd);
    const status = head.slice(9, 12);
    const bodyBytes = status === '204' ? 0 : Number(CONTENT_LENGTH.exec(head)?.[1] ?? 0);
    if (this.#held.length < headEnd + 4 + bodyBytes) return;
    this.#held = '';
    if (status === '503' && !/\r\nretry-after: *\d/i.test(head)) this.retryAfterMissing++;
    this.#settle(status === '204' ? 'accepted' : status === '503' ? 'refused' : 'failed');
  }

  #settle(fate: Fate): void {
    const done = this.#done;
    this.#done = undefined;
    done?.(fate);
  }
}
