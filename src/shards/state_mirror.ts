import type { Item, ObjectIds, StoredRow } from '../core/item.ts';
import { PackedRows } from '../core/row_bytes.ts';
import type { ObjectKind } from '../model/id.ts';
import type { LocatingRule } from '../model/rule.ts';
import type { Variant } from '../model/topics.ts';
import type { LaneItem } from '../wire/location_record.ts';

type ItemOf<K extends Item['kind']> = Item & { kind: K };
type EntityKind = 'zone' | 'fence' | 'provider' | 'trackable';

/**
 * Configuration of one shard as of its last finished batch. The replacement of a failed worker receives it, followed by
 * the unfinished batch.
 */
export class StateMirror {
  readonly #entities = {
    zone: new Map<string, ItemOf<'zone'>>(),
    fence: new Map<string, ItemOf<'fence'>>(),
    provider: new Map<string, ItemOf<'provider'>>(),
    trackable: new Map<string, ItemOf<'trackable'>>(),
  };
  /** Located providers without an entity, because it is not created yet or could not be created. */
  readonly #newProviders = new Set<string>();
  /** Objects released to another hub, whose rows stored by this hub are out of date. */
  readonly #released = { provider: new Set<string>(), trackable: new Set<string>() };
  /** Objects adopted from another hub. */
  readonly #adopted = { provider: new Set<string>(), trackable: new Set<string>() };
  #rules: readonly LocatingRule[] = [];
  #variants: readonly Variant[] = [];
  #suppressUntilMs = 0;

  /** Applies the items of a finished batch. hot */
  apply(items: readonly LaneItem[]): void {
    for (const item of items) this.#applyOne(item);
  }

  /** Whether the shard has an object whose stored rows are valid. */
  has(kind: ObjectKind, id: string): boolean {
    if (this.#released[kind].has(id)) return false;
    return this.#entities[kind].has(id) || (kind === 'provider' && this.#newProviders.has(id));
  }

  /** Whether the shard has adopted an object from another hub, even if the log does not contain the arrival yet. */
  hasAdopted(kind: ObjectKind, id: string): boolean {
    return this.#adopted[kind].has(id);
  }

  get rules(): readonly LocatingRule[] {
    return this.#rules;
  }

  get variants(): readonly Variant[] {
    return this.#variants;
  }

  /** Time until which overdue exits of restored objects wait. */
  get suppressUntilMs(): number {
    return this.#suppressUntilMs;
  }

  /** Returns all entities, in the order in which a new worker must receive them. */
  entities(): ItemOf<EntityKind>[] {
    const { zone, fence, provider, trackable } = this.#entities;
    return [...zone.values(), ...fence.values(), ...provider.values(), ...trackable.values()];
  }

  #applyOne(item: LaneItem): void {
    switch (item.kind) {
      case 'locations':
        for (const id of item.newProviders) this.#addProvider(id);
        return;
      case 'zone':
      case 'fence':
      case 'trackable':
      case 'provider':
        this.#applyEntity(item);
        return;
      case 'rules':
        this.#rules = item.rules;
        return;
      case 'variants':
        this.#variants = item.variants;
        return;
      case 'restore':
        this.#suppressUntilMs = item.suppressUntilMs;
        this.#addProviders(item.rows);
        return;
      case 'adopt':
        this.#suppressUntilMs = item.suppressUntilMs;
        this.#addProviders(item.rows);
        if (item.takenOver !== undefined) this.#applyAdoption(item.takenOver.objects);
        return;
      case 'release':
        this.#applyRelease(item);
        this.#forgetAdopted(item);
        return;
      case 'exportState':
        for (const id of item.providers) this.#entities.provider.delete(id);
        for (const id of item.providers) this.#newProviders.delete(id);
        for (const id of item.trackables) this.#entities.trackable.delete(id);
        this.#clearReleased(item);
        this.#forgetAdopted(item);
        return;
      case 'importState':
        this.#applyImport(item);
        return;
    }
  }

  /**
   * Marks released objects. Objects without state here are skipped: they have no rows here, and if one is created here
   * later, nothing would clear the mark.
   */
  #applyRelease({ providers, trackables }: ObjectIds): void {
    for (const id of providers) if (this.has('provider', id)) this.#released.provider.add(id);
    for (const id of trackables) if (this.has('trackable', id)) this.#released.trackable.add(id);
  }

  #applyAdoption({ providers, trackables }: ObjectIds): void {
    for (const id of providers) this.#addProvider(id);
    this.#clearReleased({ providers, trackables });
    for (const id of providers) this.#adopted.provider.add(id);
    for (const id of trackables) this.#adopted.trackable.add(id);
  }

  #forgetAdopted({ providers, trackables }: ObjectIds): void {
    for (const id of providers) this.#adopted.provider.delete(id);
    for (const id of trackables) this.#adopted.trackable.delete(id);
  }

  /** Clears the marks of objects whose stored rows are valid again. */
  #clearReleased({ providers, trackables }: ObjectIds): void {
    for (const id of providers) this.#released.provider.delete(id);
    for (const id of trackables) this.#released.trackable.delete(id);
  }

  /** Records a provider that was located, unless it has an entity. */
  #addProvider(id: string): void {
    if (!this.#entities.provider.has(id)) this.#newProviders.add(id);
  }

  #addProviders(rows: Iterable<Pick<StoredRow, 'kind' | 'id'>>): void {
    const heads = rows instanceof PackedRows ? rows.heads() : rows;
    for (const { kind, id } of heads) if (kind === 'provider') this.#addProvider(id);
  }

  #applyEntity<K extends EntityKind>(item: ItemOf<K>): void {
    const entities = this.#entities[item.kind] as Map<string, ItemOf<K>>;
    if (item.kind === 'provider') this.#newProviders.delete(item.id);
    if (item.entity !== undefined) {
      entities.set(item.id, item);
      return;
    }
    entities.delete(item.id);
    const { kind } = item as ItemOf<EntityKind>;
    if (kind !== 'provider' && kind !== 'trackable') return;
    this.#released[kind].delete(item.id);
    this.#adopted[kind].delete(item.id);
  }

  #applyImport({ state, seq, receivedMs }: ItemOf<'importState'>): void {
    for (const kind of ['provider', 'trackable'] as const) {
      for (const { id, entity } of state[`${kind}s`] as readonly { id: string; entity: object | undefined }[]) {
        this.#released[kind].delete(id);
        if (entity !== undefined) this.#applyEntity({ kind, id, entity, seq, receivedMs } as ItemOf<typeof kind>);
        else this.#addProvider(id);
      }
    }
  }
}
