import type { ObjectIds } from '../../core/item.ts';
import type { ObjectKind } from '../../model/id.ts';
import type { FailedFenceEvent } from '../../wire/fence_events.ts';
import type { PackedStep } from '../../wire/journal_record.ts';
import type { ObjectMove } from '../config/config_record.ts';
import type { ConfigState, TakeOver } from '../config/config_state.ts';
import {
  type JournaledRelease,
  journaledFenceEvents,
  type RecoveredJournal,
  statedIn,
} from '../journal/journal_recovery.ts';
import type { ReleasedObjects } from '../state/checkpoints.ts';
import { namedBy, namesOf, objectsOf } from './release.ts';

/** State of the objects at one source. */
export interface SourceState {
  readonly steps: readonly PackedStep[];
  /** Objects, as "kind id", that it had released, so that its state of them is outdated. */
  readonly departed: readonly string[];
  readonly endMs: number;
  /** Last record of the configuration log that is evaluated in it; 0 if it is unknown. */
  readonly config: number;
}

/** An object that a record has reassigned. */
export interface MovedObject {
  /** Of the record. */
  readonly sequence: number;
  readonly object: ObjectMove;
}

/** State that owners have released because of a record, one after the other. Later ones have evaluated more records. */
export function releasedState(all: readonly JournaledRelease[], sequence: number): readonly SourceState[] {
  const released = all.filter((record) => record.sequence === sequence);
  // If nothing was released, only the record itself has to be evaluated.
  if (released.length === 0) return [{ steps: [], departed: [], endMs: 0, config: sequence - 1 }];
  return Array.from(
    Map.groupBy(released, ({ config }) => config),
    ([config, theirs]) => {
      const endMs = Math.max(...theirs.map((each) => each.endMs));
      return { steps: theirs.map(({ step }) => step), departed: [], endMs, config };
    },
  );
}

export interface RemovedSourcesOptions {
  readonly state: ConfigState;
  /** Removed members, with partitions that this hub acquires from them. */
  readonly sources: readonly TakeOver[];
  /** Journals of these, and of others that may have released objects which are migrating. */
  readonly journals: ReadonlyMap<string, RecoveredJournal>;
  partitionOf(kind: ObjectKind, id: string): number;
  /** Partitions that a removed member had. */
  hadAtItsEnd(incarnation: string): readonly number[];
  /** Whether this hub has an object that was moved to it. */
  isAdopted(moved: MovedObject): boolean;
}

/**
 * What the journals of removed members say about the objects that they had.
 *
 *   a migrating object              | belongs to
 *   --------------------------------+---------------------------------------------------------------------------------
 *   that no journal has as released | its old partition
 *   released because of its record  | no hub until its receiver has it: the journal with its state remains
 *   that a later owner had since    | the new partition, or the old one if that owner had both
 */
export class RemovedSources {
  /** Migrating objects that removed members had at the new partition, although the log does not say so. */
  readonly arrived: readonly MovedObject[];
  readonly #options: RemovedSourcesOptions;
  /** Migrating objects, as "kind id", that removed members had, and whether they count as with their old partition. */
  readonly #found = new Map<string, boolean>();
  readonly #moved: readonly MovedObject[];

