import type { HandlePeer, Peer, PeerEvents, PeerHead } from '../exchange.ts';
import { type Borrowed, lend, look } from '../model/borrowed.ts';
import { withoutMark } from './byte_order_mark.ts';
import type { FrameCapacity } from './frame_memory.ts';
import { type NativeSocket, WITHOUT_CLOSE_FRAME } from './native.ts';

/** Data that the native server stores with a connection. */
export interface PeerData {
  readonly peer: SocketPeer;
}

export interface SocketPeerOptions {
  readonly address: string;
  readonly isKnown: boolean;
  /** Memory reserved for frames of the connection. */
  readonly capacity: FrameCapacity;
  /** Whether the client may send another frame. */
  readonly allowsFrame: () => boolean;
  readonly tooLong: (peer: Peer, frameMaxBytes: number) => void;
  readonly report: (error: unknown) => void;
}

/** Close reason of the native server for a frame that exceeds its buffer, for which it sends no close frame. */
const CUT_AS_TOO_LONG = 'Received too big message';
/** Maximum size of unread pongs in bytes. They wait in the native server, outside all other bounds. */
const UNREAD_PONGS_MAX_BYTES = 64 * 1024;
const PONG_HEAD_BYTES = 2;

/** A WebSocket connection. Its methods have no effect once it is closed. */
export class SocketPeer implements Peer {
  readonly path: string;
  readonly userAgent: string;
  readonly authorization: string | undefined;
  readonly query: string;
  readonly address: string;
  readonly isKnown: boolean;
  readonly #options: SocketPeerOptions;
  #socket: NativeSocket<PeerData> | undefined;
  #events: PeerEvents | undefined;
  #unreadPongBytes = 0;

  constructor({ path, userAgent, authorization, query }: PeerHead, options: SocketPeerOptions) {
    this.path = path;
    this.userAgent = userAgent;
    this.authorization = authorization;
    this.query = query;
    this.address = options.address;
    this.isKnown = options.isKnown;
    this.#options = options;
  }

  send(text: string | Borrowed): void {
    this.#socket?.send(typeof text === 'string' ? text : look(text), false);
  }

  bufferedBytes(): number {
    return this.#socket?.getBufferedAmount() ?? 0;
  }

  close(code: number, reason: string): void {
    this.#socket?.end(code, reason);
  }

  opened(socket: NativeSocket<PeerData>, handlePeer: HandlePeer): void {
    this.#socket = socket;
    this.#guarded(() => {
      this.#events = handlePeer(this);
    });
  }

  /** hot: once per frame. */
  received(frame: ArrayBuffer, isBinary: boolean): void {
    const { capacity, allowsFrame, tooLong } = this.#options;
    if (isBinary) this.close(1003, 'Only text frames are understood');
    else if (!allowsFrame()) this.close(1008, 'This address sends too many frames');
    else if (frame.byteLength > capacity.frameMaxBytes) {
      tooLong(this, capacity.frameMaxBytes);
      this.close(1009, `A frame of this connection may have ${capacity.frameMaxBytes} bytes`);
    } else this.#guarded(() => this.#hand(frame));
  }

  // hot
  #hand(frame: ArrayBuffer): void {
    const bytes = withoutMark(new Uint8Array(frame));
    if (this.#events?.bytes?.(lend(bytes)) === true) return;
    this.#events?.message(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
  }

  /**
   * Handles a ping, which the native server has answered. Disconnects a client that reads no pongs, without a close
   * frame, which would wait after the pongs.
   */
  pinged(bytes: number): void {
    this.#unreadPongBytes = Math.min(this.#unreadPongBytes + bytes + PONG_HEAD_BYTES, this.bufferedBytes());
    if (this.#unreadPongBytes > UNREAD_PONGS_MAX_BYTES) this.#socket?.close();
  }

  drained(): void {
    this.#guarded(() => this.#events?.drained());
  }

  closed(code: number, reason: string): void {
    const { capacity, tooLong } = this.#options;
    const isGone = code === WITHOUT_CLOSE_FRAME;
    this.#socket = undefined;
    capacity.give(isGone);
    if (isGone && reason === CUT_AS_TOO_LONG) tooLong(this, capacity.frameMaxBytes);
    this.#guarded(() => this.#events?.closed());
  }

  /** Runs a handler and catches exceptions, which would terminate the process in the native caller. */
  #guarded(happen: () => void): void {
    try {
      happen();
    } catch (error) {
      this.#options.report(error);
      this.close(1011, 'An internal error occurred');
    }
  }
}
