import type { ObjectIds } from '../../core/item.ts';
import type { ObjectKind } from '../../model/id.ts';
import type { ClusterContext } from '../context.ts';
import type { ClusterEvents } from '../events/cluster_events.ts';
import { Acquisition, type AcquisitionOptions } from './acquire.ts';
import type { ClusterFanout } from '../fanout/cluster_fanout.ts';
import type { AppliedRecord } from '../config/config_log.ts';
import type { ConfigBody } from '../config/config_record.ts';
import { acquisitions, type ConfigState, serving } from '../config/config_state.ts';
import type { FailedMembers } from './failed_members.ts';
import { type JournaledRelease, readReleased } from '../journal/journal_recovery.ts';
import type { JournalRange } from '../journal/journal_reader.ts';
import { Releases, type ReleasesOptions } from './release.ts';
import type { RecoveredState } from './shard_adoption.ts';
import type { StepJournal } from '../journal/step_journal.ts';

export interface PartitionMigrationOptions
  extends Pick<ClusterContext, 'bus' | 'name' | 'incarnation' | 'notice' | 'elapsed' | 'now' | 'schedule'> {
  readonly checkpoints: AcquisitionOptions['checkpoints'];
  readonly journal: ReleasesOptions['journal'] & Pick<StepJournal, 'keepFenceEvents'>;
  readonly dead: FailedMembers;
  /** Undefined without an event log. */
  readonly events: Pick<ClusterEvents, 'recovered' | 'appender'> | undefined;
  /** State after the last applied record. */
  state(): ConfigState;
  /** Partition by the applied configuration, as for the next member. */
  partitionOf(kind: ObjectKind, id: string): number;
  isOwn(kind: ObjectKind, id: string): boolean;
  /** See AcquisitionOptions. */
  objectsIn(partitions: ReadonlySet<number>, config?: number, located?: Iterable<string>): ObjectIds;
  /** See ReleasesOptions. */
  deletedIn(partitions: ReadonlySet<number>): ObjectIds;
  /** Last record that the shards were notified of. */
  configured(): number;
  /** Whether this hub is a member, and is not closed. */
  isServing(): boolean;
  /** Position of what another member has released because of a record. Rejects if it is no member any more. */
  releasedElsewhere(from: string, sequence: number): Promise<JournalRange>;
  /** Resolves when a record is applied. Rejects after the time that a request waits. */
  applied(sequence: number): Promise<void>;
  /** Writes all flushed rows to the state. */
  writeState(): Promise<void>;
  /** Appends to the journal which configuration record the state reflects. */
  noteConfig(): Promise<void>;
  append(body: ConfigBody<'took' | 'arrived'>): Promise<unknown>;
  /** Resolves with the next record, when this hub has acquired something, or after `ms`. */
  change(ms?: number): Promise<void>;
  /** Something was acquired. */
  hasChanged(): void;
  /** Whether NATS can be reached. */
  isUp(): boolean;
  /** This hub cannot go on, and is out. */
  out(error: Error): void;
  /** The same, unless this hub closes before. */
  after(delayMs: number, callback: () => void): () => void;
}

/** Functions of the shards for objects that arrive or leave. */
export interface MigrationHandlers {
  /** Has the shards adopt objects. Resolves when they have them, and have flushed the rows of all of them. */
  adopt(left: RecoveredState): Promise<void>;
  /**
   * Has the shards release objects, after all earlier input. Resolves when their state is journaled and earlier events are
   * published.
   */
  release(objects: ObjectIds, sequence: number): Promise<void>;
  /** Has the shards flush rows of objects. Resolves when they have. */
  rewrite(objects: ObjectIds): Promise<void>;
  /** Migrating objects have arrived, or go elsewhere. */
  arrived(): void;
  /** Has the shards reevaluate trackables, as if their last change had come now. */
  force(trackables: readonly string[]): void;
}

/** Parts that exist once the hub has its entities. */
interface Attached {
  readonly handlers: MigrationHandlers;
  readonly fanout: ClusterFanout;
  readonly releases: Releases;
  readonly acquisition: Acquisition;
}

/** Pause before a failed takeover is retried. */
const AGAIN_MS = 500;
/** Pause before a journal is read again whose end was missing. */
const LAG_MS = 50;
/** Time after which the log says what a takeover waits for. */
const LONG_MS = 5000;
/** Time without progress after which a takeover is given up. */
const STUCK_MS = 20_000;

