import type { ObjectIds } from '../core/item.ts';
import type { ObjectKind } from '../model/id.ts';
import type { ReleasedStep } from '../wire/journal_record.ts';
import type { Checkpoints } from './checkpoints.ts';
import type { SentBefore } from './cluster_fanout.ts';
import type { ConfigRecord, ObjectMove } from './config_record.ts';
import type { ConfigState } from './config_state.ts';
import type { Notice } from './notice.ts';
import type { StepJournal } from './step_journal.ts';
import type { JournalLeft } from './steps_left.ts';

/** What the shards of this hub knew of objects that another one owns since a record. */
export interface Released extends SentBefore {
  /** Steps that state all of it. */
  readonly steps: readonly ReleasedStep[];
  /** Time of day when the last of them was made. */
  readonly endMs: number;
  /** Objects, as "kind id", that an owner before this hub has released: this hub's shards never had them. */
  readonly relayed: readonly string[];
}

export interface ReleasesOptions {
  /** Of this hub. */
  readonly incarnation: string;
  readonly journal: Pick<StepJournal, 'hold' | 'letGo' | 'keepReleased'>;
  readonly checkpoints: Pick<Checkpoints, 'misplacedIn' | 'release' | 'note'>;
  /** By the last record that is applied. */
  state(): ConfigState;
  /** Whether an object is in a partition of this hub by now. */
  isOwn(kind: ObjectKind, id: string): boolean;
  /** Whether this hub is a member, and has not ended. */
  isServing(): boolean;
  /** All objects of some partitions, and those that are on their way from there to others. */
  objectsIn(partitions: ReadonlySet<number>): ObjectIds;
  /** Partitions of this hub whose objects its shards do not have yet. */
  unadopted(): ReadonlySet<number>;
  /** Has the shards forget objects, in the order of what they are told. Resolves when that is kept, and all that was before is told. */
  release(objects: ObjectIds, sequence: number): Promise<readonly ReleasedStep[]>;
  /** Has the shards hand out rows of objects, and writes them to the state. */
  writeAnew(objects: ObjectIds): Promise<void>;
  /** What each hub was sent of events so far. */
  sentBefore(): SentBefore;
  /** Resolves with the next record, or when this hub has acquired something; after a while in any case. */
  changed(): Promise<void>;
  /** Time of day. */
  now(): number;
  readonly notice: Notice;
}

interface Begun {
  readonly objects: ObjectIds;
  readonly released: Promise<Released>;
}

/**
 * What this hub hands over to other owners while it lives. It is in the journal as well, for whoever takes over when this hub
 * has died, until it has arrived.
 *
 *   what                               when                             its state
 *   ---------------------------------  -------------------------------  -----------------------------------------------------
 *   partitions that a map has given    the map is applied               is released by the shards; then nothing is written to
 *   to others                                                           theirs any more
 *   objects that were assigned to      the record is applied; for an    is released by the shards
 *   others, from its partitions        heir, when it has adopted them
 *   what a dead owner had released     it is read in its journal        is recorded here as it was there
 */
export class Releases {
  readonly #options: ReleasesOptions;
  /** By the sequence of the record. */
  readonly #begun = new Map<number, Begun[]>();
  /** Objects on their way that this hub has released: by the record, "kind id" of each. */
  readonly #passedOn = new Set<string>();

  constructor(options: ReleasesOptions) {
    this.#options = options;
  }

  /** Whether an object was released because of a record, by this hub or by a dead one in whose place it is. */
  isReleased(sequence: number, kind: ObjectKind, id: string): boolean {
    return this.#passedOn.has(`${sequence} ${kind} ${id}`);
  }

  /** Has the shards release what this hub has owned until a record, before they are told of that. */
  apply({ sequence, body }: ConfigRecord, before: ConfigState): void {
    const { incarnation, state, isServing, objectsIn } = this.#options;
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
    // Whoever is a member no more is not asked: others read its journal.
    if (lost.size > 0 && isServing() && state().members.has(incarnation)) {
      this.#begin(sequence, objectsIn(lost), [...lost]);
    }
  }

  /** Has the shards release objects that they have, whose old partition is this hub's, and whose new one is not. */
  passOn(sequence: number, objects: readonly ObjectMove[]): void {
    const { incarnation, state, unadopted, isServing } = this.#options;
    const owners = state().map?.owners ?? [];
    const open = unadopted();
    const leaving = objects.filter(([kind, id, from, to]) => {
      const isLeaving = owners[from] === incarnation && owners[to] !== incarnation && !open.has(from);
      return isLeaving && !this.isReleased(sequence, kind, id);
    });
    if (leaving.length === 0 || !isServing()) return;
    for (const [kind, id] of leaving) this.#passedOn.add(`${sequence} ${kind} ${id}`);
    this.#begin(sequence, objectsOf(leaving), []);
  }

