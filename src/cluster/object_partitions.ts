import { dequal } from 'dequal';
import type { Trackable } from '../model/trackable.ts';
import { Affinity, type Links, linksOf } from '../shards/affinity.ts';
import type { ObjectKind } from './ownership.ts';

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

interface ChangedLinks {
  readonly id: string;
  readonly links: Links | undefined;
}

/**
 * The partitions of all objects, by the configuration that is applied: what is connected by assignments or as parent and
 * child belongs together (shards/affinity.ts). All hubs apply the same records, so all of them agree.
 */
export class ObjectPartitions {
  readonly #affinity = new Affinity();

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
