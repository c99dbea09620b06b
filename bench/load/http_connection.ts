// hot: run for each request that is sent
import type { Socket } from 'node:net';
import { type Connection, type Fate, openSocket } from './connection.ts';

const END_OF_HEAD = Buffer.from('\r\n\r\n');
const CONTENT_LENGTH = /\r\ncontent-length: *(\d+)/i;
const READ_BYTES = 16_384;
/** The hub closes connections after ten idle seconds. A new connection is opened before that. */
const IDLE_MAX_MS = 5000;

/** An HTTP connection that sends prepared requests and parses little more than the status of each response. */
export class HttpConnection implements Connection {
  readonly #port: number;
  #socket: Socket | undefined;
  #usedMs = 0;
  #done: ((fate: Fate) => void) | undefined;
  #held = '';
  retryAfterMissing = 0;

  private constructor(port: number) {
    this.#port = port;
  }

  static async open(port: number): Promise<HttpConnection> {
    const connection = new HttpConnection(port);
    await connection.#connect();
    return connection;
  }

  send(bytes: Buffer, done: (fate: Fate) => void): void {
    this.#done = done;
    if (this.#socket !== undefined && performance.now() - this.#usedMs < IDLE_MAX_MS) {
      this.#socket.write(bytes);
      return;
    }
    this.#connect().then(
      () => this.#socket?.write(bytes),
      () => this.#settle('failed'),
    );
  }

  close(): void {
    this.#done = undefined;
    this.#socket?.destroy();
  }

  async #connect(): Promise<void> {
    const stale = this.#socket;
    this.#socket = undefined;
    stale?.destroy();
    const onRead = (bytes: Buffer): void => this.#read(bytes);
    const socket = await openSocket(this.#port, { bufferBytes: READ_BYTES, onRead });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      if (this.#socket !== socket) return;
      this.#socket = undefined;
      this.#settle('failed');
    });
    this.#socket = socket;
    this.#usedMs = performance.now();
  }

  #read(bytes: Buffer): void {
    // Fast path for a complete response without a body: HTTP/1.1 204 No Content
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
    this.#usedMs = performance.now();
    const done = this.#done;
    this.#done = undefined;
    done?.(fate);
  }
}