  /** The shards forget objects behind all that they were told so far. `partitions`: those that are handed over as a whole. */
  #begin(sequence: number, objects: ObjectIds, partitions: readonly number[]): void {
    const { journal, release, sentBefore, now, notice } = this.#options;
    journal.hold(sequence);
    const steps = release(objects, sequence);
    const finish = async (): Promise<Released> => {
      const made = await steps;
      const endMs = now();
      await this.#releaseState(partitions);
      return { steps: made, endMs, ...sentBefore(), relayed: [] };
    };
    const released = finish();
    released.catch((error: unknown) => notice(`Cannot hand objects over: ${(error as Error).message}`));
    this.#begun.set(sequence, [...(this.#begun.get(sequence) ?? []), { objects, released }]);
  }

  /** What an owner before this hub has released, and has not arrived. Resolves when this hub has recorded it as well. */
  async relay(sequence: number, released: JournalLeft['released'], names: readonly string[]): Promise<void> {
    const { journal, sentBefore } = this.#options;
    journal.hold(sequence);
    await Promise.all(released.map((each) => journal.keepReleased({ ...each, sequence })));
    const steps = released.map(({ step, config }) => ({ ...step, config }));
    const endMs = Math.max(0, ...released.map((each) => each.endMs));
    const relayed = {
      objects: objectsOf(names.map(namedBy)),
      released: Promise.resolve({ steps, endMs, ...sentBefore(), relayed: names }),
    };
    this.#begun.set(sequence, [...(this.#begun.get(sequence) ?? []), relayed]);
    for (const name of names) this.#passedOn.add(`${sequence} ${name}`);
  }

  /**
   * What this hub has released because of a record that is applied, once that is all. Rejects when it could not be kept.
   */
  async of(sequence: number): Promise<Released> {
    const { isServing, changed } = this.#options;
    while (this.#isPending(sequence) && isServing()) await changed();
    const all = await Promise.all((this.#begun.get(sequence) ?? []).map(({ released }) => released));
    return {
      steps: all.flatMap(({ steps }) => steps),
      endMs: Math.max(0, ...all.map(({ endMs }) => endMs)),
      sent: Object.assign({}, ...all.map(({ sent }) => sent)),
      behind: Object.assign({}, ...all.map(({ behind }) => behind)),
      relayed: all.flatMap(({ relayed }) => relayed),
    };
  }

  /** Forgets what has arrived. `isWanted`: whether somebody still may ask for what was released because of a record. */
  forget(isWanted: (sequence: number) => boolean): void {
    const { state, journal, checkpoints, isOwn } = this.#options;
    if (state().onTheWay.length === 0) this.#passedOn.clear();
    for (const [sequence, begun] of this.#begun) {
      if (isWanted(sequence)) continue;
      this.#begun.delete(sequence);
      journal.letGo(sequence);
      // What has come back since has rows of its own.
      const away = begun.flatMap(({ objects }) => namesOf(objects)).filter((name) => !isOwn(...name));
      checkpoints.note(away.map(([kind, id]) => ({ kind, id, gone: true })));
    }
  }

  /** Whether this hub has yet to release objects because of a record, as an heir that is still reading what was left. */
  #isPending(sequence: number): boolean {
    const { incarnation, state } = this.#options;
    const { onTheWay, map } = state();
    const objects = onTheWay.flatMap((each) => (each.sequence === sequence ? each.objects : []));
    return objects.some(([kind, id, from, to]) => {
      const isHeir = map?.owners[from] === incarnation && map.owners[to] !== incarnation;
      return isHeir && !this.isReleased(sequence, kind, id);
    });
  }

  /** Hands partitions over in the state, with nothing in them that is this hub's still. */
  async #releaseState(partitions: readonly number[]): Promise<void> {
    if (partitions.length === 0) return;
    const { checkpoints, writeAnew } = this.#options;
    const misplaced = await checkpoints.misplacedIn(partitions);
    if (misplaced.length > 0) await writeAnew(objectsOf(misplaced));
    await checkpoints.release(partitions);
  }
}

/** Whether what another hub says is something that it has released. */
export function isReleased(value: unknown): value is Released {
  const { steps, endMs, sent, behind = {}, relayed } = (value ?? {}) as Partial<Record<keyof Released, unknown>>;
  const isStep = (step: unknown): boolean => {
    const { batch, effects, config } = (step ?? {}) as Partial<Record<keyof ReleasedStep, unknown>>;
    return batch instanceof Uint8Array && effects instanceof Uint8Array && typeof config === 'number';
  };
  const isShaped = Array.isArray(steps) && Array.isArray(relayed) && typeof endMs === 'number';
  return isShaped && steps.every(isStep) && typeof sent === 'object' && typeof behind === 'object';
}

/** Objects as names: "kind id" of each. */
export function namesOf({ providers, trackables }: ObjectIds): readonly (readonly [kind: ObjectKind, id: string])[] {
  return [...providers.map((id) => ['provider', id] as const), ...trackables.map((id) => ['trackable', id] as const)];
}

/** The object of a name "kind id". */
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
