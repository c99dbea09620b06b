interface QueuedCall {
  readonly receivedMs: number;
  readonly send: () => void;
}

/**
 * Calls in the order of their receipt. While objects are transferred between shards the calls wait; afterwards they are
 * made in order. One of them may begin the next transfer: then the rest waits again.
 */
export class TransferQueue {
  /** The transfer in progress: its time of receipt, and the calls behind it. */
  #transfer: { readonly sinceMs: number; readonly calls: QueuedCall[] } | undefined;

  /** Time of receipt of what has begun the transfer in progress; undefined if there is none. */
  get sinceMs(): number | undefined {
    return this.#transfer?.sinceMs;
  }

  /** Number of waiting calls. */
  get length(): number {
    return this.#transfer?.calls.length ?? 0;
  }

  /** Makes a call now, or after the transfer in progress. */
  call(receivedMs: number, send: () => void): void {
    if (this.#transfer === undefined) send();
    else this.#transfer.calls.push({ receivedMs, send });
  }

  /** Resolves when the calls that wait now have been made. */
  drained(nowMs: number): Promise<void> {
    return new Promise((resolve) => this.call(nowMs, resolve));
  }

  /** Lets calls wait until a transfer is complete. */
  async during(sinceMs: number, transfer: () => Promise<void>): Promise<void> {
    const calls: QueuedCall[] = [];
    this.#transfer = { sinceMs, calls };
    await transfer();
    this.#transfer = undefined;
    for (const { receivedMs, send } of calls) this.call(receivedMs, send);
  }
}
