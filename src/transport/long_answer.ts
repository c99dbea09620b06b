import type { CountUnsent, FetchedBody, LongBody, UnsentData } from '../exchange.ts';
import type { TaskScheduler } from '../time/task_scheduler.ts';
import type { NativeResponse } from './native.ts';

/** Most that is written at once; what the network does not take of it, the native server keeps. */
const PIECE_BYTES = 128 * 1024;
/** Written to learn whether the network has taken all that the native server keeps. */
const PROBE_BYTES = 1024;

export interface Sending {
  /** Where what the client does not read yet is counted. */
  readonly unsent: CountUnsent;
  /** In which parts are made and written. */
  readonly turns: TaskScheduler;
  /** Asked when all is written: whether the connection ends then. */
  isLast(): boolean;
}

/**
 * Sends a long body in chunks, as the client reads it: no part is made before the network has taken those before it. The
 * native server keeps what the network does not take of a piece, and does not say how much that is, nor sends it before
 * the next write. So the next write is a small one, which the native server takes at once only when it keeps nothing more.
 */
export class LongAnswer implements UnsentData {
  bytes = 0;
  readonly #response: NativeResponse;
  readonly #sending: Sending;
  #isOver = false;
  #isCrowded = false;
  #ownBytes = 0;
  #wake: (() => void) | undefined;

  constructor(response: NativeResponse, sending: Sending) {
    this.#response = response;
    this.#sending = sending;
    response.onAborted(() => this.#end());
    response.onWritable(() => {
      this.#wake?.();
      return true;
    });
  }

  /** Resolves when all is written, or the connection has ended. Rejects, and ends it, when a part cannot be made. */
  async send({ parts, ownBytes = 0 }: LongBody | FetchedBody): Promise<void> {
    const { turns, isLast } = this.#sending;
    this.#ownBytes = ownBytes;
    this.#now(ownBytes);
    try {
      for await (const part of parts) {
        await this.#sendPart(typeof part === 'string' ? Buffer.from(part) : part);
        if (this.#isOver) return;
      }
    } catch (error) {
      // Nobody reads it any more, which is why a part may have failed.
      if (this.#isOver) return;
      this.drop();
      throw error;
    }
    await turns.next();
    if (this.#isOver) return;
    this.#end();
    this.#response.cork(() => this.#response.end('', isLast()));
  }

  drop(): void {
    if (this.#isOver) return;
    this.#end();
    this.#response.close();
  }

  async #sendPart(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length; ) {
      await this.#sending.turns.next();
      if (this.#isOver) return;
      const piece = bytes.subarray(at, at + (this.#isCrowded ? PROBE_BYTES : PIECE_BYTES));
      at += piece.length;
      this.#response.cork(() => {
        this.#isCrowded = !this.#response.write(piece);
      });
      // May end the connection.
      this.#now(this.#ownBytes + (this.#isCrowded ? bytes.length - at + PIECE_BYTES : 0));
      if (this.#isCrowded) await this.#writable();
    }
  }

  #writable(): Promise<void> {
    if (this.#isOver) return Promise.resolve();
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #end(): void {
    this.#isOver = true;
    this.#now(0);
    this.#wake?.();
  }

  /** So many bytes wait now. */
  #now(bytes: number): void {
    const by = bytes - this.bytes;
    if (by === 0) return;
    this.bytes = bytes;
    this.#sending.unsent.changed(by, this);
  }
}
