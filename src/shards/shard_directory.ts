import { queriedObject } from '../core/item.ts';
import type { ObjectIds, Query } from '../core/item.ts';
import type { ObjectKind } from '../model/id.ts';
import type { Trackable } from '../model/trackable.ts';
import { Affinity, linksOf } from './affinity.ts';
import type { Configured } from './shard_commands.ts';

/** Objects that must move from one shard to another. */
export interface Rebalance {
  readonly from: number;
  readonly to: number;
  readonly providers: string[];
  readonly trackables: string[];
}

/** Which shard each provider and trackable lives in. */
export class ShardDirectory {
  readonly #shards: number;
  readonly #affinity = new Affinity();
  /** Objects that a shard was told of. */
  #changes = 0;
  readonly #directory = { providers: new Map<string, number>(), trackables: new Map<string, number>() };

  constructor(shards: number) {
    this.#shards = shards;
  }

  /** How often an object has got another shard, or was forgotten. */
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

  /** Shards that are to delete objects which could come back in another one. */
  ofDeleted(
    changed: readonly { readonly kind: string; readonly id: string; readonly entity: unknown }[],
  ): readonly number[] {
    const directory = new Set<number>();
    if (this.#shards === 1) return [];
    for (const { kind, id, entity } of changed) {
      if (entity !== undefined) continue;
      if (kind === 'provider') directory.add(this.ofProvider(id));
      if (kind === 'trackable') directory.add(this.ofTrackable(id));
    }
    return [...directory];
  }

  /** Who can answer a query: the home of the object that it names, or all shards. */
  asked(query: Query): readonly number[] {
    const object = queriedObject(query);
    if (object === undefined) return Array.from({ length: this.#shards }, (_, shard) => shard);
    return [object.kind === 'provider' ? this.ofProvider(object.id) : this.ofTrackable(object.id)];
  }

  /** The object is deleted. */
  forget(kind: ObjectKind, id: string): void {
    this.#directory[`${kind}s`].delete(id);
    this.#changes++;
  }

  /** Takes over changed trackables, undefined where deleted. Returns which objects must move, and counts them as moved. */
  assign(changes: readonly { readonly id: string; readonly entity: Trackable | undefined }[]): readonly Rebalance[] {
    if (this.#shards === 1 || changes.length === 0) return [];
    const deleted = new Set<string>();
    for (const { id, entity } of changes) {
      if (entity === undefined) deleted.add(id);
      else deleted.delete(id);
    }
    const moves = new Map<string, Rebalance>();
    const links = changes.map(({ id, entity }) => ({ id, links: entity && linksOf(entity) }));
    for (const { providers, trackables } of this.#affinity.change(links)) {
      for (const id of providers) this.#rehome('providers', id, moves);
      // What is to be deleted is deleted where it is.
      for (const id of trackables) if (!deleted.has(id)) this.#rehome('trackables', id, moves);
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

/** The objects that the shards may have a state of: those that are configured, and providers that were located before. */
export class KnownObjects {
  readonly #configured = { provider: new Set<string>(), trackable: new Set<string>() };
  /** Providers that were located, and are not configured. */
  readonly #heard = new Set<string>();

  /** Takes over what was changed. */
  change(commands: readonly Configured[]): void {
    for (const command of commands) {
      if (command.kind !== 'provider' && command.kind !== 'trackable') continue;
      if (command.kind === 'provider') this.#heard.delete(command.id);
      if (command.entity === undefined) this.#configured[command.kind].delete(command.id);
      else this.#configured[command.kind].add(command.id);
    }
  }

  /** Whether the shards were told of a provider, whatever they have heard of it. hot */
  isConfigured(provider: string): boolean {
    return this.#configured.provider.has(provider);
  }

  /** A provider was located that may not be configured. hot */
  heard(provider: string): void {
    if (!this.#configured.provider.has(provider)) this.#heard.add(provider);
  }

  all(): ObjectIds {
    const { provider, trackable } = this.#configured;
    return { providers: [...provider, ...this.#heard], trackables: [...trackable] };
  }
}
