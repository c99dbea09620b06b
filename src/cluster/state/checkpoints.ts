import { PROGRESS_ID } from '../../core/collision/progress.ts';
import type { CollisionRow } from '../../core/collision/row.ts';
import type { StoredRow, LastKnownRow } from '../../core/item.ts';
import { keyOf, type PackedRows, rowAt } from '../../core/row_bytes.ts';
import { PARTITIONS_MAX } from '../../shards/affinity.ts';
import type { RowLocation } from '../../store/newest_rows.ts';
import type { TaskScheduler } from '../../time/task_scheduler.ts';
import { packedRows } from '../../wire/store_messages.ts';
import type { ClusterContext } from '../context.ts';
import type { StreamSettings } from '../nats/bus.ts';
import { type Outdated, StateSection } from './state_section.ts';

/**
 * State of the partitions and of the colliding pairs, in one stream with a subject per partition and one for all pairs. It
 * replaces the beginning of a journal. A hub writes the subjects that it has claimed. Times in rows are stored as given.
 *
 * Writes that fail temporarily are retried. The writer stops when another hub has claimed one of its subjects
 * (CheckpointsLost), or at the first permanent error; all calls reject with that error from then on.
 */
export interface CheckpointsOptions
  extends Pick<ClusterContext, 'bus' | 'name' | 'incarnation' | 'notice' | 'schedule'>,
    Pick<StreamSettings, 'replicas' | 'storage' | 'bytesMax'> {
  readonly turns: TaskScheduler;
  /**
   * Partition of an object by the applied configuration, or the one that it leaves until its release is journaled. Its rows move
   * there with the next write.
   */
  partitionOf(kind: LastKnownRow['kind'], id: string): number;
  /** Whether this hub owns an object; when left out, it owns all. */
  isOwn?(kind: LastKnownRow['kind'], id: string): boolean;
  /** Whether all members have taken the state of failed members; when left out, they have. See state_section.ts. */
  isSettled?(): boolean;
  /** Bytes written to a subject since its last compaction that trigger the next one; 65,536 when left out. */
  readonly compactBytes?: number;
}

/** Subjects that a hub takes over. */
export interface Claim {
  readonly partitions: readonly number[];
  readonly collisions: boolean;
  /** Epoch of the map that assigns them to this hub; it rises with each map. */
  readonly epoch: number;
}

/** Objects that a former owner had released without deleting their rows in these partitions. */
export interface ReleasedObjects {
  readonly partitions: readonly number[];
  readonly objects: readonly (readonly [kind: LastKnownRow['kind'], id: string])[];
}

/** Most rows that are emitted together. */
const PART_ROWS = 5000;
const COMPACT_BYTES = 1 << 16;

/** Creates the stream if it does not exist. Rejects if it exists with other settings. */
export async function makeStateStream(
  options: Pick<CheckpointsOptions, 'bus' | 'name' | 'replicas' | 'storage' | 'bytesMax'>,
): Promise<void> {
  const { bus, name, replicas, storage, bytesMax } = options;
  await bus.makeStream({
    ...{ name: `${name}_STATE`, subjects: [`${name}.s.*`], replicas, storage },
    ...(bytesMax === undefined ? {} : { bytesMax }),
  });
}

export class Checkpoints {
  readonly #options: CheckpointsOptions;
  readonly #objects: StateSection;
  readonly #pairs: StateSection;
  #failure: Error | undefined;
  /** Whether the colliding pairs are claimed. */
  #hasPairs = false;
  /** Whether a failed write was logged, and none has succeeded since. */
  #isReported = false;

