import { idKey } from '../model/id.ts';
import type { LocationProvider } from '../model/provider.ts';

/** Providers that a location has announced and whose creation still waits for its turn: they are visible already. */
export class PendingProviders {
  readonly #rows = new Map<string, { readonly provider: LocationProvider; readonly created: Promise<void> }>();

  get size(): number {
    return this.#rows.size;
  }

  get(id: string): LocationProvider | undefined {
    return this.#rows.get(idKey(id))?.provider;
  }

  list(): LocationProvider[] {
    return Array.from(this.#rows.values(), (row) => row.provider);
  }

  /** Settles when the provider is created; undefined when nobody has announced it. */
  created(id: string): Promise<void> | undefined {
    return this.#rows.get(idKey(id))?.created;
  }

  /** The provider stays announced until its turn has come (`forget`) or `created` is settled, as it is when refused. */
  add(provider: LocationProvider, created: Promise<void>): void {
    const key = idKey(provider.id);
    const row = { provider, created };
    this.#rows.set(key, row);
    const settled = () => {
      if (this.#rows.get(key) === row) this.#rows.delete(key);
    };
    created.then(settled, settled);
  }

  forget(id: string): void {
    this.#rows.delete(idKey(id));
  }
}
