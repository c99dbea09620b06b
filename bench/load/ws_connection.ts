import { PONG, TEXT } from '../listen/frame_parser.ts';
import { WebSocketClient } from '../listen/web_socket.ts';
import type { Connection, Fate } from './connection.ts';
import { clientFrame } from './message.ts';

const PING_FRAME = clientFrame(0x9, '');

/**
 * Publishes over a WebSocket. The hub sends no response to a successful publish, so each is followed by a ping. The
 * pong arrives when the hub has processed the publish, after an error frame if it has rejected it.
 */
export class WsConnection implements Connection {
  /** A frame has no headers, so a temporary rejection is recognized by its message. */
  readonly retryAfterMissing = 0;
  #client: WebSocketClient | undefined;
  #done: ((fate: Fate) => void) | undefined;
  #fate: Fate = 'accepted';

  static async open(port: number): Promise<WsConnection> {
    const connection = new WsConnection();
    connection.#client = await WebSocketClient.open(port, (opcode, payload) => connection.#frame(opcode, payload));
    return connection;
  }

  send(bytes: Buffer, done: (fate: Fate) => void): void {
    this.#done = done;
    this.#client?.write(bytes);
    this.#client?.write(PING_FRAME);
  }

  close(): void {
    this.#done = undefined;
    this.#client?.close();
  }

  #frame(opcode: number, payload: Buffer): void {
    if (opcode === TEXT) this.#fate = payload.includes('too many are waiting') ? 'refused' : 'failed';
    if (opcode !== PONG) return;
    const [done, fate] = [this.#done, this.#fate];
    this.#done = undefined;
    this.#fate = 'accepted';
    done?.(fate);
  }
}
