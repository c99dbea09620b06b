import { dequal } from 'dequal';
import type { ObjectIds } from '../../core/item.ts';
import type { ObjectKind } from '../../model/id.ts';
import type { Trackable } from '../../model/trackable.ts';
import { Affinity, hashOf, type Links, linksOf, PARTITIONS } from '../../shards/affinity.ts';
import type { PartitionMap } from '../membership/partition_map.ts';
import type { ObjectMove } from './config_record.ts';

/** Change of an entity of any kind in a record: its JSON, or null if it is deleted. */
interface ChangedText {
  readonly kind: string;
  readonly id: string;
  readonly text: string | null;
}

/** An object whose partition changes. */
export interface Repartitioned {
  readonly kind: ObjectKind;
  readonly id: string;
  readonly from: number;
  readonly to: number;
}

/** Selection of objects. */
export interface ObjectsWanted {
  readonly partitions: ReadonlySet<number>;
  /** All objects that are configured, or have a location. */
  readonly known: ObjectIds;
  /** Migrating objects, which still count as in their old partitions. */
  readonly migrating: readonly { readonly objects: readonly ObjectMove[] }[];
  /** Includes objects that later records have deleted; none when left out. */
  readonly behind?: number | undefined;
  /** Providers that may be among them without being in `known`. */
  readonly located?: Iterable<string> | undefined;
}

/** An object that a record has deleted. */
interface Deleted {
  readonly sequence: number;
  readonly kind: ObjectKind;
  readonly id: string;
  readonly partition: number;
  readonly atMs: number;
}

/** Time that the partition of a deleted object is remembered: no owner stays without a successor for longer. */
const DELETED_MS = 60_000;

interface ChangedLinks {
  readonly id: string;
  readonly links: Links | undefined;
}

/**
 * Partitions of all objects, by the applied configuration: objects that are connected by assignments, or as parent and child,
 * share a partition (shards/affinity.ts). All hubs apply the same records, so they agree. Partitions of recently deleted
 * objects are remembered, because a successor may not have evaluated the deletion yet.
 */
export class ObjectPartitions {
  readonly #affinity = new Affinity();
  /** Number of partitions; it matters only once a map assigns them, and never changes from then on. */
  #count = PARTITIONS;
  /** In the order of the records. */
  readonly #deleted: Deleted[] = [];

  partitionOf(kind: ObjectKind, id: string): number {
    if (kind === 'provider') return this.#affinity.partitionOfProvider(id, this.#count);
    return this.#affinity.partitionOfTrackable(id, this.#count);
  }

  /** Partition of something that is linked to no object. */
  partitionOfKey(key: string): number {
    return hashOf(key) % this.#count;
  }

  /** Follows the map, which has the number of partitions. */
  follow(map: PartitionMap | undefined): void {
    if (map !== undefined) this.#count = map.owners.length;
  }

