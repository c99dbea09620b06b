import type { CountUnsent, FetchedBody, LongBody, UnsentData } from '../exchange.ts';
import type { TaskScheduler } from '../time/task_scheduler.ts';
import type { NativeResponse } from './native.ts';

/** Maximum size of a write in bytes. The native server buffers what the network does not accept. */
const PIECE_BYTES = 128 * 1024;
/** Size of the write that tests whether the native server's buffer is empty. */
const PROBE_BYTES = 1024;

export interface Sending {
  /** Counts the unsent bytes of all connections. */
  readonly unsent: CountUnsent;
  /** Schedules the creation and writing of parts. */
  readonly turns: TaskScheduler;
  /** Returns whether the connection closes when the body is written. */
  isLast(): boolean;
}

/**
 * Sends a long body in chunks as the client reads it. A part is created only when the network has accepted all earlier
 * parts. The native server buffers what the network does not accept, does not report the buffered size, and sends it
 * only with the next write. So the next write is a small one, which succeeds immediately only if the buffer is empty.
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

  /**
   * Sends a body. Resolves when it is written or the connection has closed. If a part cannot be created, closes the
   * connection and rejects.
   */
  async send({ parts, ownBytes = 0 }: LongBody | FetchedBody): Promise<void> {
    const { turns, isLast } = this.#sending;
    // Decided by the header that was sent: the native server would write it again, into the body.
    const closes = isLast();
    this.#ownBytes = ownBytes;
    this.#now(ownBytes);
    try {
      for await (const part of parts) {
        await this.#sendPart(typeof part === 'string' ? Buffer.from(part) : part);
        if (this.#isOver) return;
      }
    } catch (error) {
      // If the client has disconnected, that may be why the part failed.
      if (this.#isOver) return;
      this.drop();
      throw error;
    }
    await turns.next();
    if (this.#isOver) return;
    this.#end();
    this.#response.cork(() => this.#response.end('', closes));
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
      // This may close the connection.
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

  /** Sets the number of waiting bytes. */
  #now(bytes: number): void {
    const by = bytes - this.bytes;
    if (by === 0) return;
    this.bytes = bytes;
    this.#sending.unsent.changed(by, this);
  }
}
