import type { Item, ObjectIds } from '../core/item.ts';
import type { ObjectKind } from '../model/id.ts';
import type { LocatingRule } from '../model/rule.ts';
import type { Variant } from '../model/topics.ts';
import type { LaneItem } from '../wire/location_record.ts';

type Of<K extends Item['kind']> = Item & { kind: K };
type EntityKind = 'zone' | 'fence' | 'provider' | 'trackable';

/**
 * What one shard has been told about entities, up to its last finished batch. A new worker in the place of a crashed
 * one is told the same, and then gets the unfinished batch once more.
 */
export class StateMirror {
  readonly #entities = {
    zone: new Map<string, Of<'zone'>>(),
    fence: new Map<string, Of<'fence'>>(),
    provider: new Map<string, Of<'provider'>>(),
    trackable: new Map<string, Of<'trackable'>>(),
  };
  /** Providers that the shard has a location of, and no entity: it was not created yet, or could not be. */
  readonly #newProviders = new Set<string>();
  /** Objects whose state is another hub's: rows that were kept of them here are out of date. */
  readonly #released = { provider: new Set<string>(), trackable: new Set<string>() };
  /** Objects that were taken over from another hub. */
  readonly #adopted = { provider: new Set<string>(), trackable: new Set<string>() };
  #rules: readonly LocatingRule[] = [];
  #variants: readonly Variant[] = [];
  #suppressUntilMs = 0;

  /** Takes note of the items of a finished batch. hot */
  note(items: readonly LaneItem[]): void {
    for (const item of items) this.#noteOne(item);
  }

  /** Whether the shard has an object that rows may be kept of. */
  has(kind: ObjectKind, id: string): boolean {
    if (this.#released[kind].has(id)) return false;
    return this.#entities[kind].has(id) || (kind === 'provider' && this.#newProviders.has(id));
  }

  /** Whether the shard has taken over an object from another hub, even if the log does not say so yet. */
  hasAdopted(kind: ObjectKind, id: string): boolean {
    return this.#adopted[kind].has(id);
  }

  get rules(): readonly LocatingRule[] {
    return this.#rules;
  }

  get variants(): readonly Variant[] {
    return this.#variants;
  }

  /** Until when overdue exits of restored objects wait. */
  get suppressUntilMs(): number {
    return this.#suppressUntilMs;
  }

  /** All entities, in the order in which a new worker must hear of them. */
  entities(): Of<EntityKind>[] {
    const { zone, fence, provider, trackable } = this.#entities;
    return [...zone.values(), ...fence.values(), ...provider.values(), ...trackable.values()];
  }

  /** The providers of a trackable. */
  providersOf(trackable: string): readonly string[] {
    return this.#entities.trackable.get(trackable)?.entity?.location_providers ?? [];
  }

  #noteOne(item: LaneItem): void {
    switch (item.kind) {
      case 'locations':
        for (const id of item.newProviders) this.#noteProvider(id);
        return;
      case 'zone':
      case 'fence':
      case 'trackable':
      case 'provider':
        this.#noteEntity(item);
        return;
      case 'rules':
        this.#rules = item.rules;
        return;
      case 'variants':
        this.#variants = item.variants;
        return;
      case 'restore':
      case 'adopt':
        this.#suppressUntilMs = item.suppressUntilMs;
        for (const { kind, id } of item.rows) if (kind === 'provider') this.#noteProvider(id);
        if (item.kind === 'adopt' && item.takenOver !== undefined) this.#noteTakenOver(item.takenOver.objects);
        return;
      case 'release':
        this.#noteReleased(item);
        this.#forgetAdopted(item);
        return;
      case 'exportState':
        for (const id of item.providers) this.#entities.provider.delete(id);
        for (const id of item.providers) this.#newProviders.delete(id);
        for (const id of item.trackables) this.#entities.trackable.delete(id);
        this.#noteHere(item);
        this.#forgetAdopted(item);
        return;
      case 'importState':
        this.#noteImported(item);
        return;
    }
  }

  /** What the shard knows nothing of has no rows here. If it begins here later, it is not taken over: nothing would say so. */
  #noteReleased({ providers, trackables }: ObjectIds): void {
    for (const id of providers) if (this.has('provider', id)) this.#released.provider.add(id);
    for (const id of trackables) if (this.has('trackable', id)) this.#released.trackable.add(id);
  }

  #noteTakenOver({ providers, trackables }: ObjectIds): void {
    for (const id of providers) this.#noteProvider(id);
    this.#noteHere({ providers, trackables });
    for (const id of providers) this.#adopted.provider.add(id);
    for (const id of trackables) this.#adopted.trackable.add(id);
  }

  #forgetAdopted({ providers, trackables }: ObjectIds): void {
    for (const id of providers) this.#adopted.provider.delete(id);
    for (const id of trackables) this.#adopted.trackable.delete(id);
  }

  /** Rows that are kept of the objects from now on are this hub's, or there are none. */
  #noteHere({ providers, trackables }: ObjectIds): void {
    for (const id of providers) this.#released.provider.delete(id);
    for (const id of trackables) this.#released.trackable.delete(id);
  }

  /** The shard has a location of the provider, of which it may not have been told. */
  #noteProvider(id: string): void {
    if (!this.#entities.provider.has(id)) this.#newProviders.add(id);
  }

  #noteEntity<K extends EntityKind>(item: Of<K>): void {
    const entities = this.#entities[item.kind] as Map<string, Of<K>>;
    if (item.kind === 'provider') this.#newProviders.delete(item.id);
    if (item.entity !== undefined) {
      entities.set(item.id, item);
      return;
    }
    entities.delete(item.id);
    const { kind } = item as Of<EntityKind>;
    if (kind !== 'provider' && kind !== 'trackable') return;
    this.#released[kind].delete(item.id);
    this.#adopted[kind].delete(item.id);
  }

  #noteImported({ state, seq, receivedMs }: Of<'importState'>): void {
    for (const kind of ['provider', 'trackable'] as const) {
      for (const { id, entity } of state[`${kind}s`] as readonly { id: string; entity: object | undefined }[]) {
        this.#released[kind].delete(id);
        if (entity !== undefined) this.#noteEntity({ kind, id, entity, seq, receivedMs } as Of<typeof kind>);
        else this.#noteProvider(id);
      }
    }
  }
}
