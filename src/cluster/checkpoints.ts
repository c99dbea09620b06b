import type { CollisionRow } from '../core/collision/row.ts';
import type { KeptRow, LastKnownRow } from '../core/item.ts';
import { keyOf, type PackedRows, rowAt } from '../core/row_bytes.ts';
import { PARTITIONS } from '../shards/affinity.ts';
import type { Place } from '../store/newest_rows.ts';
import type { Turns } from '../time/turns.ts';
import { packedRows } from '../wire/store_messages.ts';
import type { Bus, StreamSettings } from './bus.ts';
import { type Outdated, StateSection } from './state_section.ts';

/**
 * The state of the partitions, and of the pairs that collide, in one stream with a subject for each partition and one for
 * all pairs: what takes the place of a journal's beginning. A hub writes those that it has claimed. Times in rows are as
 * they were handed in.
 *
 * It goes on through everything that passes: what cannot be written now waits, and is tried again. It ends when another
 * hub has claimed what this one writes (CheckpointsLost), or with the first error that trying again does not help against;
 * all calls reject with that from then on.
 */
export interface CheckpointsOptions extends Pick<StreamSettings, 'replicas' | 'storage' | 'bytesMax'> {
  readonly bus: Bus;
  /** Of the cluster: what subjects and streams begin with. */
  readonly name: string;
  /** Of this hub. */
  readonly incarnation: string;
  readonly turns: Turns;
  /** The partition that an object belongs to by now. Its rows move there with the next that is written. */
  partitionOf(kind: LastKnownRow['kind'], id: string): number;
  /** Whether an object is this hub's by now; when left out, all are. */
  isOwn?(kind: LastKnownRow['kind'], id: string): boolean;
  /** Whether everybody has what hubs that are gone have left; when left out, they have. See state_section.ts. */
  isSettled?(): boolean;
  /** Calls back after a delay; returns how to call it off. */
  schedule(delayMs: number, callback: () => void): () => void;
  /** Told what the log of the hub should say. */
  notice(text: string): void;
  /** A subject is compacted when it has got so many bytes since; 65,536 when left out. */
  readonly compactBytes?: number;
}

/** What a hub takes over. */
export interface Claim {
  readonly partitions: readonly number[];
  readonly collisions: boolean;
  /** Of the map that gives them to it: it rises with each map. */
  readonly epoch: number;
}

/** What an owner before had let go, without a word in the state: its rows of these objects, in these partitions. */
export interface LetGo {
  readonly partitions: readonly number[];
  readonly objects: readonly (readonly [kind: LastKnownRow['kind'], id: string])[];
}

/** Rows that are handed out together, at most. */
const PART_ROWS = 5000;
const COMPACT_BYTES = 1 << 16;

/** Makes the stream where there is none. Rejects where it has other settings. */
export async function makeStateStream(
  options: Pick<CheckpointsOptions, 'bus' | 'name' | 'replicas' | 'storage' | 'bytesMax'>,
): Promise<void> {
  const { bus, name, replicas, storage, bytesMax } = options;
  await bus.makeStream({
    ...{ name: `${name}_STATE`, subjects: [`${name}.s.*`], replicas, storage },
    ...(bytesMax === undefined ? {} : { bytesMax }),
  });
}

/** Opens the state, in a stream that is there. */
export function openCheckpoints(options: CheckpointsOptions): Checkpoints {
  return new Checkpoints(options);
}

export class Checkpoints {
  readonly #options: CheckpointsOptions;
  readonly #objects: StateSection;
  readonly #pairs: StateSection;
  #failure: Error | undefined;
  /** Whether the pairs that collide are claimed. */
  #hasPairs = false;
  /** Whether it was told that nothing is taken, and nothing was kept since. */
  #isTold = false;

  /** Only for openCheckpoints. */
  constructor(options: CheckpointsOptions) {
    this.#options = options;
    const { bus, name, incarnation, turns, schedule, partitionOf, compactBytes = COMPACT_BYTES } = options;
    const { isSettled = () => true } = options;
    const common = {
      ...{ bus, stream: `${name}_STATE`, pattern: `${name}.s.*`, by: incarnation, turns, compactBytes, schedule },
      isSettled,
      check: () => this.#check(),
      refused: (why: 'full' | 'busy') => this.#refused(why),
      unread: (what: string) => options.notice(`Cannot read the state: ${what}`),
      failed: (error: Error) => this.#end(error),
    };
    const subjectOf = (kind: KeptRow['kind'], id: string): string => {
      if (kind === 'collision')
        throw new TypeError(`Cannot keep the row of collision "${id}": it is none of a partition`);
      return this.#subjectOf(partitionOf(kind, id));
    };
    const isOwn = (kind: KeptRow['kind'], id: string): boolean => {
      return kind === 'collision' || options.isOwn?.(kind, id) !== false;
    };
    this.#objects = new StateSection({ ...common, subjectOf, isOwn });
    this.#pairs = new StateSection({ ...common, subjectOf: () => `${name}.s.collisions`, isOwn });
  }