/**
 * Migration of objects from and to this hub: a record that takes objects from it releases them when it is applied
 * (release.ts); one that assigns objects to it has them acquired afterwards (acquire.ts), repeatedly until nothing is
 * left. Objects of removed members are taken over in the same way; then their journals are deleted.
 */
export class PartitionMigration {
  readonly #options: PartitionMigrationOptions;
  #attached: Attached | undefined;
  /** Trackables whose change acts at once, by the record that has moved them. */
  readonly #forced = new Map<number, readonly string[]>();
  #hasState = false;
  #isAcquiring = false;
  #takeovers = 0;
  #lastTakeoverMs = 0;

  constructor(options: PartitionMigrationOptions) {
    this.#options = options;
  }

  attach(handlers: MigrationHandlers, fanout: ClusterFanout): void {
    const releases = this.#newReleases(handlers, fanout);
    this.#attached = { handlers, fanout, releases, acquisition: this.#newAcquisition(handlers, fanout, releases) };
  }

  /** Whether the shards have adopted state, or own new partitions: their changes are journaled from then on. */
  get hasState(): boolean {
    return this.#hasState;
  }

  /** Whether something is being acquired, or written to the state. */
  get isAcquiring(): boolean {
    return this.#isAcquiring;
  }

  /** Number of takeovers from removed members, and the duration of the last one. */
  get takeovers(): { readonly count: number; readonly lastMs: number } {
    return { count: this.#takeovers, lastMs: this.#lastTakeoverMs };
  }

  /** Tests whether the shards have an object, or had it until others acquired it; undefined before `attach`. */
  arrived(): ((kind: ObjectKind, id: string) => boolean) | undefined {
    return this.#attached?.acquisition.arrived();
  }

  /** Tests whether a trackable is migrating to this hub, or undefined if no trackable is. */
  migratingTrackables(): ((id: string) => boolean) | undefined {
    if (this.#options.state().migrating.length === 0) return undefined;
    const migrating = this.#attached?.acquisition.migrating();
    return migrating && ((id) => migrating.get(`trackable ${id}`)?.isComing === true);
  }

  /** See Releases. */
  leavingFrom(kind: ObjectKind, id: string): number | undefined {
    return this.#attached?.releases.leavingFrom(kind, id);
  }

  /** Position of what this hub has released because of a record, once it is complete. Rejects if it never will be. */
  async released(sequence: number): Promise<JournalRange> {
    await this.#options.applied(sequence);
    return (this.#attached as Attached).releases.of(sequence);
  }

  /** Applies the ownership of a record, before the shards are notified of it. `before`: the previous state. */
  apply(record: AppliedRecord, before: ConfigState): void {
    this.#options.dead.noteEnds();
    this.#hasState ||= this.#hasNew();
    this.#noteForced(record);
    this.#attached?.releases.apply(record, before);
  }

  /** Drops released state that has arrived, after a change of ownership. */
  forgetArrived(): void {
    const { sources, migrating } = this.#options.state();
    const isWanted = (sequence: number): boolean => {
      return (
        sources.some(({ released }) => released === sequence) || migrating.some((each) => each.sequence === sequence)
      );
    };
    this.#attached?.releases.forget(isWanted);
    for (const sequence of this.#forced.keys()) if (!isWanted(sequence)) this.#forced.delete(sequence);
    this.#attached?.handlers.arrived();
  }

  async #releasedBy(of: string, sequence: number): Promise<readonly JournaledRelease[]> {
    const { bus, name, incarnation, releasedElsewhere, isServing, change } = this.#options;
    const range = await (of === incarnation ? this.released(sequence) : releasedElsewhere(of, sequence));
    while (isServing()) {
      const released = await readReleased({ bus, name, incarnation: of }, range);
      if (released !== undefined) return released;
      await change(LAG_MS);
    }
    throw new Error('This hub is no member any more');
  }

  /** Starts to acquire what is due, once the record is applied as a whole. */
  acquireSoon(): void {
    const attached = this.#attached;
    if (!this.#options.isServing() || this.#isAcquiring || attached?.acquisition.isDue !== true) return;
    this.#isAcquiring = true;
    queueMicrotask(() => void this.#acquireAll(attached));
  }

  /** Never rejects. */
  async #acquireAll({ handlers, releases, acquisition }: Attached): Promise<void> {
    const { state, incarnation, isServing, dead, change, hasChanged, notice, elapsed } = this.#options;
    const begunMs = elapsed();
    const sources = acquisitions(state(), incarnation).partitions;
    const isTakeover = sources.some(({ isMember }) => !isMember);
    const stopWatching = this.#watch(acquisition, begunMs);
    while (isServing()) {
      try {
        if (!(await acquisition.acquire())) break;
        handlers.arrived();
        for (const { sequence, objects } of state().migrating) releases.passOn(sequence, objects);
        hasChanged();
      } catch (error) {
        if (!isServing()) break;
        notice(`Cannot take over: ${(error as Error).message}`);
        await change(AGAIN_MS);
      }
    }
    this.#isAcquiring = false;
    stopWatching();
    if (!isServing()) return;
    if (isTakeover) {
      this.#takeovers++;
      this.#lastTakeoverMs = elapsed() - begunMs;
      notice(`Taken over in ${Math.round(this.#lastTakeoverMs)} ms: ${countOf(sources, state())}`, 'info');
    }
    dead.forgetLater((error) => notice(`Cannot delete journals: ${String(error)}`));
    this.acquireSoon();
  }

  /**
   * Logs what a slow acquisition waits for. If it makes no progress, this hub is out and starts over. Returns a function that
   * stops the watch.
   */
  #watch(acquisition: Acquisition, begunMs: number): () => void {
    const { isServing, isUp, out, after, notice, elapsed } = this.#options;
    let [stage, stageMs] = [acquisition.stage, begunMs];
    const look = (): void => {
      // The acquisition may never end then.
      if (!isServing()) return;
      const nowMs = elapsed();
      if (!isUp() || acquisition.stage !== stage) [stage, stageMs] = [acquisition.stage, nowMs];
      notice(`Taking over for ${Math.round(nowMs - begunMs)} ms so far: ${acquisition.stage}`);
      if (nowMs - stageMs >= STUCK_MS) out(new Error(`The takeover makes no progress: ${acquisition.stage}`));
      else cancel = after(LONG_MS, look);
    };
    let cancel = after(LONG_MS, look);
    return () => cancel();
  }

  /** Notes the trackables of a record whose change acts at once. */
  #noteForced({ sequence, body }: AppliedRecord): void {
    if (body.kind !== 'regroup') return;
    const forced = body.changes.filter(([kind, , text, force]) => kind === 'trackable' && force && text !== null);
    this.#forced.set(
      sequence,
      forced.map(([, id]) => id),
    );
  }

  #newReleases(handlers: MigrationHandlers, fanout: ClusterFanout): Releases {
    const { writeState, change, events } = this.#options;
    return new Releases({
      ...this.#options,
      unadopted: () => this.#attached?.acquisition.unadopted() ?? new Set(),
      release: (objects, sequence) => handlers.release(objects, sequence),
      rewrite: async (objects) => {
        await handlers.rewrite(objects);
        await writeState();
      },
      delivered: async () => {
        await Promise.all([fanout.channel.delivered(), events?.appender.settled()]);
      },
      changed: () => change(),
    });
  }

