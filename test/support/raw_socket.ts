import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';

/** A WebSocket frame in wire format (RFC 6455, section 5.2). */
export interface WireFrame {
  readonly isLast: boolean;
  /** Reserved bits. Compression sets the first. */
  readonly reserved: number;
  /** Opcode: 1 text, 2 binary, 8 close, 9 ping, 10 pong. */
  readonly opcode: number;
  readonly payload: Buffer;
}

const WAIT_MS = 15_000;

/** A WebSocket client that exposes details of the wire format that libraries hide: fragments, reserved bits, pings. */
export class RawSocket {
  readonly frames: WireFrame[] = [];
  /** Response to the upgrade request, in lower case. */
  answer = '';
  hasEnded = false;
  readonly #socket: Socket;
  #bytes = Buffer.alloc(0);
  #waiting: (() => void)[] = [];

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.hasEnded = true;
      this.#wake();
    });
  }

  static async open(port: number, path: string, userAgent: string): Promise<RawSocket> {
    const client = new RawSocket(connect({ host: '127.0.0.1', port }));
    client.#socket.write(
      `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nUser-Agent: ${userAgent}\r\nConnection: Upgrade\r\n` +
        `Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString('base64')}\r\n\r\n`,
    );
    await client.#until(() => client.answer !== '');
    return client;
  }

  /** Sends a frame, masked as required of clients. */
  send(opcode: number, payload: string): void {
    const bytes = Buffer.from(payload);
    const mask = randomBytes(4);
    const masked = bytes.map((byte, i) => byte ^ (mask[i % 4] ?? 0));
    const length = bytes.length < 126 ? [0x80 | bytes.length] : [0x80 | 126, bytes.length >> 8, bytes.length & 0xff];
    this.#socket.write(Buffer.concat([Buffer.from([0x80 | opcode, ...length]), mask, masked]));
  }

  /** Returns the first frame that matches, waiting for it if necessary. */
  async frame(wanted: (frame: WireFrame) => boolean): Promise<WireFrame> {
    await this.#until(() => this.frames.some(wanted));
    return this.frames.find(wanted) as WireFrame;
  }

  /** Sends bytes unchanged. */
  sendBytes(bytes: Uint8Array): void {
    this.#socket.write(bytes);
  }

  /** Waits until a matching frame arrives or the connection closes. Returns whether the frame has arrived. */
  async frameOrEnd(wanted: (frame: WireFrame) => boolean): Promise<boolean> {
    await this.#until(() => this.hasEnded || this.frames.some(wanted));
    return this.frames.some(wanted);
  }

  /** Stops reading from the socket. */
  pause(): void {
    this.#socket.pause();
  }

  close(): void {
    this.#socket.destroy();
  }

  async #until(holds: () => boolean): Promise<void> {
    const deadline = Date.now() + WAIT_MS;
    while (!holds()) {
      const left = deadline - Date.now();
      if (left <= 0) throw new Error(`Nothing of that kind has come within ${WAIT_MS} ms`);
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.push(resolve);
      const timer = setTimeout(resolve, left);
      await promise;
      clearTimeout(timer);
    }
  }

  #take(chunk: Buffer): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    if (this.answer === '') {
      const end = this.#bytes.indexOf('\r\n\r\n');
      if (end < 0) return;
      this.answer = this.#bytes.toString('latin1', 0, end).toLowerCase();
      this.#bytes = this.#bytes.subarray(end + 4);
    }
    for (let frame = this.#next(); frame !== undefined; frame = this.#next()) this.frames.push(frame);
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  #next(): WireFrame | undefined {
    const bytes = this.#bytes;
    if (bytes.length < 2) return undefined;
    const [first = 0, second = 0] = bytes;
    const short = second & 0x7f;
    const start = short === 126 ? 4 : short === 127 ? 10 : 2;
    if (bytes.length < start) return undefined;
    const length = short === 126 ? bytes.readUInt16BE(2) : short === 127 ? Number(bytes.readBigUInt64BE(2)) : short;
    if (bytes.length < start + length) return undefined;
    this.#bytes = bytes.subarray(start + length);
    const payload = bytes.subarray(start, start + length);
    return { isLast: first >= 0x80, reserved: (first >> 4) & 7, opcode: first & 0xf, payload };
  }
}
