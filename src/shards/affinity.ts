import type { Trackable } from '../model/trackable.ts';

/**
 * Number of partitions, which assign objects to shards. Objects connected by assignments or as parent and child belong
 * to the same shard, so that one shard receives every update that can move a trackable, and has all its ancestors.
 * Their affinity key is the smallest trackable id among them; for an unassigned provider, its own id. The key selects a
 * partition, and the partition a shard. The number of partitions is a power of two: 256 for a single hub; a cluster
 * chooses it when it is created.
 */
export const PARTITIONS = 256;
export const PARTITIONS_MAX = 4096;

/** Whether `count` is a valid number of partitions. */
export function isPartitionCount(count: number): boolean {
  return count >= PARTITIONS && count <= PARTITIONS_MAX && Number.isInteger(Math.log2(count));
}

/** Objects to which a trackable is linked. */
export interface Links {
  readonly providers: readonly string[];
  readonly parent: string | undefined;
}

/** Values that some clients send for "no parent". They must not link all of these trackables. */
const NO_PARENT: readonly unknown[] = [undefined, null, '', '00000000-0000-0000-0000-000000000000'];

/** Returns the links of a trackable. */
export function linksOf({ location_providers: providers, parent }: Trackable): Links {
  return { providers: providers ?? [], parent: NO_PARENT.includes(parent) ? undefined : (parent ?? undefined) };
}

/** Linked objects. A parent may not exist. */
export interface Component {
  readonly providers: ReadonlySet<string>;
  readonly trackables: ReadonlySet<string>;
}

/** Returns the partition of an affinity key in a single hub. */
export function partitionOf(key: string): number {
  return hashOf(key) % PARTITIONS;
}

/**
 * Returns the hash of an affinity key: 32-bit FNV-1a of its UTF-8 bytes. The partition is the hash modulo the number of
 * partitions.
 */
export function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) {
    const code = key.charCodeAt(i);
    if (code > 0x7f) return hashOfBytes(new TextEncoder().encode(key));
    hash = Math.imul(hash ^ code, 0x01000193);
  }
  return hash >>> 0;
}

function hashOfBytes(bytes: Uint8Array): number {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return hash >>> 0;
}

const UNLINKED: Links = { providers: [], parent: undefined };

/**
 * Graph of links between objects, with the affinity key of each. Keys are stored rather than computed on demand: each
 * object needs its key, and a component may be large.
 */
export class Affinity {
  readonly #links = new Map<string, Links>();
  readonly #trackablesOf = new Map<string, Set<string>>();
  readonly #childrenOf = new Map<string, Set<string>>();
  readonly #keys = { providers: new Map<string, string>(), trackables: new Map<string, string>() };

  /**
   * Applies changed links of trackables, undefined for a deleted one. Returns the components of every object whose key
   * may have changed.
   */
  change(changes: readonly { readonly id: string; readonly links: Links | undefined }[]): readonly Component[] {
    // Any object whose component has changed is still connected to one of these.
    const touched = { providers: new Set<string>(), trackables: new Set<string>() };
    for (const { id, links } of changes) {
      touched.trackables.add(id);
      for (const { providers, parent } of [this.#links.get(id) ?? UNLINKED, links ?? UNLINKED]) {
        for (const provider of providers) touched.providers.add(provider);
        if (parent !== undefined) touched.trackables.add(parent);
      }
      this.#link(id, links);
    }
    const seen = { providers: new Set<string>(), trackables: new Set<string>() };
    const components: Component[] = [];
    const collect = (component: Component): void => {
      for (const id of component.providers) seen.providers.add(id);
      for (const id of component.trackables) seen.trackables.add(id);
      this.#storeKey(component);
      components.push(component);
    };
    for (const id of touched.trackables) if (!seen.trackables.has(id)) collect(this.#connected([], [id]));
    for (const id of touched.providers) if (!seen.providers.has(id)) collect(this.#connected([id], []));
    return components;
  }

  /** Returns the links of a trackable; undefined if there is no such trackable. */
  linksOf(id: string): Links | undefined {
    return this.#links.get(id);
  }

  partitionOfProvider(id: string, count = PARTITIONS): number {
    return hashOf(this.#keys.providers.get(id) ?? id) % count;
  }

  partitionOfTrackable(id: string, count = PARTITIONS): number {
    return hashOf(this.#keys.trackables.get(id) ?? id) % count;
  }

  #link(id: string, links: Links | undefined): void {
    const before = this.#links.get(id) ?? UNLINKED;
    for (const provider of before.providers) removeFrom(this.#trackablesOf, provider, id);
    if (before.parent !== undefined) removeFrom(this.#childrenOf, before.parent, id);
    if (links === undefined) {
      this.#links.delete(id);
      return;
    }
    this.#links.set(id, links);
    for (const provider of links.providers) addTo(this.#trackablesOf, provider, id);
    if (links.parent !== undefined) addTo(this.#childrenOf, links.parent, id);
  }

  /** Returns all objects connected with the given ones, including these. */
  #connected(fromProviders: readonly string[], fromTrackables: readonly string[]): Component {
    const providers = new Set(fromProviders);
    const trackables = new Set(fromTrackables);
    for (const provider of providers) for (const id of this.#trackablesOf.get(provider) ?? []) trackables.add(id);
    // The iteration includes elements that are added to the set during the loop.
    for (const id of trackables) {
      const links = this.#links.get(id) ?? UNLINKED;
      for (const provider of links.providers) {
        if (providers.has(provider)) continue;
        providers.add(provider);
        for (const other of this.#trackablesOf.get(provider) ?? []) trackables.add(other);
      }
      if (links.parent !== undefined) trackables.add(links.parent);
      for (const child of this.#childrenOf.get(id) ?? []) trackables.add(child);
    }
    return { providers, trackables };
  }

  #storeKey({ providers, trackables }: Component): void {
    let key: string | undefined;
    for (const id of trackables) if (key === undefined || id < key) key = id;
    const isLinked = providers.size + trackables.size > 1;
    for (const [ids, keys] of [
      [providers, this.#keys.providers],
      [trackables, this.#keys.trackables],
    ] as const) {
      for (const id of ids) {
        // An unlinked object has its own id as its key.
        if (isLinked && key !== undefined) keys.set(id, key);
        else keys.delete(id);
      }
    }
  }
}

function addTo(sets: Map<string, Set<string>>, key: string, id: string): void {
  const set = sets.get(key);
  if (set === undefined) sets.set(key, new Set([id]));
  else set.add(id);
}

function removeFrom(sets: Map<string, Set<string>>, key: string, id: string): void {
  const set = sets.get(key);
  set?.delete(id);
  if (set?.size === 0) sets.delete(key);
}
