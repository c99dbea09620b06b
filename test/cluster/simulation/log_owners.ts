import { changesIn } from '../../../src/cluster/config/config_changes.ts';
import type { ConfigBody } from '../../../src/cluster/config/config_record.ts';
import { applied, type ConfigState, EMPTY_STATE, isSettled } from '../../../src/cluster/config/config_state.ts';
import { ObjectPartitions } from '../../../src/cluster/config/object_partitions.ts';
import type { ObjectIds } from '../../../src/core/item.ts';
import type { ObjectKind } from '../../../src/model/id.ts';

/** Ownership according to the records of the configuration log, which are applied in sequence. */
export class LogOwners {
  /** Whether there have ever been several owners at the same time. */
  areSeveral = false;
  readonly #partitions = new ObjectPartitions();
  #state: ConfigState = EMPTY_STATE;
  #sequence = 0;

  apply(body: ConfigBody): void {
    this.#state = applied(this.#state, { sequence: ++this.#sequence, id: '', body });
    this.#partitions.follow(this.#state.map);
    this.#partitions.apply(changesIn(body));
    this.areSeveral ||= this.owners.size > 1;
  }

  /** Members that own partitions. */
  get owners(): ReadonlySet<string> {
    return new Set((this.#state.map?.owners ?? []).filter((owner) => owner !== ''));
  }

  /** Whether all migrations have completed. */
  get isWhole(): boolean {
    return isSettled(this.#state);
  }

  /** Owner of the partition of an object whose state no earlier owner has; empty without an owner. */
  serverOf(kind: ObjectKind, id: string): string {
    const partition = this.#partitions.partitionOf(kind, id);
    const isOpen = this.#state.sources.some(({ partitions }) => partitions.includes(partition));
    return isOpen ? '' : this.ownerOf(kind, id);
  }

  /** Owner of the partition of an object; empty if it is unowned. */
  ownerOf(kind: ObjectKind, id: string): string {
    return this.ownerOfPartition(this.#partitions.partitionOf(kind, id));
  }

  ownerOfPartition(partition: number): string {
    return this.#state.map?.owners[partition] ?? '';
  }
}

/** The owner of an object by the configuration as of a record; empty while its partition has yet to arrive there. */
export type OwnerAt = (sequence: number, kind: ObjectKind, id: string) => string;

/** Looks up who owned these objects at any record of a log. */
export function ownersAt(config: readonly ConfigBody[], { providers, trackables }: ObjectIds): OwnerAt {
  const owning = new LogOwners();
  const owners = config.map((body) => {
    owning.apply(body);
    return new Map([
      ...providers.map((id) => [`provider ${id}`, owning.serverOf('provider', id)] as const),
      ...trackables.map((id) => [`trackable ${id}`, owning.serverOf('trackable', id)] as const),
    ]);
  });
  return (sequence, kind, id) => owners[sequence - 1]?.get(`${kind} ${id}`) ?? '';
}
