import type { ObjectIds } from '../core/item.ts';
import type { ReleasedStep } from '../wire/journal_record.ts';
import type { Notice } from './notice.ts';
import type { ObjectKind } from './ownership.ts';
import type { StepJournal } from './step_journal.ts';
import type { JournalLeft } from './steps_left.ts';

/** What the shards of this hub knew of objects that another one owns since a record. */
export interface Released {
  /** Steps that state all of it. */
  readonly steps: readonly ReleasedStep[];
  /** Time of day when the last of them was made. */
  readonly endMs: number;
  /** The number of the last frame of events that each hub was sent before. */
  readonly sent: Readonly<Record<string, number>>;
}

export interface ReleasesOptions {
  readonly journal: Pick<StepJournal, 'hold' | 'letGo' | 'keepReleased'>;
  /** Has the shards forget objects, in the order of what they are told. Resolves when that is kept, and all that was before is told. */
  release(objects: ObjectIds, sequence: number): Promise<readonly ReleasedStep[]>;
  /** Writes nothing to the state of these partitions any more. */
  releaseState(partitions: readonly number[]): Promise<void>;
  /** The numbers of the last frames. */
  sent(): Readonly<Record<string, number>>;
  /** Their rows are not wanted any more. */
  gone(objects: ObjectIds): void;
  /** Time of day. */
  now(): number;
  readonly notice: Notice;
}

interface Begun {
  readonly objects: ObjectIds;
  readonly released: Promise<Released>;
}

/**
 * What this hub hands over to other owners while it lives: partitions that a map has given to them, and objects that were
 * assigned to others. It is in the journal as well, for whoever takes over when this hub has died, until it has arrived.
 */
export class Releases {
  readonly #options: ReleasesOptions;
  /** By the sequence of the record. */
  readonly #begun = new Map<number, Begun[]>();

  constructor(options: ReleasesOptions) {
    this.#options = options;
  }

  /** The shards forget objects behind all that they were told so far. `partitions`: those that are handed over as a whole. */
  begin(sequence: number, objects: ObjectIds, partitions: readonly number[]): void {
    const { journal, release, releaseState, sent, now, notice } = this.#options;
    journal.hold(sequence);
    const steps = release(objects, sequence);
    const finish = async (): Promise<Released> => {
      const made = await steps;
      const endMs = now();
      await releaseState(partitions);
      return { steps: made, endMs, sent: sent() };
    };
    const released = finish();
    released.catch((error: unknown) => notice(`Cannot hand objects over: ${(error as Error).message}`));
    this.#begun.set(sequence, [...(this.#begun.get(sequence) ?? []), { objects, released }]);
  }

  /** What an owner before this hub has released, and has not arrived. Resolves when this hub has recorded it as well. */
  async relay(sequence: number, released: JournalLeft['released']): Promise<void> {
    const { journal, sent } = this.#options;
    journal.hold(sequence);
    await Promise.all(released.map((each) => journal.keepReleased({ ...each, sequence })));
    const steps = released.map(({ step, config }) => ({ ...step, config }));
    const endMs = Math.max(0, ...released.map((each) => each.endMs));
    const relayed = {
      objects: { providers: [], trackables: [] },
      released: Promise.resolve({ steps, endMs, sent: sent() }),
    };
    this.#begun.set(sequence, [...(this.#begun.get(sequence) ?? []), relayed]);
  }

  /** All that was released because of a record, so far. Rejects when it could not be kept. */
  async of(sequence: number): Promise<Released> {
    const all = await Promise.all((this.#begun.get(sequence) ?? []).map(({ released }) => released));
    return {
      steps: all.flatMap(({ steps }) => steps),
      endMs: Math.max(0, ...all.map(({ endMs }) => endMs)),
      sent: Object.assign({}, ...all.map(({ sent }) => sent)),
    };
  }

  /** Forgets what has arrived. `isWanted`: whether somebody still may ask for what was released because of a record. */
  forget(isWanted: (sequence: number) => boolean): void {
    for (const [sequence, begun] of this.#begun) {
      if (isWanted(sequence)) continue;
      this.#begun.delete(sequence);
      this.#options.journal.letGo(sequence);
      for (const { objects } of begun) this.#options.gone(objects);
    }
  }
}

/** Whether what another hub says is something that it has released. */
export function isReleased(value: unknown): value is Released {
  const { steps, endMs, sent } = (value ?? {}) as Partial<Record<keyof Released, unknown>>;
  const isStep = (step: unknown): boolean => {
    const { batch, effects, config } = (step ?? {}) as Partial<Record<keyof ReleasedStep, unknown>>;
    return batch instanceof Uint8Array && effects instanceof Uint8Array && typeof config === 'number';
  };
  return Array.isArray(steps) && steps.every(isStep) && typeof endMs === 'number' && typeof sent === 'object';
}

/** Objects as names: "kind id" of each. */
export function namesOf({ providers, trackables }: ObjectIds): readonly (readonly [kind: ObjectKind, id: string])[] {
  return [...providers.map((id) => ['provider', id] as const), ...trackables.map((id) => ['trackable', id] as const)];
}

export function objectsOf(names: Iterable<readonly [kind: ObjectKind, id: string, ...rest: unknown[]]>): ObjectIds {
  const providers: string[] = [];
  const trackables: string[] = [];
  for (const [kind, id] of names) (kind === 'provider' ? providers : trackables).push(id);
  return { providers, trackables };
}