  /** Why nothing is written any more; undefined while it goes on. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /**
   * Takes partitions over, besides those that were claimed before. When it resolves, nothing that a former owner writes is
   * kept any more. Rejects with CheckpointsLost where a later map has given one to another hub, which has claimed it.
   */
  async claim({ partitions, collisions, epoch }: Claim): Promise<void> {
    for (const partition of partitions) {
      if (Number.isInteger(partition) && partition >= 0 && partition < PARTITIONS) continue;
      throw new RangeError(`Cannot claim partition ${partition}: partitions are 0 to ${PARTITIONS - 1}`);
    }
    await Promise.all([
      this.#objects.claim(
        partitions.map((partition) => this.#subjectOf(partition)),
        epoch,
      ),
      this.#pairs.claim(collisions ? [this.#subjectOf('collisions')] : [], epoch),
    ]);
    this.#hasPairs ||= collisions;
  }

  /**
   * The last row of each object and pair that lies in what is claimed, or was noted and is not written yet, in parts. All
   * of it is held in memory meanwhile. What is noted after the first part was handed out is not in it.
   */
  async *rows(): AsyncGenerator<readonly KeptRow[]> {
    const [objects, pairs] = await Promise.all([this.#objects.rows(), this.#pairs.rows()]);
    for (const rows of [objects, pairs]) yield* partsOf(rows.values());
  }

  /** Writes nothing of these partitions any more: another hub is about to claim them. */
  release(partitions: readonly number[]): Promise<void> {
    return this.#objects.release(partitions.map((partition) => this.#subjectOf(partition)));
  }

  /** The objects of this hub whose rows lie in these partitions, and belong in others by now. */
  async misplacedIn(partitions: readonly number[]): Promise<readonly (readonly [LastKnownRow['kind'], string])[]> {
    const found = await this.#objects.misplacedIn(partitions.map((partition) => this.#subjectOf(partition)));
    return found as readonly (readonly [LastKnownRow['kind'], string])[];
  }

  /** Erases, in partitions that are claimed, the rows of objects that owners before had let go. */
  eraseLetGo(letGo: readonly LetGo[]): Promise<void> {
    return this.#objects.eraseOutdated(this.#outdated(letGo));
  }

  /**
   * The last row of each object that lies in these partitions, whoever writes there, in parts; without those of objects
   * that owners before had let go.
   */
  async *rowsIn(partitions: readonly number[], letGo: readonly LetGo[] = []): AsyncGenerator<readonly LastKnownRow[]> {
    const names = partitions.map((partition) => this.#subjectOf(partition));
    const rows = await this.#objects.rowsIn(names, this.#outdated(letGo));
    yield* partsOf(rows.values()) as Generator<LastKnownRow[]>;
  }

  /** All pairs that collide. They must be claimed. */
  async pairs(): Promise<readonly CollisionRow[]> {
    const rows = await this.#pairs.rows();
    return Array.from(rows.values(), ({ buffer, at }) => rowAt(buffer, at) as CollisionRow);
  }

  /** Erases what others have left in the partitions of this hub, once everybody has it. */
  tidy(): Promise<void> {
    return this.#objects.tidy();
  }

  /** Takes rows of objects that are newer than all before; bytes are copied. hot */
  note(rows: Iterable<LastKnownRow> | PackedRows): void {
    if (this.#failure === undefined) this.#objects.note(packedRows(rows));
  }

  /**
   * Writes what was noted until now. Resolves when all of it is kept, but for rows of partitions that are not claimed: they
   * wait until they are. Calls while a round is being written share the next one.
   */
  async write(): Promise<void> {
    await this.#objects.write();
    this.#isTold = false;
  }

  /** Writes rows of pairs that are newer than all before. Resolves when they are kept. */
  async noteCollisions(rows: Iterable<CollisionRow> | PackedRows): Promise<void> {
    this.#check();
    if (!this.#hasPairs) throw new Error('Cannot keep pairs that collide: they are not claimed');
    this.#pairs.note(packedRows(rows));
    await this.#pairs.write();
    this.#isTold = false;
  }

  /** Ends it: nothing is tried again any more, and what waits is rejected, after the try that is under way. */
  close(): void {
    this.#end(new Error('The checkpoints are closed'));
  }

  #outdated(letGo: readonly LetGo[]): readonly Outdated[] {
    return letGo.map(({ partitions, objects }) => ({
      subjects: new Set(partitions.map((partition) => this.#subjectOf(partition))),
      objects: new Set(objects.map(([kind, id]) => keyOf(kind, id))),
    }));
  }

  #subjectOf(partition: number | 'collisions'): string {
    return `${this.#options.name}.s.${partition}`;
  }

  #check(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  #end(error: Error): void {
    this.#failure ??= error;
  }

  #refused(why: 'full' | 'busy'): void {
    if (this.#isTold) return;
    this.#isTold = true;
    const found = why === 'full' ? 'it is full' : 'too much waits to be sent';
    this.#options.notice(`Cannot write to stream "${this.#options.name}_STATE": ${found}. It is tried again`);
  }
}

function* partsOf(places: Iterable<Place>): Generator<KeptRow[]> {
  let part: KeptRow[] = [];
  for (const { buffer, at } of places) {
    part.push(rowAt(buffer, at));
    if (part.length < PART_ROWS) continue;
    yield part;
    part = [];
  }
  if (part.length > 0) yield part;
}