  constructor(options: RemovedSourcesOptions) {
    this.#options = options;
    const { state, sources } = options;
    this.#moved = state.migrating.flatMap(({ sequence, objects }) => objects.map((object) => ({ sequence, object })));
    this.arrived = sources.flatMap((source) => this.#arrivedAt(source));
  }

  /** All partitions of these members: rows of the objects may lie in any of them. */
  get partitions(): readonly number[] {
    const { sources } = this.#options;
    return [...new Set(sources.flatMap((source) => [...this.#partitionsOf(source)]))];
  }

  stateOf({ of, released }: TakeOver): SourceState {
    const { steps, config } = this.#journalOf(of);
    const endMs = steps.reduce((latest, step) => Math.max(latest, step.endMs), 0);
    const isReleased = released > 0 && released <= config;
    const evaluated = isReleased ? released - 1 : config;
    return { steps: steps.map(({ step }) => step), departed: this.#departedFrom(of), endMs, config: evaluated };
  }

  /** Rows in the state that no owner has deleted, although it had released their objects. */
  get releasedObjects(): readonly ReleasedObjects[] {
    return this.#sources.map((of) => {
      return { partitions: writtenBy(of, this.#options.state), objects: this.#departedFrom(of).map(namedBy) };
    });
  }

  /** Fence events for redelivery, in order. Those of objects that have arrived elsewhere were delivered before. */
  get fenceEvents(): readonly FailedFenceEvent[] {
    const moved = new Set(this.#moved.map(({ sequence, object }) => `${sequence} ${objectName(object)}`));
    const isPending = (name: string, sequence: number): boolean =>
      moved.has(`${sequence} ${name}`) || this.#isBeingAcquired(name, sequence);
    return this.#sources
      .flatMap((of) => journaledFenceEvents(of, this.#journalOf(of), isPending))
      .sort((one, other) => one.recordedMs - other.recordedMs);
  }

  /** Migrating objects that were released: the receiver may have their state already. */
  get inTransit(): readonly MovedObject[] {
    const journals = [...this.#options.journals.values()];
    return this.#moved.filter(({ sequence, object }) => {
      const name = objectName(object);
      const isReleased = ({ departed }: RecoveredJournal): boolean => departed.get(name) === sequence;
      return this.#found.get(name) !== true && journals.some(isReleased);
    });
  }

  /** Whether a removed member had a migrating object. */
  hasFound({ object }: MovedObject): boolean {
    return this.#found.has(objectName(object));
  }

  get #sources(): readonly string[] {
    return [...new Set(this.#options.sources.map(({ of }) => of))];
  }

  /** Objects of a source that migrate, and that it had: it had acquired them, or had their old partition as well. */
  #arrivedAt(source: TakeOver): readonly MovedObject[] {
    const { earlier, steps, departed } = this.#journalOf(source.of);
    const stated = statedIn([...earlier, ...steps].map(({ step }) => step));
    const [own, all] = [new Set(source.partitions), this.#partitionsOf(source)];
    return this.#moved.filter((moved) => {
      const [kind, id, from, to] = moved.object;
      const isAtOldPartition = all.has(from);
      const isHere = stated[kind].has(id) && !departed.has(`${kind} ${id}`);
      if (!isHere || !own.has(isAtOldPartition ? from : to) || this.#options.isAdopted(moved)) return false;
      this.#found.set(`${kind} ${id}`, isAtOldPartition);
      return !isAtOldPartition;
    });
  }

  /** Objects that a removed member had released and that are not acquired from it. */
  #departedFrom(of: string): readonly string[] {
    const { departed } = this.#journalOf(of);
    return [...departed].flatMap(([name, sequence]) => (this.#isBeingAcquired(name, sequence) ? [] : [name]));
  }

  /** Whether an object was released with its partition, which no hub has acquired since. */
  #isBeingAcquired(name: string, sequence: number): boolean {
    const { state, partitionOf } = this.#options;
    const its = state.sources.filter(({ released }) => released === sequence);
    return its.length > 0 && its.some(({ partitions }) => partitions.includes(partitionOf(...namedBy(name))));
  }

  #partitionsOf({ of, partitions }: TakeOver): ReadonlySet<number> {
    return new Set([...this.#options.hadAtItsEnd(of), ...partitions]);
  }

  #journalOf(of: string): RecoveredJournal {
    return this.#options.journals.get(of) as RecoveredJournal;
  }
}

/**
 * Partitions in whose state the rows are those of a removed member. Partitions that others have taken over have rows of these;
 * those that it had yet to take over have rows of the previous owner.
 */
function writtenBy(of: string, state: ConfigState): readonly number[] {
  const first = new Map<number, string>();
  for (const source of state.sources) {
    for (const partition of source.partitions) if (!first.has(partition)) first.set(partition, source.of);
  }
  return [...first].flatMap(([partition, source]) => (source === of ? [partition] : []));
}

/**
 * Objects by the last record that was evaluated for them. Later sources have evaluated more records, but only for objects that
 * their steps mention. `first`: for all others.
 */
export function byEvaluated(
  objects: ObjectIds,
  left: readonly SourceState[],
  first: number,
): [config: number, objects: ObjectIds][] {
  const sources = left.filter(({ config }) => config > 0);
  if (sources.length < 2) return [[first, objects]];
  const stated = sources.map(({ config, steps, departed }) => ({ config, departed, ...statedIn(steps) }));
  const evaluated = ([kind, id]: readonly [ObjectKind, string]): number =>
    stated.findLast((each) => each[kind].has(id) && !each.departed.includes(`${kind} ${id}`))?.config ?? first;
  const parts = [...Map.groupBy(namesOf(objects), evaluated)];
  return parts.length === 0 ? [[first, objects]] : parts.map(([config, names]) => [config, objectsOf(names)]);
}

function objectName([kind, id]: ObjectMove): string {
  return `${kind} ${id}`;
}
