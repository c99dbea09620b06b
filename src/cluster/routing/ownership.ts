import type { ObjectKind } from '../../model/id.ts';
import type { PartitionMap } from '../membership/partition_map.ts';

/**
 * Ownership of objects. It follows from the configuration log, so all hubs agree on it at the same record.
 *
 *   an object is served by            when
 *   --------------------------------  ------------------------------------------------------------------------------
 *   the owner of its partition        its state has arrived there
 *   no hub: requests wait             its partition is open: its previous owner has failed or has yet to hand it over, or
 *                                     objects are migrating to it from another one
 *
 * The partition of an object follows from its assignments (shards/affinity.ts).
 */
export interface Serving {
  /** Sequence of the last record that has changed ownership. */
  readonly version: number;
  /** Undefined while nothing is owned. */
  readonly map: PartitionMap | undefined;
  /** Partitions whose state has not arrived at their owner. */
  readonly open: ReadonlySet<number>;
  /**
   * Objects, as "kind id", whose state has not arrived at the owner of their partition. That partition is open too, except for
   * a trackable that has been deleted since: it is assigned by its id again, and another hub may own that partition.
   */
  readonly migrating: ReadonlySet<string>;
}

const NOTHING: Serving = { version: 0, map: undefined, open: new Set(), migrating: new Set() };

/** Ownership at the last applied record. */
export class Ownership {
  readonly #partitionOf: (kind: ObjectKind, id: string) => number;
  #serving = NOTHING;
  #servers: readonly string[] = [];
  #isWhole = false;

  /** `partitionOf`: the partition of an object by the applied configuration. */
  constructor(partitionOf: (kind: ObjectKind, id: string) => number) {
    this.#partitionOf = partitionOf;
  }

  /** Applies a change. */
  set(serving: Serving): void {
    const { map, open, migrating } = serving;
    this.#serving = serving;
    const served = (map?.owners ?? []).filter((owner, partition) => owner !== '' && !open.has(partition));
    this.#servers = [...new Set(served)].toSorted();
    this.#isWhole = map !== undefined && served.length === map.owners.length && migrating.size === 0;
  }

  get version(): number {
    return this.#serving.version;
  }

  /** Member ids of the hubs that serve something, in the same order everywhere. */
  get servers(): readonly string[] {
    return this.#servers;
  }

  /** Whether every partition and object is served. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** Member id of the hub that serves each partition; undefined while none does. */
  get serverOfEach(): readonly (string | undefined)[] {
    const { map, open } = this.#serving;
    return (map?.owners ?? []).map((owner, partition) => (open.has(partition) ? undefined : owner || undefined));
  }

  /**
   * Member id of the hub that serves an object; undefined while none does. Hot path: with a single server nothing is looked up.
   */
  serverOf(kind: ObjectKind, id: string): string | undefined {
    const { map, open, migrating } = this.#serving;
    if (map === undefined) return undefined;
    if (this.#isWhole && this.#servers.length === 1) return this.#servers[0];
    const partition = this.#partitionOf(kind, id);
    if (open.has(partition) || (migrating.size > 0 && migrating.has(`${kind} ${id}`))) return undefined;
    return map.owners[partition] || undefined;
  }
}
