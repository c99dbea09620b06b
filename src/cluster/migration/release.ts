import type { ObjectIds } from '../../core/item.ts';
import type { ObjectKind } from '../../model/id.ts';
import type { ClusterContext } from '../context.ts';
import type { Checkpoints } from '../state/checkpoints.ts';
import type { ConfigRecord, ObjectMove } from '../config/config_record.ts';
import type { ConfigState } from '../config/config_state.ts';
import { type JournalRange, NO_MESSAGES } from '../journal/journal_reader.ts';
import type { StepJournal } from '../journal/step_journal.ts';

export interface ReleasesOptions extends Pick<ClusterContext, 'incarnation' | 'notice'> {
  readonly journal: Pick<StepJournal, 'hold' | 'heldRange' | 'markArrived' | 'noteDelivered'>;
  readonly checkpoints: Pick<Checkpoints, 'misplacedIn' | 'release' | 'note'>;
  /** State after the last applied record. */
  state(): ConfigState;
  /** Whether an object is in a partition of this hub. */
  isOwn(kind: ObjectKind, id: string): boolean;
  /** Whether this hub is a member, and is not closed. */
  isServing(): boolean;
  /** All objects of some partitions, and those migrating away from there. */
  objectsIn(partitions: ReadonlySet<number>): ObjectIds;
  /** Objects that were deleted in some partitions and do not exist now. */
  deletedIn(partitions: ReadonlySet<number>): ObjectIds;
  /** Partitions of this hub whose objects its shards do not have yet. */
  unadopted(): ReadonlySet<number>;
  /**
   * Has the shards release objects, after all earlier input. Resolves when that is journaled, and earlier events are published.
   */
  release(objects: ObjectIds, sequence: number): Promise<void>;
  /** Has the shards flush rows of objects, and writes them to the state. */
  rewrite(objects: ObjectIds): Promise<void>;
  /** Resolves when each hub has delivered the events that this one has published so far, and the event log has them. */
  delivered(): Promise<void>;
  /** Resolves with the next record, when this hub has acquired something, or after a while. */
  changed(): Promise<void>;
}

interface Begun {
  readonly objects: ObjectIds;
  /** Resolves with the position of their state in the journal. */
  readonly released: Promise<JournalRange>;
}

/**
 * Releases of objects to other owners while this hub is a member. Their state is in the journal, where the next owner reads
 * it, and remains there until it has arrived.
 *
 *   released state                     when                             how
 *   ---------------------------------  -------------------------------  -----------------------------------------------------
 *   partitions that a map has moved    the map is applied               the shards release it; then this hub stops writing to
 *   to others                                                           their state
 *   objects that were assigned to      the record is applied; for a     the shards release it, unless a previous owner had
 *   others, from its partitions        successor, after their adoption  released it
 */
export class Releases {
  readonly #options: ReleasesOptions;
  /** By the sequence of the record. */
  readonly #begun = new Map<number, Begun[]>();
  /** Migrating objects that this hub releases, as "sequence kind id", and whether the journal has that. */
  readonly #passedOn = new Map<string, boolean>();
  /** Migrating objects from partitions of this hub, as "kind id", in the state of that version. */
  #leaving = { version: 0, objects: new Map<string, readonly [sequence: number, from: number]>() };

  constructor(options: ReleasesOptions) {
    this.#options = options;
  }

  /** Whether an object was released because of a record, by this hub or by a removed one that it succeeds. */
  isReleased(sequence: number, kind: ObjectKind, id: string): boolean {
    return this.#passedOn.has(`${sequence} ${kind} ${id}`);
  }

  /**
   * Partition that an object is leaving, if this hub has it until its release is journaled; undefined otherwise. Until then its
   * rows are part of the state of that partition.
   */
  leavingFrom(kind: ObjectKind, id: string): number | undefined {
    const { incarnation, state } = this.#options;
    const { version, map, migrating } = state();
    if (version !== this.#leaving.version) {
      const all = migrating.flatMap(({ sequence, objects }) =>
        objects.map(([of, its, from]) => [`${of} ${its}`, [sequence, from]] as const),
      );
      const objects = new Map(all.filter(([, [, from]]) => map?.owners[from] === incarnation));
      this.#leaving = { version, objects };
    }
    const [sequence, from] = this.#leaving.objects.get(`${kind} ${id}`) ?? [];
    return this.#passedOn.get(`${sequence} ${kind} ${id}`) === true ? undefined : from;
  }

  /** Has the shards release the objects that a record takes from this hub, before they are notified of it. */
  apply({ sequence, body }: ConfigRecord, before: ConfigState): void {
    const { incarnation, state, isServing, objectsIn, deletedIn } = this.#options;
    if (body.kind === 'regroup') {
      this.passOn(sequence, body.objects);
      return;
    }
    const owners = state().map?.owners ?? [];
    const lost = new Set(
      (before.map?.owners ?? []).flatMap((owner, partition) => {
        return owner === incarnation && owners[partition] !== incarnation ? [partition] : [];
      }),
    );
    // No member requests state of a removed member: successors read its journal.
    if (lost.size > 0 && isServing() && state().members.has(incarnation)) {
      const objects = objectsOf([...namesOf(objectsIn(lost)), ...namesOf(deletedIn(lost))]);
      this.#begin(sequence, objects, [...lost]);
    }
  }

