import type { ObjectIds } from '../core/item.ts';
import type { ObjectKind } from '../model/id.ts';
import { PARTITIONS } from '../shards/affinity.ts';
import type { ReleasedStep } from '../wire/journal_record.ts';
import { Acquisition, type AcquisitionOptions, type LeftBehind } from './acquisition.ts';
import type { ClusterFanout } from './cluster_fanout.ts';
import type { AppliedRecord } from './config_log.ts';
import type { ConfigBody } from './config_record.ts';
import { acquisitions, type ConfigState, serving } from './config_state.ts';
import type { DeadHubs } from './dead_hubs.ts';
import type { Notice } from './notice.ts';
import { type Released, Releases, type ReleasesOptions } from './releases.ts';

export interface HandoversOptions {
  /** Of this hub. */
  readonly incarnation: string;
  readonly checkpoints: AcquisitionOptions['checkpoints'];
  readonly journal: ReleasesOptions['journal'];
  readonly dead: DeadHubs;
  /** By the last record that is applied. */
  state(): ConfigState;
  /** By what is applied, as is the next. */
  partitionOf(kind: ObjectKind, id: string): number;
  isOwn(kind: ObjectKind, id: string): boolean;
  /** See AcquisitionOptions. */
  objectsIn(partitions: ReadonlySet<number>, config?: number, located?: Iterable<string>): ObjectIds;
  /** The last record that the shards were told of. */
  configured(): number;
  /** Whether this hub is a member, and has not ended. */
  isServing(): boolean;
  /** What another member has released because of a record. Rejects when it is a member no more. */
  releasedElsewhere(from: string, sequence: number): Promise<Released>;
  /** Resolves when a record is applied. Rejects when it is not for as long as a request waits. */
  applied(sequence: number): Promise<void>;
  /** Writes all rows that were handed out to the state. */
  writeState(): Promise<void>;
  /** Says in the journal which record of the configuration log is evaluated in the state. */
  noteConfig(): Promise<void>;
  append(body: ConfigBody<'took' | 'arrived'>): Promise<unknown>;
  /** Resolves with the next record, or when this hub has acquired something; after a while in any case. */
  change(ms?: number): Promise<void>;
  /** Something was acquired. */
  hasChanged(): void;
  /** Whether NATS can be reached. */
  isUp(): boolean;
  /** It cannot go on: this hub is out. */
  out(error: Error): void;
  /** Time of day. */
  now(): number;
  /** Time that has passed since some moment. */
  elapsed(): number;
  /** Calls back after a delay; returns how to call it off. */
  schedule(delayMs: number, callback: () => void): () => void;
  /** The same, unless this hub ends before. */
  after(delayMs: number, callback: () => void): () => void;
  readonly notice: Notice;
}

/** What the shards are to do about objects that come or go. */
export interface HandoverHandlers {
  /** Has the shards adopt objects. Resolves when they have them, and have handed out the rows of all of them. */
  adopt(left: LeftBehind): Promise<void>;
  /**
   * Has the shards forget objects, behind all that they were told. Resolves with steps that state all of it, when that is
   * kept and what came before is told.
   */
  release(objects: ObjectIds, sequence: number): Promise<readonly ReleasedStep[]>;
  /** Has the shards hand out rows of objects. Resolves when they have. */
  writeAnew(objects: ObjectIds): Promise<void>;
  /** Objects that were on their way are here, or go elsewhere. */
  arrived(): void;
  /** Has the shards look where trackables are now, as if their last change had come now. */
  force(trackables: readonly string[]): void;
}

/** The parts that there are once the hub has its entities. */
interface Attached {
  readonly handlers: HandoverHandlers;
  readonly fanout: ClusterFanout;
  readonly releases: Releases;
  readonly acquisition: Acquisition;
}

/** Until a takeover that has failed is tried again. */
const AGAIN_MS = 500;
/** After which it is said what a takeover waits for. */
const LONG_MS = 5000;
/** After which it is given up, where it is still at the same. */
const STUCK_MS = 20_000;

