import type { Item } from '../core/item.ts';
import type { LocatingRule } from '../model/rule.ts';
import type { Variant } from '../model/topics.ts';

type Entity = Item & { kind: 'zone' | 'fence' | 'trackable' | 'provider' };

/**
 * What one shard has been told about entities, up to its last finished batch. A new worker in the place of a crashed
 * one is told the same, and then gets the unfinished batch once more.
 */
export class Told {
  readonly #entities = {
    zone: new Map<string, Entity>(),
    fence: new Map<string, Entity>(),
    provider: new Map<string, Entity>(),
    trackable: new Map<string, Entity>(),
  };
  #rules: readonly LocatingRule[] = [];
  #variants: readonly Variant[] = [];
  #holdMs = 0;

  /** Takes note of the items of a finished batch. */
  note(items: readonly Item[]): void {
    for (const item of items) this.#noteOne(item);
  }

  /** Whether the shard has an object that rows may be kept of. */
  has(kind: 'provider' | 'trackable', id: string): boolean {
    return this.#entities[kind].has(id);
  }

  /** Until when overdue exits of restored objects wait. */
  get holdMs(): number {
    return this.#holdMs;
  }

  /** The providers of a trackable. */
  providersOf(trackable: string): readonly string[] {
    const item = this.#entities.trackable.get(trackable);
    return item?.kind === 'trackable' ? (item.entity?.location_providers ?? []) : [];
  }

  /** Everything that a new worker must be told before it can go on. Trackables come before providers' locations. */
  items(receivedMs: number): Item[] {
    const again = { seq: 0, receivedMs };
    const { zone, fence, provider, trackable } = this.#entities;
    const entities = [...zone.values(), ...fence.values(), ...provider.values(), ...trackable.values()];
    return [
      { ...again, kind: 'rules', rules: this.#rules },
      { ...again, kind: 'variants', variants: this.#variants },
      ...entities.map((item) => ({ ...item, ...again })),
    ];
  }

  #noteOne(item: Item): void {
    switch (item.kind) {
      case 'zone':
      case 'fence':
      case 'trackable':
      case 'provider':
        if (item.entity === undefined) this.#entities[item.kind].delete(item.id);
        else this.#entities[item.kind].set(item.id, item);
        return;
      case 'rules':
        this.#rules = item.rules;
        return;
      case 'variants':
        this.#variants = item.variants;
        return;
      case 'restore':
        this.#holdMs = item.holdMs;
        return;
      case 'release':
        for (const id of item.providers) this.#entities.provider.delete(id);
        for (const id of item.trackables) this.#entities.trackable.delete(id);
        return;
      case 'adopt':
        this.#adopt(item);
        return;
    }
  }

  #adopt({ state, seq, receivedMs }: Item & { kind: 'adopt' }): void {
    for (const kind of ['provider', 'trackable'] as const) {
      for (const { id, entity } of state[`${kind}s`] as readonly { id: string; entity: never }[]) {
        if (entity !== undefined) this.#entities[kind].set(id, { kind, id, entity, seq, receivedMs });
      }
    }
  }
}
