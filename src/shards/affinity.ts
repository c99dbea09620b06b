/**
 * Which shard a provider or trackable belongs to. All providers and trackables that are connected by assignments
 * belong together, so that one shard sees every update that can move a trackable: their affinity key is the smallest
 * trackable id among them, of an unassigned provider its own id. The key picks one of 256 partitions, the partition
 * a shard.
 */
export const PARTITIONS = 256;

/** Objects named by kind and id. */
export interface ObjectSet {
  readonly providers: readonly string[];
  readonly trackables: readonly string[];
}

/** The partition of an affinity key: FNV-1a with 32 bits over the key's UTF-8 bytes. */
export function partitionOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) {
    const code = key.charCodeAt(i);
    if (code > 0x7f) return partitionOfBytes(new TextEncoder().encode(key));
    hash = Math.imul(hash ^ code, 0x01000193);
  }
  return (hash >>> 0) % PARTITIONS;
}

function partitionOfBytes(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return (hash >>> 0) % PARTITIONS;
}

/** The assignment graph: providers and trackables as nodes, assignments and parents as edges. */
export class Affinity {
  readonly #providersOf = new Map<string, readonly string[]>();
  readonly #trackablesOf = new Map<string, Set<string>>();

  /** Sets the providers of a trackable; undefined removes the trackable. */
  assign(trackable: string, providers: readonly string[] | undefined): void {
    for (const provider of this.#providersOf.get(trackable) ?? []) {
      const trackables = this.#trackablesOf.get(provider);
      trackables?.delete(trackable);
      if (trackables?.size === 0) this.#trackablesOf.delete(provider);
    }
    if (providers === undefined) {
      this.#providersOf.delete(trackable);
      return;
    }
    this.#providersOf.set(trackable, providers);
    for (const provider of providers) {
      const trackables = this.#trackablesOf.get(provider);
      if (trackables === undefined) this.#trackablesOf.set(provider, new Set([trackable]));
      else trackables.add(trackable);
    }
  }

  /** Partition of a provider. */
  partitionOfProvider(id: string): number {
    const trackable = this.#trackablesOf.get(id)?.values().next().value;
    return trackable === undefined ? partitionOf(id) : this.partitionOfTrackable(trackable);
  }

  /** Partition of a trackable. */
  partitionOfTrackable(id: string): number {
    return partitionOf(smallest(this.connected(id).trackables) ?? id);
  }

  /** All objects connected with a trackable, itself included. */
  connected(trackable: string): ObjectSet {
    const trackables = new Set([trackable]);
    const providers = new Set<string>();
    for (const next of trackables) {
      for (const provider of this.#providersOf.get(next) ?? []) {
        if (providers.has(provider)) continue;
        providers.add(provider);
        for (const other of this.#trackablesOf.get(provider) ?? []) trackables.add(other);
      }
    }
    return { providers: [...providers], trackables: [...trackables] };
  }
}

function smallest(ids: readonly string[]): string | undefined {
  return ids.reduce<string | undefined>((least, id) => (least === undefined || id < least ? id : least), undefined);
}
