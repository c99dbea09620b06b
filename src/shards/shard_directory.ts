import { type ObjectIds, queriedObject, type Query } from '../core/item.ts';
import type { ObjectKind } from '../model/id.ts';
import type { Trackable } from '../model/trackable.ts';
import { Affinity, linksOf } from './affinity.ts';

/** Objects that must move from one shard to another. */
export interface Rebalance {
  readonly from: number;
  readonly to: number;
  readonly providers: string[];
  readonly trackables: string[];
}

/** Assignment of providers and trackables to shards. */
export class ShardDirectory {
  readonly #shards: number;
  readonly #affinity = new Affinity();
  /** Number of objects that have moved or were deleted. */
  #changes = 0;
  readonly #directory = { providers: new Map<string, number>(), trackables: new Map<string, number>() };

  constructor(shards: number) {
    this.#shards = shards;
  }

  /** Counter of objects that have moved to another shard or were deleted. */
  get changes(): number {
    return this.#changes;
  }

  ofProvider(id: string): number {
    if (this.#shards === 1) return 0;
    let home = this.#directory.providers.get(id);
    if (home === undefined) {
      home = this.#affinity.partitionOfProvider(id) % this.#shards;
      this.#directory.providers.set(id, home);
    }
    return home;
  }

  ofTrackable(id: string): number {
    if (this.#shards === 1) return 0;
    let home = this.#directory.trackables.get(id);
    if (home === undefined) {
      home = this.#affinity.partitionOfTrackable(id) % this.#shards;
      this.#directory.trackables.set(id, home);
    }
    return home;
  }

  of(kind: ObjectKind, id: string): number {
    return kind === 'provider' ? this.ofProvider(id) : this.ofTrackable(id);
  }

  /** Returns the objects of each shard. */
  split({ providers, trackables }: ObjectIds): readonly ObjectIds[] {
    const own = Array.from({ length: this.#shards }, () => ({ providers: [] as string[], trackables: [] as string[] }));
    for (const id of providers) own[this.ofProvider(id)]?.providers.push(id);
    for (const id of trackables) own[this.ofTrackable(id)]?.trackables.push(id);
    return own;
  }

  /** Returns the shards in which deleted objects must be gone before they may be created again in another shard. */
  ofDeleted(deleted: readonly { readonly kind: ObjectKind; readonly id: string }[]): readonly number[] {
    if (this.#shards === 1) return [];
    return [...new Set(deleted.map(({ kind, id }) => this.of(kind, id)))];
  }

  /** Returns the shards that answer a query: the shard of the queried object, or all. */
  shardsFor(query: Query): readonly number[] {
    const object = queriedObject(query);
    if (object === undefined) return Array.from({ length: this.#shards }, (_, shard) => shard);
    return [this.of(object.kind, object.id)];
  }

  /** Handles the deletion of an object. */
  forget(kind: ObjectKind, id: string): void {
    this.#directory[`${kind}s`].delete(id);
    this.#changes++;
  }

  /**
   * Applies changed trackables, undefined for deleted ones, which are forgotten before. Returns the objects that must
   * move, and records them as moved.
   */
  assign(changes: readonly { readonly id: string; readonly entity: Trackable | undefined }[]): readonly Rebalance[] {
    if (this.#shards === 1 || changes.length === 0) return [];
    const moves = new Map<string, Rebalance>();
    const links = changes.map(({ id, entity }) => ({ id, links: entity && linksOf(entity) }));
    for (const { providers, trackables } of this.#affinity.change(links)) {
      for (const id of providers) this.#rehome('providers', id, moves);
      for (const id of trackables) this.#rehome('trackables', id, moves);
    }
    return [...moves.values()];
  }

  #rehome(kind: 'providers' | 'trackables', id: string, moves: Map<string, Rebalance>): void {
    const directory = this.#directory[kind];
    const from = directory.get(id);
    if (from === undefined) return;
    const affinity = this.#affinity;
    const partition = kind === 'providers' ? affinity.partitionOfProvider(id) : affinity.partitionOfTrackable(id);
    const to = partition % this.#shards;
    if (to === from) return;
    const route = `${from}>${to}`;
    const move = moves.get(route) ?? { from, to, providers: [], trackables: [] };
    move[kind].push(id);
    moves.set(route, move);
    directory.set(id, to);
    this.#changes++;
  }
}