  /** Has the shards release objects that they have, if the old partition is this hub's and the new one is not. */
  passOn(sequence: number, objects: readonly ObjectMove[]): void {
    const { incarnation, state, unadopted, isServing } = this.#options;
    const owners = state().map?.owners ?? [];
    const open = unadopted();
    const leaving = objects.filter(([kind, id, from, to]) => {
      const isLeaving = owners[from] === incarnation && owners[to] !== incarnation && !open.has(from);
      return isLeaving && !this.isReleased(sequence, kind, id);
    });
    if (leaving.length === 0 || !isServing()) return;
    const mark = (isJournaled: boolean): void => {
      for (const [kind, id] of leaving) this.#passedOn.set(`${sequence} ${kind} ${id}`, isJournaled);
    };
    mark(false);
    this.#begin(sequence, objectsOf(leaving), [], () => mark(true));
  }

  /**
   * The shards release objects after all earlier input. `partitions`: those that are handed over as a whole. `journaled` is
   * called when the journal has that.
   */
  #begin(sequence: number, objects: ObjectIds, partitions: readonly number[], journaled?: () => void): void {
    const { journal, release, notice } = this.#options;
    journal.hold(sequence);
    const journaling = release(objects, sequence);
    const finish = async (): Promise<JournalRange> => {
      await journaling;
      const range = journal.heldRange(sequence);
      journaled?.();
      await this.#releaseState(partitions);
      return range;
    };
    const released = finish();
    released.catch((error: unknown) => notice(`Cannot hand objects over: ${(error as Error).message}`));
    this.#begun.set(sequence, [...(this.#begun.get(sequence) ?? []), { objects, released }]);
  }

  /** Notes an object from a partition of this hub that a removed member had released, and that has not arrived. */
  noteReleased(sequence: number, kind: ObjectKind, id: string): void {
    this.#passedOn.set(`${sequence} ${kind} ${id}`, true);
  }

  /**
   * Range of the journal with the state that this hub has released because of an applied record, once it is complete and each
   * hub has delivered the events before. Rejects if it could not be journaled.
   */
  async of(sequence: number): Promise<JournalRange> {
    const { isServing, changed, delivered, journal } = this.#options;
    while (this.#isPending(sequence) && isServing()) await changed();
    const ranges = await Promise.all((this.#begun.get(sequence) ?? []).map(({ released }) => released));
    // All of them begin with the first message held for the record.
    const range = ranges.reduce((longest, each) => (each.before > longest.before ? each : longest), NO_MESSAGES);
    await delivered();
    // If this hub fails, its events must not be redelivered after those of the next owner.
    if (ranges.length > 0) await journal.noteDelivered(sequence);
    return range;
  }

  /** Drops released state that has arrived. `isWanted`: whether a hub may still request the state of a record. */
  forget(isWanted: (sequence: number) => boolean): void {
    const { state, journal, checkpoints, isOwn } = this.#options;
    if (state().migrating.length === 0) this.#passedOn.clear();
    for (const [sequence, begun] of this.#begun) {
      if (isWanted(sequence)) continue;
      this.#begun.delete(sequence);
      journal.markArrived(sequence);
      // Objects that have come back have their own rows.
      const away = begun.flatMap(({ objects }) => namesOf(objects)).filter((name) => !isOwn(...name));
      checkpoints.note(away.map(([kind, id]) => ({ kind, id, gone: true })));
    }
  }

  /** Whether this hub has yet to release objects because of a record, or to announce their events again, as a successor. */
  #isPending(sequence: number): boolean {
    const { incarnation, state, unadopted } = this.#options;
    const { migrating, map } = state();
    const open = unadopted();
    const objects = migrating.flatMap((each) => (each.sequence === sequence ? each.objects : []));
    return objects.some(([kind, id, from, to]) => {
      const isSuccessor = map?.owners[from] === incarnation && map.owners[to] !== incarnation;
      return isSuccessor && (open.has(from) || !this.isReleased(sequence, kind, id));
    });
  }

  /** Hands partitions over in the state, without rows that are still this hub's. */
  async #releaseState(partitions: readonly number[]): Promise<void> {
    if (partitions.length === 0) return;
    const { checkpoints, rewrite } = this.#options;
    const misplaced = await checkpoints.misplacedIn(partitions);
    if (misplaced.length > 0) await rewrite(objectsOf(misplaced));
    await checkpoints.release(partitions);
  }
}

/** Names of objects: kind and id of each. */
export function namesOf({ providers, trackables }: ObjectIds): readonly (readonly [kind: ObjectKind, id: string])[] {
  return [...providers.map((id) => ['provider', id] as const), ...trackables.map((id) => ['trackable', id] as const)];
}

/** Object of a name "kind id". */
export function namedBy(name: string): readonly [kind: ObjectKind, id: string] {
  const end = name.indexOf(' ');
  return [name.slice(0, end) as ObjectKind, name.slice(end + 1)];
}

export function objectsOf(names: Iterable<readonly [kind: ObjectKind, id: string, ...rest: unknown[]]>): ObjectIds {
  const providers: string[] = [];
  const trackables: string[] = [];
  for (const [kind, id] of names) (kind === 'provider' ? providers : trackables).push(id);
  return { providers, trackables };
}
