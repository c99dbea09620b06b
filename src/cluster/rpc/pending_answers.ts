import { packValue } from '../messages/codec.ts';
import type { OwnerReply, RequestHead } from './owner_protocol.ts';

/** Bytes of a part of an answer. */
const PART_BYTES = 1 << 20;
/** Time after which a requester is notified that its answer is in progress. */
const WORKING_MS = 500;
/** Time that an answer is held for a requester that does not come back. */
const HELD_MS = 10_000;
/** Most answers that are being made or held, and their total size. */
const HELD_MAX = { answers: 10_000, bytes: 256 << 20 };

interface Held {
  readonly bytes: Promise<Uint8Array>;
  size: number;
  stopExpiry: () => void;
}

/**
 * Answers that take long, or are larger than a message, until they are fetched. Each is made once, however often it is
 * requested; requesters get `working` meanwhile, and unfetched answers expire.
 */
export class PendingAnswers {
  readonly #schedule: (delayMs: number, callback: () => void) => () => void;
  /** By ingress hub and number. */
  readonly #held = new Map<string, Held>();
  #bytes = 0;

  constructor({ schedule }: { schedule(delayMs: number, callback: () => void): () => void }) {
    this.#schedule = schedule;
  }

  /** Returns a part of an answer, which is made at its first request. Rejects if it cannot be made. */
  async reply(
    { ingress, number, part }: Pick<RequestHead, 'ingress' | 'number'> & { readonly part: number },
    make: () => Promise<unknown>,
  ): Promise<OwnerReply> {
    const key = `${ingress} ${number}`;
    let held = this.#held.get(key);
    if (held === undefined) {
      if (part > 0) return { at: 'gone' };
      if (this.#held.size >= HELD_MAX.answers || this.#bytes >= HELD_MAX.bytes) return { at: 'busy' };
      held = this.#make(key, make);
    }
    held.stopExpiry();
    held.stopExpiry = this.#schedule(HELD_MS, () => this.#drop(key));
    const bytes = await this.#inTime(held.bytes);
    if (bytes === undefined) return { at: 'working' };
    const parts = Math.max(1, Math.ceil(bytes.length / PART_BYTES));
    if (part >= parts) return { at: 'gone' };
    if (part === parts - 1) this.#drop(key);
    return { at: 'part', parts, bytes: bytes.subarray(part * PART_BYTES, (part + 1) * PART_BYTES) };
  }

  forgetIngress(ingress: string): void {
    for (const key of [...this.#held.keys()]) if (key.startsWith(`${ingress} `)) this.#drop(key);
  }

  close(): void {
    for (const key of [...this.#held.keys()]) this.#drop(key);
  }

  #make(key: string, make: () => Promise<unknown>): Held {
    const bytes = make().then(packValue);
    const held: Held = { bytes, size: 0, stopExpiry: () => undefined };
    this.#held.set(key, held);
    bytes.then(
      ({ length }) => {
        if (this.#held.get(key) !== held) return;
        held.size = length;
        this.#bytes += length;
      },
      // Pending requests fail, and may be repeated.
      () => this.#held.get(key) === held && this.#drop(key),
    );
    return held;
  }

  #drop(key: string): void {
    const held = this.#held.get(key);
    if (held === undefined) return;
    this.#held.delete(key);
    this.#bytes -= held.size;
    held.stopExpiry();
  }

  #inTime(bytes: Promise<Uint8Array>): Promise<Uint8Array | undefined> {
    return new Promise((resolve, reject) => {
      const cancel = this.#schedule(WORKING_MS, () => resolve(undefined));
      bytes.then(resolve, reject).finally(cancel);
    });
  }
}
