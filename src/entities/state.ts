import { anchoredZone } from '../core/zone/control_points.ts';
import { followingOf } from '../core/zone/following.ts';
import type { StoredFence } from '../model/fence.ts';
import { idKey, isUnset } from '../model/id.ts';
import type { Trackable } from '../model/trackable.ts';
import type { Zone } from '../model/zone.ts';
import type { Carried, EntityMap, EntityKindName } from './entity_lookup.ts';

/** All entities, with indexes that are updated on every change. */
export class State {
  readonly #tables: { readonly [K in EntityKindName]: Table<EntityMap[K]> } = {
    zone: new Table(),
    fence: new Table(),
    trackable: new Table(),
    provider: new Table(),
    anchor: new Table(),
  };
  readonly #zonesByForeignId = new Map<string, Zone>();
  readonly #trackablesByProvider = new Backlinks<Trackable>((trackable) => trackable.location_providers ?? []);
  readonly #trackablesByParent = new Backlinks<Trackable>(parentOf);
  readonly #zonesByParent = new Backlinks<Zone>(parentOf);
  readonly #localFences = new Backlinks<StoredFence>(planeNameOf);
  #mobileZones = 0;
  readonly #zonesByAnchor = new Backlinks<Zone>((zone) => zone.anchor_ids ?? []);
  /** Zones georeferenced by their anchors. */
  readonly #placed = new WeakMap<Zone, Zone>();

  get<K extends EntityKindName>(kind: K, id: string): EntityMap[K] | undefined {
    return this.#tables[kind].get(id);
  }

  has(kind: EntityKindName, id: string): boolean {
    return this.#tables[kind].has(id);
  }

  list<K extends EntityKindName>(kind: K): EntityMap[K][] {
    return this.#tables[kind].list();
  }

  count(kind: EntityKindName): number {
    return this.#tables[kind].size;
  }

  /** Number of zones that follow an object. */
  get mobileZones(): number {
    return this.#mobileZones;
  }

  zoneByForeignId(foreignId: string): Zone | undefined {
    return this.#zonesByForeignId.get(idKey(foreignId));
  }

  /** The zone georeferenced by its anchors. */
  placed(zone: Zone): Zone {
    let placed = this.#placed.get(zone);
    if (placed === undefined) {
      placed = anchoredZone(zone, (id) => this.get('anchor', id));
      this.#placed.set(zone, placed);
    }
    return placed;
  }

  /** The zones that list the anchor, sorted by id. */
  zonesAt(anchorId: string): readonly Zone[] {
    return this.#zonesByAnchor.of(anchorId);
  }

  /** The fences whose region is given in the plane of the zone of that name, sorted by id. */
  localFences(zoneName: string): readonly StoredFence[] {
    return this.#localFences.of(zoneName);
  }

  /** Sorted by id. */
  trackablesOf(providerId: string): readonly Trackable[] {
    return this.#trackablesByProvider.of(providerId);
  }

  /** The entities whose parent is that one: trackables carry trackables and zones, zones carry zones. */
  carriedBy(kind: EntityKindName, id: string): Carried[] {
    const trackables = kind === 'trackable' ? this.#trackablesByParent.of(id) : [];
    const zones = kind === 'trackable' || kind === 'zone' ? this.#zonesByParent.of(id) : [];
    return [
      ...trackables.map((entity) => ({ kind: 'trackable' as const, entity })),
      ...zones.map((entity) => ({ kind: 'zone' as const, entity })),
    ];
  }

  /** The entities of the same kind whose parent is that one, sorted by id. */
  childrenOf(kind: 'trackable' | 'zone', id: string): readonly (Trackable | Zone)[] {
    return (kind === 'trackable' ? this.#trackablesByParent : this.#zonesByParent).of(id);
  }

  /** Adds or replaces (`after` given), or removes (undefined) an entity. */
  set<K extends EntityKindName>(kind: K, id: string, after: EntityMap[K] | undefined): Undo {
    const { before, undo } = this.#tables[kind].set(id, after);
    this.#index(kind, before, after);
    return () => {
      undo();
      this.#index(kind, after, before);
    };
  }

  #index<K extends EntityKindName>(kind: K, before: EntityMap[K] | undefined, after: EntityMap[K] | undefined): void {
    if (kind === 'trackable') {
      this.#trackablesByProvider.change(before as Trackable | undefined, after as Trackable | undefined);
      this.#trackablesByParent.change(before as Trackable | undefined, after as Trackable | undefined);
    }
    if (kind === 'fence') this.#localFences.change(before as StoredFence | undefined, after as StoredFence | undefined);
    if (kind === 'zone') {
      this.#zonesByParent.change(before as Zone | undefined, after as Zone | undefined);
      this.#zonesByAnchor.change(before as Zone | undefined, after as Zone | undefined);
      this.#indexForeignId(before as Zone | undefined, after as Zone | undefined);
      this.#mobileZones += mobility(after as Zone | undefined) - mobility(before as Zone | undefined);
    }
    if (kind === 'anchor') for (const zone of this.zonesAt((after ?? before)?.id ?? '')) this.#placed.delete(zone);
  }

  #indexForeignId(before: Zone | undefined, after: Zone | undefined): void {
    const [old, current] = [before, after].map((zone) => zone?.foreign_id && idKey(zone.foreign_id));
    // Old data may contain a UUID twice, in different cases.
    if (old && this.#zonesByForeignId.get(old)?.id === before?.id) this.#zonesByForeignId.delete(old);
    if (current && after) this.#zonesByForeignId.set(current, after);
  }
}

