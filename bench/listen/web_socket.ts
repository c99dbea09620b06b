import type { Socket } from 'node:net';
import { openSocket } from '../load/connection.ts';
import { clientFrame, SOCKET_PATH } from '../load/message.ts';
import { CLOSE, FrameParser, PING, TEXT } from './frame_parser.ts';

const READ_BYTES = 262_144;
const UPGRADE = [
  `GET ${SOCKET_PATH} HTTP/1.1`,
  'Host: hub',
  'Upgrade: websocket',
  'Connection: Upgrade',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  'Sec-WebSocket-Version: 13',
].join('\r\n');

/** A client of the hub's WebSocket that passes on frames as bytes. */
export class WebSocketClient {
  readonly #onFrame: (opcode: number, payload: Buffer) => void;
  readonly #parser: FrameParser;
  #socket: Socket | undefined;
  #upgraded: (() => void) | undefined;
  #closeCode = 0;

  private constructor(onFrame: (opcode: number, payload: Buffer) => void) {
    this.#onFrame = onFrame;
    this.#parser = new FrameParser((opcode, payload) => this.#frame(opcode, payload));
  }

  /** Connects. `onFrame` receives each text frame and pong; the payload is only valid during the call. */
  static async open(port: number, onFrame: (opcode: number, payload: Buffer) => void): Promise<WebSocketClient> {
    const client = new WebSocketClient(onFrame);
    let isUpgraded = false;
    const onRead = (bytes: Buffer): void => {
      if (isUpgraded) client.#parser.push(bytes);
      else {
        client.#upgrade(bytes);
        isUpgraded = true;
      }
    };
    const socket = await openSocket(port, { bufferBytes: READ_BYTES, onRead });
    client.#socket = socket;
    socket.on('error', () => socket.destroy());
    const upgraded = new Promise<void>((resolve) => {
      client.#upgraded = resolve;
    });
    socket.write(`${UPGRADE}\r\n\r\n`);
    await upgraded;
    return client;
  }

  /** Code of the received close frame; 0 before. */
  get closeCode(): number {
    return this.#closeCode;
  }

  /** Sends bytes that are already a frame. */
  write(frame: Buffer): void {
    this.#socket?.write(frame);
  }

  /** Sends a text frame. */
  send(text: string): void {
    this.write(clientFrame(TEXT, text));
  }

  /** Stops reading, so that the hub's sending stalls. */
  pause(): void {
    this.#socket?.pause();
  }

  close(): void {
    this.#socket?.destroy();
  }

  /** Response to the upgrade, possibly followed by the first frames. */
  #upgrade(bytes: Buffer): void {
    const end = bytes.indexOf('\r\n\r\n');
    const status = bytes.toString('latin1', 9, 12);
    if (end < 0 || status !== '101') throw new Error(`Cannot open a WebSocket: answered ${status}`);
    this.#upgraded?.();
    if (end + 4 < bytes.length) this.#parser.push(bytes.subarray(end + 4));
  }

  #frame(opcode: number, payload: Buffer): void {
    if (opcode === PING) this.write(clientFrame(0xa, payload.toString('latin1')));
    else if (opcode === CLOSE) this.#closeCode = payload.length >= 2 ? payload.readUInt16BE(0) : 1005;
    else this.#onFrame(opcode, payload);
  }
}
