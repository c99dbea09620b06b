import type { Item } from '../../../src/core/item.ts';
import {
  arrivalsIn,
  departuresIn,
  type EntityItem,
  isEntity,
  isRepeated,
  type KeptStep,
  keyOf,
} from './journaled_steps.ts';
import type { OwnerAt } from './log_owners.ts';

/**
 * Change of the owner of an object, derived from the steps of all hubs:
 *
 *   step of a hub                                             owner from then on
 *   --------------------------------------------------------  ---------------------------
 *   takes over the object                                     that hub
 *   releases the object, which it owns                        none
 *   receives the entity of an object that never had an        that hub
 *   owner, and serves its partition at the record that
 *   created it
 *   contains a location of an object that it does not own     that hub: there was no state to take over
 */
export interface Takeover {
  /** Of the step. */
  readonly order: number;
  readonly atMs: number;
  /** New owner; undefined if the object is unowned from then on. */
  readonly by: string | undefined;
  /** Index of the first item that the next owner processes with the object: earlier ones precede its arrival. */
  readonly from: number;
  /** Undefined if there was no state to take over. */
  readonly heldUntilMs?: number;
  /** Entities that the hub had received until then. */
  readonly entities: ReadonlyMap<string, EntityItem>;
}

/** Objects that always had the same owner. */
export interface Timeline {
  readonly objects: ReadonlySet<string>;
  readonly takeovers: readonly Takeover[];
}

/** Timelines of all objects of the steps, which are in the order of execution. A single owner results in one timeline. */
export function timelinesOf(
  steps: readonly KeptStep[],
  objects: readonly string[],
  ownerAt: OwnerAt,
): readonly Timeline[] {
  const reader = new Reader(objects, ownerAt);
  for (const step of steps) if (!isRepeated(step)) reader.read(step);
  const keyed = [...reader.takeovers].map(([object, takeovers]) => ({
    object,
    takeovers,
    key: takeovers.map(({ order, by, from }) => `${order} ${by} ${from}`).join(),
  }));
  return [...Map.groupBy(keyed, ({ key }) => key).values()].map((group) => {
    return { objects: new Set(group.map(({ object }) => object)), takeovers: group[0]?.takeovers ?? [] };
  });
}

class Reader {
  readonly takeovers = new Map<string, Takeover[]>();
  readonly #ownerAt: OwnerAt;
  /** Entities that each hub has received. */
  readonly #entities = new Map<string, Map<string, EntityItem>>();

  constructor(objects: readonly string[], ownerAt: OwnerAt) {
    for (const object of objects) this.takeovers.set(object, []);
    this.#ownerAt = ownerAt;
  }

  read(step: KeptStep): void {
    const { incarnation, order, items, atMs } = step;
    const entities = this.#entities.get(incarnation) ?? new Map<string, EntityItem>();
    this.#entities.set(incarnation, entities);
    const arrivals = arrivalsIn(step);
    const departures = departuresIn(step);
    for (const [at, item] of items.entries()) {
      const gets = (objects: Iterable<string>, from: number, held?: { readonly heldUntilMs: number }): void => {
        const takeover = { order, atMs, by: incarnation, from, ...held, entities: new Map(entities) };
        for (const object of objects) this.takeovers.get(object)?.push(takeover);
      };
      const begun = this.#begunBy(item, incarnation);
      if (begun !== undefined) gets([begun], at);
      if (isEntity(item)) entities.set(keyOf(item), item);
      for (const { which, heldUntilMs } of arrivals.filter((each) => each.at === at))
        gets(which, at + 1, { heldUntilMs });
      for (const { which } of departures.filter((each) => each.at === at)) {
        const left = { order, atMs, by: undefined, from: at, entities: new Map() };
        for (const object of which) if (this.#ownerOf(object) === incarnation) this.takeovers.get(object)?.push(left);
      }
    }
  }

  /** Object that the hub begins to own with an item, without a takeover. */
  #begunBy(item: Item, incarnation: string): string | undefined {
    if (item.kind === 'location') return this.#ownerOf(item.providerId) === incarnation ? undefined : item.providerId;
    if ((item.kind !== 'provider' && item.kind !== 'trackable') || item.entity === undefined) return undefined;
    const { kind, id, config = 0 } = item as typeof item & { readonly config?: number };
    const isNew = this.takeovers.get(id)?.length === 0;
    return isNew && this.#ownerAt(config, kind, id) === incarnation ? id : undefined;
  }

  #ownerOf(object: string): string | undefined {
    return this.takeovers.get(object)?.at(-1)?.by;
  }
}
