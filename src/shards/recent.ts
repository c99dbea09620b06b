import { unpackBatch } from '../../workers/protocol.ts';
import type { Item, LastKnownRow } from '../core/item.ts';

type LocationItem = Item & { kind: 'location' };

/**
 * The last location of each provider that a shard has finished since it handed out its rows: what a worker takes along
 * when it dies, and what the next one is shown again.
 *
 * Workers rarely die. So batches are kept as the bytes that they were sent as, which cost no garbage collection, and
 * are looked into only then.
 */
export class Recent {
  #batches: Uint8Array[] = [];
  readonly #locations = new Map<string, LocationItem>();

  /** Takes note of a finished batch, as it was packed. hot */
  note(batch: Uint8Array): void {
    this.#batches.push(batch);
  }

  /** All rows are handed out. */
  clear(): void {
    this.#batches = [];
    this.#locations.clear();
  }

  /** In the order in which they came. */
  items(): LocationItem[] {
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
    for (const batch of this.#batches.splice(0)) {
      for (const item of unpackBatch(batch).items) {
        if (item.kind === 'location') this.#noteLocation(item);
        else this.#drop(item);
      }
    }
  }

  #noteLocation(item: LocationItem): void {
    const { provider_id: id } = item.location;
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
      case 'release':
        for (const id of item.providers) this.#locations.delete(id);
        return;
      case 'adopt':
        for (const { id } of item.state.providers as readonly { id: string }[]) this.#locations.delete(id);
        return;
    }
  }
}

function orderKeyMs({ generatedMs, receivedMs }: LocationItem): number {
  return Math.min(generatedMs, receivedMs);
}
