import type { ObjectKind } from '../model/id.ts';
import type { PartitionMap } from './map.ts';

/**
 * Who serves what. It follows from the configuration log, so at the same record all hubs agree on it.
 *
 *   an object is served by            when
 *   --------------------------------  ------------------------------------------------------------------------------
 *   the owner of its partition        its state has arrived there
 *   nobody: whoever wants it waits    its partition is open, as that of a member that is gone or that has yet to hand it
 *                                     over, and one that objects are on their way to from another one
 *
 * The partition of an object follows from what it is assigned to (shards/affinity.ts).
 */
export interface Serving {
  /** The sequence of the last record that has changed who serves what. */
  readonly version: number;
  /** Undefined while nobody owns anything. */
  readonly map: PartitionMap | undefined;
  /** Partitions whose state has not arrived at their owner. */
  readonly open: ReadonlySet<number>;
  /**
   * Objects whose state has not arrived at the owner of their partition, as "kind id". That is open too, but for a trackable
   * which was deleted since: its partition is the one of its id again, and somebody else may serve that.
   */
  readonly onTheWay: ReadonlySet<string>;
}

const NOTHING: Serving = { version: 0, map: undefined, open: new Set(), onTheWay: new Set() };

/** Who serves what at the record that is applied. */
export class Ownership {
  readonly #partitionOf: (kind: ObjectKind, id: string) => number;
  #serving = NOTHING;
  #servers: readonly string[] = [];
  #isWhole = false;

  /** `partitionOf`: the partition of an object by what is applied. */
  constructor(partitionOf: (kind: ObjectKind, id: string) => number) {
    this.#partitionOf = partitionOf;
  }

  /** To be called when a record has changed it. */
  set(serving: Serving): void {
    const { map, open, onTheWay } = serving;
    this.#serving = serving;
    const served = (map?.owners ?? []).filter((owner, partition) => owner !== '' && !open.has(partition));
    this.#servers = [...new Set(served)].toSorted();
    this.#isWhole = map !== undefined && served.length === map.owners.length && onTheWay.size === 0;
  }

  get version(): number {
    return this.#serving.version;
  }

  /** The incarnations that serve something, in one order everywhere. */
  get servers(): readonly string[] {
    return this.#servers;
  }

  /** Whether everything is served by somebody. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** The incarnation that serves an object; undefined while nobody does. hot: where all is served by one it is not looked up. */
  serverOf(kind: ObjectKind, id: string): string | undefined {
    const { map, open, onTheWay } = this.#serving;
    if (map === undefined) return undefined;
    if (this.#isWhole && this.#servers.length === 1) return this.#servers[0];
    const partition = this.#partitionOf(kind, id);
    if (open.has(partition) || (onTheWay.size > 0 && onTheWay.has(`${kind} ${id}`))) return undefined;
    return map.owners[partition] || undefined;
  }
}
