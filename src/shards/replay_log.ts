import type { Item, LastKnownRow } from '../core/item.ts';
import type { ReceivedLocation } from '../core/location/received.ts';
import { type Borrowed, lend, look } from '../model/borrowed.ts';
import type { LaneItem } from '../wire/location_record.ts';
import { unpackBatch } from '../wire/messages.ts';

const NOTHING = new Uint8Array(0);

const BUFFER_MIN_BYTES = 1 << 20;
/** Memory that is kept when there is nothing to remember any more: under load there always is. */
const BUFFER_KEPT_BYTES = 1 << 23;

/**
 * The last location of each provider that a shard has finished and may not have handed out a row of: what a worker takes
 * along when it dies, and what the next one is shown again.
 *
 * Workers rarely die. So batches are kept as the bytes that they were sent as, and are looked into only then. They lie
 * in buffers that are used again: memory that comes and goes at this rate would have all of the front thread's heap
 * searched for garbage, twice a second.
 */
export class ReplayLog {
  /** Batches from before the mark, and those since. */
  #older = new BatchBuffer();
  #newer = new BatchBuffer();
  readonly #locations = new Map<string, ReceivedLocation>();

  /**
   * Copies a batch of these items that is about to run, unless there is nothing in it to remember. One that was held
   * before and has not become a finished one is forgotten. hot
   */
  hold(batch: Borrowed, items: readonly (Item | LaneItem)[]): void {
    this.#newer.hold(items.some(matters) ? look(batch) : NOTHING);
  }

  /** The batch that is held is finished. hot */
  note(): void {
    this.#newer.keep();
  }

  /** From here on, rows of all objects are handed out that have changed so far. */
  mark(): void {
    // What an unfinished round has left waits for the next one.
    if (!this.#older.isEmpty) return;
    [this.#older, this.#newer] = [this.#newer, this.#older];
  }

  /** Those rows are all handed out. */
  dropMarked(): void {
    this.#older.clear();
  }

  /** All rows are handed out. */
  clear(): void {
    for (const buffer of [this.#older, this.#newer]) {
      buffer.clear();
      buffer.shrink();
    }
    this.#locations.clear();
  }

  /** In the order in which they came. */
  items(): ReceivedLocation[] {
    this.#look();
    return [...this.#locations.values()].sort((a, b) => a.seq - b.seq);
  }

  /** Rows with the time at which their object was heard of last, given the providers that move each trackable. */
  heardOf(rows: readonly LastKnownRow[], providersOf: (trackable: string) => readonly string[]): LastKnownRow[] {
    this.#look();
    return rows.map((row) => {
      if (row.gone === true) return row;
      const providers = row.kind === 'provider' ? [row.id] : providersOf(row.id);
      const heardMs = providers.map((id) => this.#locations.get(id)?.receivedMs ?? 0);
      return { ...row, receivedMs: Math.max(row.receivedMs, ...heardMs) };
    });
  }

  #look(): void {
    this.#locations.clear();
    for (const batch of [...this.#older.batches(), ...this.#newer.batches()]) {
      for (const item of unpackBatch(lend(batch)).items) {
        if (item.kind === 'location') this.#noteLocation(item);
        else this.#drop(item);
      }
    }
  }

  #noteLocation(item: ReceivedLocation): void {
    const { providerId: id } = item;
    const last = this.#locations.get(id);
    // An outdated one has had no effect.
    if (last === undefined || orderKeyMs(item) >= orderKeyMs(last)) this.#locations.set(id, item);
  }

  /** What has gone since, or has come with a row of its own, is not shown again. */
  #drop(item: Item): void {
    switch (item.kind) {
      case 'forget':
        this.#locations.delete(item.id);
        return;
      case 'provider':
        if (item.entity === undefined) this.#locations.delete(item.id);
        return;
      case 'exportState':
        for (const id of item.providers) this.#locations.delete(id);
        return;
      case 'importState':
        for (const { id } of item.state.providers as readonly { id: string }[]) this.#locations.delete(id);
        return;
    }
  }
}

/** Batches one after the other in memory that is kept. */
class BatchBuffer {
  #bytes = Buffer.alloc(0);
  #ends: number[] = [];
  #heldTo = 0;

  get isEmpty(): boolean {
    return this.#ends.length === 0;
  }

  hold(batch: Uint8Array): void {
    const start = this.#ends.at(-1) ?? 0;
    this.#heldTo = start + batch.length;
    if (this.#heldTo > this.#bytes.length) {
      const bytes = Buffer.allocUnsafeSlow(Math.max(2 * this.#heldTo, BUFFER_MIN_BYTES));
      this.#bytes.copy(bytes, 0, 0, start);
      this.#bytes = bytes;
    }
    this.#bytes.set(batch, start);
  }

  keep(): void {
    if (this.#heldTo > (this.#ends.at(-1) ?? 0)) this.#ends.push(this.#heldTo);
  }

  batches(): Uint8Array[] {
    return this.#ends.map((end, index) => this.#bytes.subarray(this.#ends[index - 1] ?? 0, end));
  }

  clear(): void {
    this.#ends = [];
  }

  /** Lets go of an empty room that is large. */
  shrink(): void {
    if (this.#bytes.length > BUFFER_KEPT_BYTES) this.#bytes = Buffer.alloc(0);
  }
}

/** Whether an item decides which locations are shown again. At a start there are many others, and large. */
function matters(item: Item | LaneItem): boolean {
  switch (item.kind) {
    case 'location':
    case 'locations':
    case 'forget':
    case 'exportState':
    case 'importState':
      return true;
    case 'provider':
      return item.entity === undefined;
    default:
      return false;
  }
}

function orderKeyMs({ generatedMs, receivedMs }: ReceivedLocation): number {
  return Math.min(generatedMs, receivedMs);
}