  /** Whether this hub has partitions that were never owned: it serves them at once, without state to adopt. */
  #hasNew(): boolean {
    const { state, incarnation } = this.#options;
    const { map, open } = serving(state());
    return map?.owners.some((owner, partition) => owner === incarnation && !open.has(partition)) === true;
  }

  #newAcquisition(handlers: MigrationHandlers, fanout: ClusterFanout, releases: Releases): Acquisition {
    const { journal, dead, events: log, writeState, noteConfig, now } = this.#options;
    return new Acquisition({
      ...{ ...this.#options, removed: dead, releases },
      released: (from, sequence) => this.#releasedBy(from, sequence),
      allInterestReceived: () => fanout.allInterestReceived(),
      announceAgain: async (events) => {
        const own = events.filter((event) => dead.isOwnEvent(event));
        if (own.length > 0) await journal.keepFenceEvents(own, now());
        log?.recovered(own);
        fanout.announceAgain(own);
      },
      adopt: async (left) => {
        this.#hasState = true;
        await handlers.adopt(left);
      },
      arrived: (sequence) => handlers.force(this.#forced.get(sequence) ?? []),
      write: async () => {
        await writeState();
        await noteConfig();
      },
    });
  }
}

function countOf(sources: readonly { readonly partitions: readonly number[] }[], { map }: ConfigState): string {
  const { size } = new Set(sources.flatMap(({ partitions }) => partitions));
  return `${size} of ${map?.owners.length ?? 0} partitions`;
}
