import { idKey } from '../model/id.ts';
import type { LocationProvider } from '../model/provider.ts';

interface Row {
  readonly provider: LocationProvider;
  readonly created: Promise<void>;
  /** Whether its creation has run; it may still be rolled back. */
  isCreated: boolean;
}

/** Providers of locations whose creation is still queued: they are already visible. */
export class PendingProviders {
  readonly #rows = new Map<string, Row>();

  /** Upper bound of their number. */
  get size(): number {
    return this.#rows.size;
  }

  get(id: string): LocationProvider | undefined {
    return this.#row(id)?.provider;
  }

  list(): LocationProvider[] {
    return [...this.#rows.values()].filter((row) => !row.isCreated).map((row) => row.provider);
  }

  /** Settles when the provider is created; undefined if it is not pending. */
  created(id: string): Promise<void> | undefined {
    return this.#row(id)?.created;
  }

  /** The provider stays pending until its creation runs (`forget`) or `created` settles, as it does on rejection. */
  add(provider: LocationProvider, created: Promise<void>): void {
    const key = idKey(provider.id);
    const row = { provider, created, isCreated: false };
    this.#rows.set(key, row);
    const settled = () => {
      if (this.#rows.get(key) === row) this.#rows.delete(key);
    };
    created.then(settled, settled);
  }

  /** The creation of exactly that provider has run, not of another one added later under its id. */
  forget(provider: LocationProvider): void {
    const row = this.#rows.get(idKey(provider.id));
    if (row?.provider === provider) row.isCreated = true;
  }

  /** Rolls back all unsettled creations. */
  takenBack(): void {
    for (const row of this.#rows.values()) row.isCreated = false;
  }

  #row(id: string): Row | undefined {
    const row = this.#rows.get(idKey(id));
    return row?.isCreated === false ? row : undefined;
  }
}
