// hot: run for each chunk that the network brings
/**
 * Splits the bytes that Tile38 sends to a subscriber into messages. These are arrays of strings: `pmessage`, the
 * pattern, the channel and the event; or, once for each subscription, `psubscribe`, the pattern and a number. A message
 * within one chunk is passed on in place. Only a message across chunks is copied.
 */
const [LINE_FEED, DOLLAR, ASTERISK, MINUS, ZERO, NINE] = [0x0a, 0x24, 0x2a, 0x2d, 0x30, 0x39];
const EVENT_PARTS = 4;

export interface PushHandlers {
  /** An event between the offsets `from` and `to` of `bytes`, which are valid only during the call. */
  event(bytes: Buffer, from: number, to: number): void;
  /** Called when a subscription is confirmed. */
  subscribed(): void;
}

export class PushParser {
  readonly #on: PushHandlers;
  /** The beginning of an incomplete message. */
  #held: Buffer | undefined;
  /** End of the last line that was read, and the number in it. */
  #lineEnd = 0;
  #lineNumber = 0;

  constructor(on: PushHandlers) {
    this.#on = on;
  }

  /** Processes the next bytes. Throws if they are an error, or not a message of a subscription. */
  push(chunk: Buffer): void {
    const bytes = this.#held === undefined ? chunk : Buffer.concat([this.#held, chunk]);
    let at = 0;
    for (let end = this.#message(bytes, at); end > 0; end = this.#message(bytes, at)) at = end;
    this.#held = at < bytes.length ? Buffer.from(bytes.subarray(at)) : undefined;
  }

  /** Passes on the message that begins at an offset. Returns its end, or 0 if it is incomplete. */
  #message(bytes: Buffer, at: number): number {
    if (at >= bytes.length) return 0;
    if (bytes[at] !== ASTERISK) throw new Error(`Cannot subscribe: answered ${bytes.toString('latin1', at, at + 100)}`);
    if (!this.#line(bytes, at)) return 0;
    const parts = this.#lineNumber;
    let from = 0;
    let to = 0;
    let next = this.#lineEnd;
    for (let part = 0; part < parts; part++) {
      const isText = bytes[next] === DOLLAR;
      if (!this.#line(bytes, next)) return 0;
      from = this.#lineEnd;
      to = isText ? from + this.#lineNumber : from;
      next = isText ? to + 2 : to;
    }
    if (next > bytes.length) return 0;
    if (parts === EVENT_PARTS) this.#on.event(bytes, from, to);
    else this.#on.subscribed();
    return next;
  }

  /** Reads a line of one sign and a number. Returns false if it is incomplete. */
  #line(bytes: Buffer, at: number): boolean {
    let number = 0;
    for (let i = at + 1; i < bytes.length; i++) {
      const byte = bytes[i]!;
      if (byte === LINE_FEED) {
        this.#lineEnd = i + 1;
        this.#lineNumber = number;
        return true;
      }
      if (byte === MINUS) throw new Error('Cannot read what Tile38 sends: a length is negative');
      if (byte >= ZERO && byte <= NINE) number = number * 10 + byte - ZERO;
    }
    return false;
  }
}