  /** The stream must exist. */
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
    const subjectOf = (kind: StoredRow['kind'], id: string): string => {
      if (kind === 'collision')
        throw new TypeError(`Cannot write the row of collision "${id}": it belongs to no partition`);
      return this.#subjectOf(partitionOf(kind, id));
    };
    const isOwn = (kind: StoredRow['kind'], id: string): boolean => {
      return kind === 'collision' || options.isOwn?.(kind, id) !== false;
    };
    this.#objects = new StateSection({ ...common, subjectOf, isOwn });
    const pairs = { subjectOf: () => `${name}.s.collisions`, lastId: PROGRESS_ID };
    this.#pairs = new StateSection({ ...common, ...pairs, isOwn });
  }

  /** Error that stopped all writes; undefined while they go on. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  /**
   * Claims partitions in addition to those already claimed. Once it resolves, no write of a former owner succeeds. Rejects with
   * CheckpointsLost if a later map has assigned one to another hub, which has claimed it.
   */
  async claim({ partitions, collisions, epoch }: Claim): Promise<void> {
    for (const partition of partitions) {
      if (Number.isInteger(partition) && partition >= 0 && partition < PARTITIONS_MAX) continue;
      throw new RangeError(`Cannot claim partition ${partition}: partitions are 0 to ${PARTITIONS_MAX - 1}`);
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
   * Last row of each object and pair in the claimed subjects, including buffered rows, in parts. All of them are held in memory
   * meanwhile. Rows that are added after the first part are not included.
   */
  async *rows(): AsyncGenerator<readonly StoredRow[]> {
    const [objects, pairs] = await Promise.all([this.#objects.rows(), this.#pairs.rows()]);
    for (const rows of [objects, pairs]) yield* partsOf(rows.values());
  }

  /** Stops writing to these partitions, because another hub is about to claim them. */
  release(partitions: readonly number[]): Promise<void> {
    return this.#objects.release(partitions.map((partition) => this.#subjectOf(partition)));
  }

  /** Objects of this hub whose rows lie in these partitions but belong in others. */
  async misplacedIn(partitions: readonly number[]): Promise<readonly (readonly [LastKnownRow['kind'], string])[]> {
    const found = await this.#objects.misplacedIn(partitions.map((partition) => this.#subjectOf(partition)));
    return found as readonly (readonly [LastKnownRow['kind'], string])[];
  }

  /** Deletes, in claimed partitions, the rows of objects that former owners had released. */
  deleteReleased(releasedObjects: readonly ReleasedObjects[]): Promise<void> {
    return this.#objects.eraseOutdated(this.#outdated(releasedObjects));
  }

  /**
   * Last row of each object in these partitions, whichever hub writes there, in parts; without objects that former owners had
   * released.
   */
  async *rowsIn(
    partitions: readonly number[],
    releasedObjects: readonly ReleasedObjects[] = [],
  ): AsyncGenerator<readonly LastKnownRow[]> {
    const names = partitions.map((partition) => this.#subjectOf(partition));
    const rows = await this.#objects.rowsIn(names, this.#outdated(releasedObjects));
    yield* partsOf(rows.values()) as Generator<LastKnownRow[]>;
  }

  /** All colliding pairs. They must be claimed. */
  async pairs(): Promise<readonly CollisionRow[]> {
    const rows = await this.#pairs.rows();
    return Array.from(rows.values(), ({ buffer, at }) => rowAt(buffer, at) as CollisionRow);
  }

  /** Deletes rows that others have left in the partitions of this hub, once all members have taken them. */
  tidy(): Promise<void> {
    return this.#objects.tidy();
  }

  /** Adds rows that are newer than all before; bytes are copied. Hot path. */
  note(rows: Iterable<LastKnownRow> | PackedRows): void {
    if (this.#failure === undefined) this.#objects.note(packedRows(rows));
  }

  /**
   * Writes the rows added so far. Resolves when they are stored, except for rows of unclaimed partitions, which wait for their
   * claim. Calls during a write share the next one.
   */
  async write(): Promise<void> {
    await this.#objects.write();
    this.#isReported = false;
  }

  /** Writes rows of pairs that are newer than all before. Resolves when they are stored. */
  async noteCollisions(rows: Iterable<CollisionRow> | PackedRows): Promise<void> {
    this.#check();
    if (!this.#hasPairs) throw new Error('Cannot write colliding pairs: they are not claimed');
    this.#pairs.note(packedRows(rows));
    await this.#pairs.write();
    this.#isReported = false;
  }

  /** Closes it: nothing is retried, and pending calls are rejected after the current attempt. */
  close(): void {
    this.#end(new Error('The checkpoints are closed'));
  }

  #outdated(releasedObjects: readonly ReleasedObjects[]): readonly Outdated[] {
    return releasedObjects.map(({ partitions, objects }) => ({
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
    if (this.#isReported) return;
    this.#isReported = true;
    const found = why === 'full' ? 'it is full' : 'too much waits to be sent';
    this.#options.notice(`Cannot write to stream "${this.#options.name}_STATE": ${found}; retrying`);
  }
}

function* partsOf(places: Iterable<RowLocation>): Generator<StoredRow[]> {
  let part: StoredRow[] = [];
  for (const { buffer, at } of places) {
    part.push(rowAt(buffer, at));
    if (part.length < PART_ROWS) continue;
    yield part;
    part = [];
  }
  if (part.length > 0) yield part;
}