function parentOf({ parent }: { readonly parent?: string | null }): readonly string[] {
  return isUnset(parent) ? [] : [parent];
}

function planeNameOf({ crs, zone_id: name }: StoredFence): readonly string[] {
  return crs !== 'local' || isUnset(name) ? [] : [name];
}

function mobility(zone: Zone | undefined): number {
  return zone !== undefined && followingOf(zone) !== undefined ? 1 : 0;
}

/** Reverts one change. Changes are reverted in reverse order. */
type Undo = () => void;

/** Entities by id, in the order of their creation, which the revert of a deletion restores. */
class Table<T extends { readonly id: string }> {
  #rows = new Map<string, { readonly place: number; readonly entity: T }>();
  #nextPlace = 0;
  #inOrder = true;

  get size(): number {
    return this.#rows.size;
  }

  get(id: string): T | undefined {
    return this.#rows.get(idKey(id))?.entity;
  }

  has(id: string): boolean {
    return this.#rows.has(idKey(id));
  }

  /** In the order of creation. */
  list(): T[] {
    if (!this.#inOrder) {
      this.#rows = new Map([...this.#rows].sort(([, a], [, b]) => a.place - b.place));
      this.#inOrder = true;
    }
    return Array.from(this.#rows.values(), (row) => row.entity);
  }

  /** Adds or replaces (`after` given), or removes (undefined) the entity with that id. */
  set(id: string, after: T | undefined): { readonly before: T | undefined; readonly undo: Undo } {
    const key = idKey(id);
    const before = this.#rows.get(key);
    if (after === undefined) this.#rows.delete(key);
    else this.#rows.set(key, { place: before?.place ?? this.#nextPlace++, entity: after });
    const undo = (): void => {
      if (before === undefined) {
        this.#rows.delete(key);
        return;
      }
      if (!this.#rows.has(key)) this.#inOrder = false;
      this.#rows.set(key, before);
    };
    return { before: before?.entity, undo };
  }
}

/** Reverse index of references: trackables by provider, children by parent. */
class Backlinks<T extends { readonly id: string }> {
  readonly #linksOf: (entity: T) => readonly string[];
  readonly #sources = new Map<string, readonly T[]>();

  constructor(linksOf: (entity: T) => readonly string[]) {
    this.#linksOf = linksOf;
  }

  /**
   * The entities that reference the id, sorted by their own id. Later changes replace the array and never modify it.
   */
  of(id: string): readonly T[] {
    return this.#sources.get(idKey(id)) ?? NONE;
  }

  /** Creation (no `before`), replacement, or removal (no `after`) of an entity. */
  change(before: T | undefined, after: T | undefined): void {
    if (before !== undefined) for (const id of this.#linksOf(before)) this.#remove(idKey(id), before);
    if (after !== undefined) for (const id of this.#linksOf(after)) this.#add(idKey(id), after);
  }

  #add(key: string, entity: T): void {
    const sources = this.#sources.get(key);
    this.#sources.set(key, sources?.toSpliced(placeOf(sources, entity.id), 0, entity) ?? [entity]);
  }

  #remove(key: string, entity: T): void {
    const sources = this.#sources.get(key) ?? NONE;
    const place = placeOf(sources, entity.id);
    if (sources[place]?.id !== entity.id) return;
    if (sources.length === 1) this.#sources.delete(key);
    else this.#sources.set(key, sources.toSpliced(place, 1));
  }
}

const NONE: readonly never[] = [];

/** First index whose id is not less than the given one. */
function placeOf(sorted: readonly { readonly id: string }[], id: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle]?.id ?? '') < id) low = middle + 1;
    else high = middle;
  }
  return low;
}
