import { dequal } from 'dequal';
import type { ObjectIds } from '../core/item.ts';
import type { ObjectKind } from '../model/id.ts';
import type { Trackable } from '../model/trackable.ts';
import { Affinity, type Links, linksOf } from '../shards/affinity.ts';
import type { ObjectMove } from './config_record.ts';

/** What a record says of an entity, of whatever kind: its JSON, or null where it is deleted. */
interface ChangedText {
  readonly kind: string;
  readonly id: string;
  readonly text: string | null;
}

/** An object that gets another partition. */
export interface Regrouped {
  readonly kind: ObjectKind;
  readonly id: string;
  readonly from: number;
  readonly to: number;
}

/** Which objects are asked for. */
export interface ObjectsWanted {
  readonly partitions: ReadonlySet<number>;
  /** All objects that are configured, or were located. */
  readonly known: ObjectIds;
  /** What is on its way is still where it comes from. */
  readonly onTheWay: readonly { readonly objects: readonly ObjectMove[] }[];
  /** With those that records behind this one have deleted; without any when left out. */
  readonly behind?: number;
  /** Providers that may be among them, and may not be known. */
  readonly located?: Iterable<string>;
}

/** An object that a record has deleted. */
interface Deleted {
  readonly sequence: number;
  readonly kind: ObjectKind;
  readonly id: string;
  readonly partition: number;
  readonly atMs: number;
}

/** For so long it is known where an object was that is deleted: no owner is without a successor for longer. */
const DELETED_MS = 60_000;

interface ChangedLinks {
  readonly id: string;
  readonly links: Links | undefined;
}

/**
 * The partitions of all objects, by the configuration that is applied: what is connected by assignments or as parent and
 * child belongs together (shards/affinity.ts). All hubs apply the same records, so all of them agree. Of objects that were
 * deleted lately it is known where they were: whoever takes over from there has not evaluated that yet, maybe.
 */
export class ObjectPartitions {
  readonly #affinity = new Affinity();
  /** In the order of the records. */
  readonly #deleted: Deleted[] = [];

  partitionOf(kind: ObjectKind, id: string): number {
    return kind === 'provider' ? this.#affinity.partitionOfProvider(id) : this.#affinity.partitionOfTrackable(id);
  }

  /** Applies what a record has changed. Returns the objects that have another partition by now, but for deleted ones. */
  apply(changes: Iterable<ChangedText>): readonly Regrouped[] {
    const changed = changedLinks(changes).filter(({ id, links }) => !dequal(links, this.#affinity.linksOf(id)));
    if (changed.length === 0) return [];
    const before = changed.map(({ id }): ChangedLinks => ({ id, links: this.#affinity.linksOf(id) }));
    const now = this.#partitionsOfAll(changed);
    // Partitions before are those that there are when it is taken back: keys are made from links alone.
    const then = this.#partitionsOfAll(before);
    this.#affinity.change(changed);
    const deleted = new Set(changed.flatMap(({ id, links }) => (links === undefined ? [`trackable ${id}`] : [])));
    return [...now].flatMap(([key, { kind, id, partition: to }]) => {
      const from = then.get(key)?.partition ?? to;
      return from === to || deleted.has(key) ? [] : [{ kind, id, from, to }];
    });
  }

  /** The objects that would get another partition, but for deleted ones, if these changes were applied. */
  preview(changes: Iterable<ChangedText>): readonly Regrouped[] {
    const all = [...changes];
    const before = changedLinks(all).map(({ id }): ChangedLinks => ({ id, links: this.#affinity.linksOf(id) }));
    const found = this.apply(all);
    this.#affinity.change(before.toReversed());
    return found;
  }

  /** Takes note of where the objects are that a record is about to delete. */
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

  /** All objects of some partitions, those that are on their way from there to others, and those that were deleted there. */
  objectsIn({ partitions, known, onTheWay, behind, located = [] }: ObjectsWanted): ObjectIds {
    const from = new Map<string, number>();
    for (const { objects } of onTheWay) {
      for (const [kind, id, partition] of objects) if (!from.has(`${kind} ${id}`)) from.set(`${kind} ${id}`, partition);
    }
    const isIn = (kind: ObjectKind, id: string): boolean => {
      const comesFrom = from.size === 0 ? undefined : from.get(`${kind} ${id}`);
      return partitions.has(comesFrom ?? this.partitionOf(kind, id));
    };
    const deletedThere = (wanted: ObjectKind): string[] =>
      this.#deleted.flatMap(({ sequence, kind, id, partition }) => {
        const isMeant = kind === wanted && sequence > (behind ?? Number.POSITIVE_INFINITY) && partitions.has(partition);
        return isMeant ? [id] : [];
      });
    const providers = [...known.providers, ...located].filter((id) => isIn('provider', id));
    const trackables = known.trackables.filter((id) => isIn('trackable', id));
    return {
      providers: [...new Set([...providers, ...deletedThere('provider')])],
      trackables: [...new Set([...trackables, ...deletedThere('trackable')])],
    };
  }

  /** Changes links, and says where everything is then that may be elsewhere. */
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

/** The last change of each trackable. */
function changedLinks(changes: Iterable<ChangedText>): readonly ChangedLinks[] {
  const last = new Map<string, string | null>();
  for (const { kind, id, text } of changes) if (kind === 'trackable') last.set(id, text);
  return Array.from(last, ([id, text]) => {
    return { id, links: text === null ? undefined : linksOf(JSON.parse(text) as Trackable) };
  });
}