  /** Applies the changes of a record. Returns the objects whose partition has changed, except deleted ones. */
  apply(changes: Iterable<ChangedText>): readonly Repartitioned[] {
    const changed = changedLinks(changes).filter(({ id, links }) => !dequal(links, this.#affinity.linksOf(id)));
    if (changed.length === 0) return [];
    const before = changed.map(({ id }): ChangedLinks => ({ id, links: this.#affinity.linksOf(id) }));
    const now = this.#partitionsOfAll(changed);
    // The previous partitions are those after a rollback: keys follow from links alone.
    const then = this.#partitionsOfAll(before);
    this.#affinity.change(changed);
    const deleted = new Set(changed.flatMap(({ id, links }) => (links === undefined ? [`trackable ${id}`] : [])));
    return [...now].flatMap(([key, { kind, id, partition: to }]) => {
      const from = then.get(key)?.partition ?? to;
      return from === to || deleted.has(key) ? [] : [{ kind, id, from, to }];
    });
  }

  /** Objects whose partition would change with these changes, except deleted ones. */
  preview(changes: Iterable<ChangedText>): readonly Repartitioned[] {
    const all = [...changes];
    const before = changedLinks(all).map(({ id }): ChangedLinks => ({ id, links: this.#affinity.linksOf(id) }));
    const found = this.apply(all);
    this.#affinity.change(before.toReversed());
    return found;
  }

  /** Remembers the partitions of objects that a record is about to delete. */
  noteDeleted(
    changes: Iterable<ChangedText>,
    { sequence, nowMs }: { readonly sequence: number; readonly nowMs: number },
  ): void {
    const firstKept = this.#deleted.findIndex(({ atMs }) => atMs > nowMs - DELETED_MS);
    if (firstKept !== 0) this.#deleted.splice(0, firstKept < 0 ? this.#deleted.length : firstKept);
    for (const { kind, id, text } of changes) {
      if (text !== null || (kind !== 'provider' && kind !== 'trackable')) continue;
      this.#deleted.push({ sequence, kind, id, partition: this.partitionOf(kind, id), atMs: nowMs });
    }
  }

  /** All objects of some partitions, those migrating away from there, and those deleted there. */
  objectsIn({ partitions, known, migrating, behind, located = [] }: ObjectsWanted): ObjectIds {
    const from = new Map<string, number>();
    for (const { objects } of migrating) {
      for (const [kind, id, partition] of objects) if (!from.has(`${kind} ${id}`)) from.set(`${kind} ${id}`, partition);
    }
    const isIn = (kind: ObjectKind, id: string): boolean => {
      const comesFrom = from.size === 0 ? undefined : from.get(`${kind} ${id}`);
      return partitions.has(comesFrom ?? this.partitionOf(kind, id));
    };
    const providers = [...known.providers, ...located].filter((id) => isIn('provider', id));
    const trackables = known.trackables.filter((id) => isIn('trackable', id));
    const deleted = this.#deletedIn(partitions, ({ sequence }) => sequence > (behind ?? Number.POSITIVE_INFINITY));
    return {
      providers: [...new Set([...providers, ...deleted.providers])],
      trackables: [...new Set([...trackables, ...deleted.trackables])],
    };
  }

  /** Objects that were deleted in some partitions and do not exist now. `known`: all objects that do. */
  deletedIn(partitions: ReadonlySet<number>, known: ObjectIds): ObjectIds {
    const exists = { provider: new Set(known.providers), trackable: new Set(known.trackables) };
    return this.#deletedIn(partitions, ({ kind, id }) => !exists[kind].has(id));
  }

  #deletedIn(partitions: ReadonlySet<number>, isMeant: (deleted: Deleted) => boolean): ObjectIds {
    const found = this.#deleted.filter((each) => partitions.has(each.partition) && isMeant(each));
    const idsOf = (wanted: ObjectKind): string[] => [
      ...new Set(found.flatMap(({ kind, id }) => (kind === wanted ? [id] : []))),
    ];
    return { providers: idsOf('provider'), trackables: idsOf('trackable') };
  }

  /** Changes links, and returns the resulting partitions of all objects that may have moved. */
  #partitionsOfAll(changed: readonly ChangedLinks[]) {
    const found = new Map<string, { readonly kind: ObjectKind; readonly id: string; readonly partition: number }>();
    for (const { providers, trackables } of this.#affinity.change(changed)) {
      const note = (kind: ObjectKind, id: string): void => {
        found.set(`${kind} ${id}`, { kind, id, partition: this.partitionOf(kind, id) });
      };
      for (const id of providers) note('provider', id);
      for (const id of trackables) note('trackable', id);
    }
    return found;
  }
}

/** Last change of each trackable. */
function changedLinks(changes: Iterable<ChangedText>): readonly ChangedLinks[] {
  const last = new Map<string, string | null>();
  for (const { kind, id, text } of changes) if (kind === 'trackable') last.set(id, text);
  return Array.from(last, ([id, text]) => {
    return { id, links: text === null ? undefined : linksOf(JSON.parse(text) as Trackable) };
  });
}
