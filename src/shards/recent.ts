import type { Item, LastKnownRow } from '../core/item.ts';

type LocationItem = Item & { kind: 'location' };

/**
 * The last location of each provider that a shard has finished since it handed out its rows: what a worker takes along
 * when it dies, and what the next one is shown again.
 */
export class Recent {
  readonly #locations = new Map<string, LocationItem>();

  /** Takes note of the items of a finished batch. hot */
  note(items: readonly Item[]): void {
    for (const item of items) {
      if (item.kind === 'location') this.#noteLocation(item);
      else if (this.#locations.size > 0) this.#drop(item);
    }
  }

  /** All rows are handed out. */
  clear(): void {
    this.#locations.clear();
  }

  /** In the order in which they came. */
  items(): LocationItem[] {
    return [...this.#locations.values()].sort((a, b) => a.seq - b.seq);
  }

  /** Whose locations they are. */
  providers(): Iterable<string> {
    return this.#locations.keys();
  }

  /** Rows with the time at which their object was heard of last, given the providers that move each trackable. */
  heardOf(rows: readonly LastKnownRow[], providersOf: (trackable: string) => readonly string[]): LastKnownRow[] {
    return rows.map((row) => {
      if (row.gone === true) return row;
      const providers = row.kind === 'provider' ? [row.id] : providersOf(row.id);
      const heardMs = providers.map((id) => this.#locations.get(id)?.receivedMs ?? 0);
      return { ...row, receivedMs: Math.max(row.receivedMs, ...heardMs) };
    });
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
