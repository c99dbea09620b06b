import { idKey } from '../model/id.ts';
import type { LocationProvider } from '../model/provider.ts';

interface Row {
  readonly provider: LocationProvider;
  readonly created: Promise<void>;
  /** Its turn has come: it is created already, unless that is taken back. */
  isCreated: boolean;
}

/** Providers that a location has announced and whose creation still waits for its turn: they are visible already. */
export class PendingProviders {
  readonly #rows = new Map<string, Row>();

  /** So many there are at most. */
  get size(): number {
    return this.#rows.size;
  }

  get(id: string): LocationProvider | undefined {
    return this.#row(id)?.provider;
  }

  list(): LocationProvider[] {
    return [...this.#rows.values()].filter((row) => !row.isCreated).map((row) => row.provider);
  }

  /** Settles when the provider is created; undefined when nobody has announced it. */
  created(id: string): Promise<void> | undefined {
    return this.#row(id)?.created;
  }

  /** The provider stays announced until its turn has come (`forget`) or `created` is settled, as it is when refused. */
  add(provider: LocationProvider, created: Promise<void>): void {
    const key = idKey(provider.id);
    const row = { provider, created, isCreated: false };
    this.#rows.set(key, row);
    const settled = () => {
      if (this.#rows.get(key) === row) this.#rows.delete(key);
    };
    created.then(settled, settled);
  }

  /** The turn of that very provider has come, and not of another one that was announced under its id later. */
  forget(provider: LocationProvider): void {
    const row = this.#rows.get(idKey(provider.id));
    if (row?.provider === provider) row.isCreated = true;
  }

  /** All creations that are not settled are taken back. */
  takenBack(): void {
    for (const row of this.#rows.values()) row.isCreated = false;
  }

  #row(id: string): Row | undefined {
    const row = this.#rows.get(idKey(id));
    return row?.isCreated === false ? row : undefined;
  }
}
