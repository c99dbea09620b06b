import type { Trackable } from '../model/trackable.ts';
import { Affinity } from './affinity.ts';

/** Objects that must move from one shard to another. */
export interface Move {
  readonly from: number;
  readonly to: number;
  readonly providers: string[];
  readonly trackables: string[];
}

/** Which shard each provider and trackable lives in. */
export class Homes {
  readonly #shards: number;
  readonly #affinity = new Affinity();
  readonly #homes = { providers: new Map<string, number>(), trackables: new Map<string, number>() };

  constructor(shards: number) {
    this.#shards = shards;
  }

  ofProvider(id: string): number {
    if (this.#shards === 1) return 0;
    let home = this.#homes.providers.get(id);
    if (home === undefined) {
      home = this.#affinity.partitionOfProvider(id) % this.#shards;
      this.#homes.providers.set(id, home);
    }
    return home;
  }

  ofTrackable(id: string): number {
    if (this.#shards === 1) return 0;
    let home = this.#homes.trackables.get(id);
    if (home === undefined) {
      home = this.#affinity.partitionOfTrackable(id) % this.#shards;
      this.#homes.trackables.set(id, home);
    }
    return home;
  }

  /** The object is deleted. */
  forget(kind: 'provider' | 'trackable', id: string): void {
    this.#homes[`${kind}s`].delete(id);
  }

  /** Takes over changed trackables, undefined where deleted. Returns which objects must move, and counts them as moved. */
  assign(changes: readonly { readonly id: string; readonly entity: Trackable | undefined }[]): readonly Move[] {
    if (this.#shards === 1) return [];
    const touched = { providers: new Set<string>(), trackables: new Set<string>() };
    const touch = (id: string): void => {
      const { providers, trackables } = this.#affinity.connected(id);
      for (const provider of providers) touched.providers.add(provider);
      for (const trackable of trackables) touched.trackables.add(trackable);
    };
    for (const { id, entity } of changes) {
      touch(id);
      this.#affinity.assign(id, entity && (entity.location_providers ?? []));
      touch(id);
    }
    for (const { id, entity } of changes) if (entity === undefined) touched.trackables.delete(id);
    const moves = new Map<string, Move>();
    this.#rehome('providers', touched.providers, moves);
    this.#rehome('trackables', touched.trackables, moves);
    return [...moves.values()];
  }

  #rehome(kind: 'providers' | 'trackables', ids: Iterable<string>, moves: Map<string, Move>): void {
    for (const id of ids) {
      const from = this.#homes[kind].get(id);
      if (from === undefined) continue;
      const partition =
        kind === 'providers' ? this.#affinity.partitionOfProvider(id) : this.#affinity.partitionOfTrackable(id);
      const to = partition % this.#shards;
      if (to === from) continue;
      const key = `${from}>${to}`;
      const move = moves.get(key) ?? { from, to, providers: [], trackables: [] };
      move[kind].push(id);
      moves.set(key, move);
      this.#homes[kind].set(id, to);
    }
  }
}
