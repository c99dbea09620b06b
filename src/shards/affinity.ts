import type { Trackable } from '../model/trackable.ts';

/**
 * Assignment of providers and trackables to shards. Objects connected by assignments or as parent and child belong
 * together, so one shard has every update that can move a trackable, and all its ancestors. Their affinity key is the
 * smallest trackable id among them; for an unassigned provider, its own id. The key selects a partition, the partition a
 * shard. Their number is a power of two, and 256 for a hub alone. A cluster chooses it when it is created.
 */
export const PARTITIONS = 256;
export const PARTITIONS_MAX = 4096;

/** Whether there may be that many partitions. */
export function isPartitionCount(count: number): boolean {
  return count >= PARTITIONS && count <= PARTITIONS_MAX && Number.isInteger(Math.log2(count));
}

/** Objects that a trackable is linked to. */
export interface Links {
  readonly providers: readonly string[];
  readonly parent: string | undefined;
}

/** Values that some clients send for "no parent". They must not link all their trackables. */
const NO_PARENT: readonly unknown[] = [undefined, null, '', '00000000-0000-0000-0000-000000000000'];

/** Returns the links of a trackable. */
export function linksOf({ location_providers: providers, parent }: Trackable): Links {
  return { providers: providers ?? [], parent: NO_PARENT.includes(parent) ? undefined : (parent ?? undefined) };
}

/** Linked objects, by kind and id. A parent may not exist. */
export interface Component {
  readonly providers: ReadonlySet<string>;
  readonly trackables: ReadonlySet<string>;
}

/** Returns the partition of an affinity key in a hub alone. */
export function partitionOf(key: string): number {
  return hashOf(key) % PARTITIONS;
}

/** Returns the hash of an affinity key: FNV-1a with 32 bits over its UTF-8 bytes. Its partition is that modulo their number. */
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
 * Graph of links with the affinity key of every object in it. Keys are stored, not computed on demand: each is needed
 * once per object, and a component may be large.
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
    // Every object linked to a changed trackable, before or now, is linked to one of these now.
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
    // Iteration over a set includes the elements added during the loop.
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
        // An unlinked object is its own key.
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
