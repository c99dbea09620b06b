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
 * Who has owned an object, from its hubs' own steps:
 *
 *   a step of some hub                                        the object is, from then on
 *   --------------------------------------------------------  ---------------------------
 *   takes it over                                             that hub's
 *   releases it, and it is that hub's                         nobody's
 *   is told of it, and it has been nobody's so far: that hub  that hub's
 *   owns it by the record which has made it
 *   has a location of it, and it is not that hub's            that hub's: nothing of it was there to be taken over
 */
export interface Takeover {
  /** Of the step. */
  readonly order: number;
  readonly atMs: number;
  /** Undefined where it is nobody's from then on. */
  readonly by: string | undefined;
  /** The first item that is told to the object's next owner: what comes before is known when it arrives. */
  readonly from: number;
  /** Undefined where it had no state to be taken over. */
  readonly heldUntilMs?: number;
  /** What the hub had been told of by then. */
  readonly told: ReadonlyMap<string, EntityItem>;
}

/** Objects that were always together. */
export interface Timeline {
  readonly objects: ReadonlySet<string>;
  readonly takeovers: readonly Takeover[];
}

/** The timelines of all objects of steps, which are in the order in which they were. One hub that owns everything makes one. */
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
  /** What each hub has been told of. */
  readonly #told = new Map<string, Map<string, EntityItem>>();

  constructor(objects: readonly string[], ownerAt: OwnerAt) {
    for (const object of objects) this.takeovers.set(object, []);
    this.#ownerAt = ownerAt;
  }

  read(step: KeptStep): void {
    const { incarnation, order, items, atMs } = step;
    const told = this.#told.get(incarnation) ?? new Map<string, EntityItem>();
    this.#told.set(incarnation, told);
    const arrivals = arrivalsIn(step);
    const departures = departuresIn(step);
    for (const [at, item] of items.entries()) {
      const gets = (objects: Iterable<string>, from: number, held?: { readonly heldUntilMs: number }): void => {
        const takeover = { order, atMs, by: incarnation, from, ...held, told: new Map(told) };
        for (const object of objects) this.takeovers.get(object)?.push(takeover);
      };
      const begun = this.#begunBy(item, incarnation);
      if (begun !== undefined) gets([begun], at);
      if (isEntity(item)) told.set(keyOf(item), item);
      for (const { which, heldUntilMs } of arrivals.filter((each) => each.at === at))
        gets(which, at + 1, { heldUntilMs });
      for (const { which } of departures.filter((each) => each.at === at)) {
        const left = { order, atMs, by: undefined, from: at, told: new Map() };
        for (const object of which) if (this.#ownerOf(object) === incarnation) this.takeovers.get(object)?.push(left);
      }
    }
  }

  /** The object that comes to the hub with an item although it was not taken over. */
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