/**
 * How objects leave this hub, and come to it: what a record takes from it is released when the record is applied
 * (releases.ts); what one gives to it is acquired after that (acquisition.ts), again and again until there is nothing left
 * to be had. What hubs that are gone have owned is taken over in the same way, and then their journals are deleted.
 */
export class Handovers {
  readonly #options: HandoversOptions;
  #attached: Attached | undefined;
  /** By the records that have sent objects on their way: trackables whose change is to act at once. */
  readonly #forced = new Map<number, readonly string[]>();
  #hasState = false;
  #isAcquiring = false;
  #takeovers = 0;
  #lastTakeoverMs = 0;

  constructor(options: HandoversOptions) {
    this.#options = options;
  }

  attach(handlers: HandoverHandlers, fanout: ClusterFanout): void {
    const releases = this.#newReleases(handlers, fanout);
    this.#attached = { handlers, fanout, releases, acquisition: this.#newAcquisition(handlers, fanout, releases) };
  }

  /** Whether the shards have been handed some state, or have what nobody had before: what they change is recorded from then on. */
  get hasState(): boolean {
    return this.#hasState;
  }

  /** Whether something is to come here, or to be written to the state, that is not there yet. */
  get isAcquiring(): boolean {
    return this.#isAcquiring;
  }

  /** How often this hub has taken over from hubs that are gone, and how long it took the last time. */
  get takeovers(): { readonly count: number; readonly lastMs: number } {
    return { count: this.#takeovers, lastMs: this.#lastTakeoverMs };
  }

  /** Tells the objects that the shards have, or had until others took them; undefined before `attach`. */
  arrived(): ((kind: ObjectKind, id: string) => boolean) | undefined {
    return this.#attached?.acquisition.arrived();
  }

  /** Tells the trackables that are on their way to this hub; undefined while there are none. */
  trackablesOnTheWay(): ((id: string) => boolean) | undefined {
    if (this.#options.state().onTheWay.length === 0) return undefined;
    const onTheWay = this.#attached?.acquisition.onTheWay();
    return onTheWay && ((id) => onTheWay.get(`trackable ${id}`)?.isComing === true);
  }

  /** What this hub has released because of a record, once that is all. Rejects when it never will be. */
  async released(sequence: number): Promise<Released> {
    await this.#options.applied(sequence);
    return (this.#attached as Attached).releases.of(sequence);
  }

  /** A record says who owns what, and the shards have yet to be told of it. `before`: what was applied before. */
  apply(record: AppliedRecord, before: ConfigState): void {
    this.#options.dead.noteEnds();
    this.#hasState ||= this.#hasNew();
    this.#noteForced(record);
    this.#attached?.releases.apply(record, before);
  }

  /** Who serves what is not what it was: forgets what was to be handed over, and has arrived. */
  forgetArrived(): void {
    const { sources, onTheWay } = this.#options.state();
    const isWanted = (sequence: number): boolean => {
      return (
        sources.some(({ released }) => released === sequence) || onTheWay.some((each) => each.sequence === sequence)
      );
    };
    this.#attached?.releases.forget(isWanted);
    for (const sequence of this.#forced.keys()) if (!isWanted(sequence)) this.#forced.delete(sequence);
    this.#attached?.handlers.arrived();
  }

  /** Acquires what is due, if anything is, when the record is applied as a whole. */
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
        for (const { sequence, objects } of state().onTheWay) releases.passOn(sequence, objects);
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
      notice(`Taken over in ${Math.round(this.#lastTakeoverMs)} ms: ${countOf(sources)}`, 'info');
    }
    dead.forgetLater((error) => notice(`Cannot delete journals: ${String(error)}`));
    this.acquireSoon();
  }

  /**
   * Says what an acquisition waits for where that takes long, and gives it up where that is for ever: then this hub begins anew.
   * Returns how to end that.
   */
  #watch(acquisition: Acquisition, begunMs: number): () => void {
    const { isServing, isUp, out, after, notice, elapsed } = this.#options;
    let [stage, stageMs] = [acquisition.stage, begunMs];
    const look = (): void => {
      // It may never end then.
      if (!isServing()) return;
      const nowMs = elapsed();
      if (!isUp() || acquisition.stage !== stage) [stage, stageMs] = [acquisition.stage, nowMs];
      notice(`Taking over for ${Math.round(nowMs - begunMs)} ms so far: ${acquisition.stage}`);
      if (nowMs - stageMs >= STUCK_MS) out(new Error(`The takeover does not go on: ${acquisition.stage}`));
      else cancel = after(LONG_MS, look);
    };
    let cancel = after(LONG_MS, look);
    return () => cancel();
  }

  /** Takes note of the trackables of a record that moves some whose change is to act at once. */
  #noteForced({ sequence, body }: AppliedRecord): void {
    if (body.kind !== 'regroup') return;
    const forced = body.changes.filter(([kind, , text, force]) => kind === 'trackable' && force && text !== null);
    this.#forced.set(
      sequence,
      forced.map(([, id]) => id),
    );
  }

  #newReleases(handlers: HandoverHandlers, fanout: ClusterFanout): Releases {
    const { incarnation, journal, checkpoints, state, isOwn, isServing, objectsIn, writeState, change, now, notice } =
      this.#options;
    return new Releases({
      ...{ incarnation, journal, checkpoints, state, isOwn, isServing, now, notice },
      objectsIn: (partitions) => objectsIn(partitions),
      unadopted: () => this.#attached?.acquisition.unadopted() ?? new Set(),
      release: (objects, sequence) => handlers.release(objects, sequence),
      writeAnew: async (objects) => {
        await handlers.writeAnew(objects);
        await writeState();
      },
      sentBefore: () => fanout.sentBefore(),
      changed: () => change(),
    });
  }

  /** Whether this hub has partitions that nobody had before: it serves them at once, and there is nothing to be handed to the shards. */
  #hasNew(): boolean {
    const { state, incarnation } = this.#options;
    const { map, open } = serving(state());
    return map?.owners.some((owner, partition) => owner === incarnation && !open.has(partition)) === true;
  }

  #newAcquisition(handlers: HandoverHandlers, fanout: ClusterFanout, releases: Releases): Acquisition {
    const { incarnation, checkpoints, dead, state, partitionOf, objectsIn, configured } = this.#options;
    const { releasedElsewhere, writeState, noteConfig, append, now, schedule, notice } = this.#options;
    return new Acquisition({
      ...{ incarnation, checkpoints, state, partitionOf, objectsIn, configured, now, schedule, notice },
      hadAtItsEnd: (of) => dead.hadAtItsEnd(of),
      released: (from, sequence) =>
        from === incarnation ? this.released(sequence) : releasedElsewhere(from, sequence),
      isReleased: (sequence, kind, id) => releases.isReleased(sequence, kind, id),
      relay: (sequence, released, names) => releases.relay(sequence, released, names),
      follow: (from, released) => fanout.tookBehind(from, released),
      allHeard: () => fanout.allHeard(),
      announceAgain: (events) => fanout.announceAgain(events.filter((event) => dead.isOwnEvent(event))),
      adopt: async (left) => {
        this.#hasState = true;
        await handlers.adopt(left);
      },
      arrived: (sequence) => handlers.force(this.#forced.get(sequence) ?? []),
      leftBy: (of) => dead.leftBy(of),
      write: async () => {
        await writeState();
        await noteConfig();
      },
      took: async (of, partitions) => {
        await append({ kind: 'took', by: incarnation, of, partitions, requests: [] });
      },
      tookObjects: async (sequence, partitions) => {
        await append({ kind: 'arrived', by: incarnation, sequence, partitions });
      },
    });
  }
}

function countOf(sources: readonly { readonly partitions: readonly number[] }[]): string {
  const { size } = new Set(sources.flatMap(({ partitions }) => partitions));
  return `${size} of ${PARTITIONS} partitions`;
}
