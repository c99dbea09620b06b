// hot: run for each chunk that the network brings
/**
 * Splits the bytes that a WebSocket server sends into frames (RFC 6455, section 5.2). A frame within one chunk is
 * passed on in place. Only a frame across chunks is copied, once.
 */
export const TEXT = 0x1;
export const CLOSE = 0x8;
export const PING = 0x9;
export const PONG = 0xa;

const HEAD_MAX_BYTES = 10;

export class FrameParser {
  readonly #onFrame: (opcode: number, payload: Buffer) => void;
  /** The beginning of an incomplete frame. */
  #held: Buffer = Buffer.allocUnsafe(65_536);
  #heldBytes = 0;

  /** `onFrame` receives each complete frame. The payload is only valid during the call. */
  constructor(onFrame: (opcode: number, payload: Buffer) => void) {
    this.#onFrame = onFrame;
  }

  /** Processes the next bytes. Throws if they are not frames of a server: masked, or fragmented. */
  push(chunk: Buffer): void {
    let at = this.#heldBytes === 0 ? 0 : this.#finishHeld(chunk);
    while (at < chunk.length) {
      const frameBytes = lengthOfFrame(chunk, at, chunk.length);
      if (frameBytes < 0 || at + frameBytes > chunk.length) break;
      this.#handOn(chunk, at, frameBytes);
      at += frameBytes;
    }
    if (at < chunk.length) this.#hold(chunk, at, chunk.length);
  }

  /** Completes the buffered frame. Returns the number of bytes consumed from the chunk. */
  #finishHeld(chunk: Buffer): number {
    let used = 0;
    let frameBytes = lengthOfFrame(this.#held, 0, this.#heldBytes);
    while (frameBytes < 0 && used < chunk.length) {
      this.#hold(chunk, used, used + 1);
      used++;
      frameBytes = lengthOfFrame(this.#held, 0, this.#heldBytes);
    }
    if (frameBytes < 0) return used;
    const lacking = Math.min(frameBytes - this.#heldBytes, chunk.length - used);
    this.#hold(chunk, used, used + lacking);
    if (this.#heldBytes < frameBytes) return chunk.length;
    this.#heldBytes = 0;
    this.#handOn(this.#held, 0, frameBytes);
    return used + lacking;
  }

  #hold(chunk: Buffer, from: number, to: number): void {
    const needed = this.#heldBytes + to - from;
    if (needed > this.#held.length) {
      const larger = Buffer.allocUnsafe(2 * needed);
      this.#held.copy(larger, 0, 0, this.#heldBytes);
      this.#held = larger;
    }
    chunk.copy(this.#held, this.#heldBytes, from, to);
    this.#heldBytes = needed;
  }

  #handOn(bytes: Buffer, at: number, frameBytes: number): void {
    const first = bytes[at]!;
    if ((first & 0x80) === 0 || (first & 0x0f) === 0) throw new Error('A frame comes in fragments, which none should');
    this.#onFrame(first & 0x0f, bytes.subarray(at + headBytes(bytes[at + 1]!), at + frameBytes));
  }
}

/** Length of the frame that begins at `at`; -1 if its header is incomplete. */
function lengthOfFrame(bytes: Buffer, at: number, end: number): number {
  if (end - at < 2) return -1;
  const second = bytes[at + 1]!;
  if ((second & 0x80) !== 0) throw new Error('A frame of a server is masked, which none may be');
  const head = headBytes(second);
  if (end - at < head) return -1;
  if (head === 2) return head + second;
  return head + (head === 4 ? bytes.readUInt16BE(at + 2) : Number(bytes.readBigUInt64BE(at + 2)));
}

function headBytes(second: number): number {
  return second < 126 ? 2 : second === 126 ? 4 : HEAD_MAX_BYTES;
}
