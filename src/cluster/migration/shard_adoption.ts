import type { CollisionRow } from '../../core/collision/row.ts';
import type { LastKnownRow, ObjectIds } from '../../core/item.ts';
import type { FailedFenceEvent } from '../../wire/fence_events.ts';
import type { PackedStep } from '../../wire/journal_record.ts';
import { type ClusterContext, pause } from '../context.ts';
import { namesOf, objectsOf } from './release.ts';
import { byEvaluated, type SourceState } from './source_state.ts';

export interface ShardAdoptionOptions extends Pick<ClusterContext, 'notice' | 'now' | 'schedule'> {
  /** Last record that the shards were notified of. */
  configured(): number;
  /** Resolves when all hubs have sent their interest. */
  allInterestReceived(): Promise<void>;
  /**
   * Records the last fence events of failed owners in the journal of this hub, then announces them, in order, to the
   * subscribers that have not received them.
   */
  announceAgain(events: readonly FailedFenceEvent[]): Promise<void>;
  /** Has the shards adopt state. Resolves when they have it, and have flushed its rows. */
  adopt(left: RecoveredState): Promise<void>;
}

/** State of previous owners. */
export interface RecoveredState {
  readonly objects: ObjectIds;
  readonly rows: readonly LastKnownRow[];
  /** All colliding pairs, if this hub has just acquired the stage; undefined otherwise. */
  readonly pairs: readonly CollisionRow[] | undefined;
  /** Changes since the rows, in order. */
  readonly steps: readonly PackedStep[];
  /** Last record of the configuration log that the owners have evaluated in it. */
  readonly config: number;
  /** Whether part of it is of a removed member, so that its objects were unserved for a while. */
  readonly isLate: boolean;
}

/** Largest difference of clocks that a takeover waits for. */
const AHEAD_MS_MAX = 1000;

/**
 * Passes the state of previous owners to the shards: once time has reached theirs, and all hubs get the events that they want.
 * Sources that have evaluated different records are adopted in several parts.
 */
export class ShardAdoption {
  readonly #options: ShardAdoptionOptions;
  /** Reports what it waits for. */
  readonly #stage: (stage: string) => void;
  /** Objects, as "kind id", that the shards have of an adoption in several parts. */
  readonly #handed = new Set<string>();

  constructor(options: ShardAdoptionOptions, stage: (stage: string) => void) {
    this.#options = options;
    this.#stage = stage;
  }

  /** Whether the shards have an object, as "kind id", of an adoption in progress. */
  isHanded(name: string): boolean {
    return this.#handed.has(name);
  }

  /**
   * Has the shards adopt the state of some sources. `what`: objects and rows, given the last record that is evaluated in it.
   * Resolves when they have it.
   */
  async adopt(
    left: readonly SourceState[],
    what: (config: number) => Pick<RecoveredState, 'objects' | 'rows' | 'pairs' | 'isLate'> & {
      readonly undelivered: readonly FailedFenceEvent[];
    },
  ): Promise<void> {
    const { allInterestReceived, announceAgain, adopt, configured } = this.#options;
    await this.#until(Math.max(0, ...left.map(({ endMs }) => endMs)));
    // From the first event on, all hubs must get the events that they want.
    this.#stage('waiting for the interest of other hubs');
    await allInterestReceived();
    this.#stage('passing the state to the shards');
    // If no source states a record, nothing is evaluated again.
    const first = left.find((each) => each.config > 0)?.config ?? configured();
    const { undelivered, objects, pairs, ...rest } = what(first);
    const wanted = new Set(namesOf(objects).map((name) => name.join(' ')));
    const steps = left.flatMap((each) => {
      const except = each.departed.filter((name) => wanted.has(name));
      return except.length === 0 ? each.steps : each.steps.map((step) => ({ ...step, except }));
    });
    await announceAgain(undelivered);
    const parts = byEvaluated(without(objects, this.#handed), left, first);
    for (const [i, [config, theirs]] of parts.entries()) {
      const isLast = i === parts.length - 1;
      await adopt({ ...rest, objects: theirs, pairs: isLast ? pairs : undefined, steps, config });
      for (const name of namesOf(theirs)) this.#handed.add(name.join(' '));
    }
    this.#handed.clear();
  }

  /** Time must not go backward for the objects, although the clock of the previous owner may be ahead of this one. */
  async #until(latestMs: number): Promise<void> {
    const { now, notice } = this.#options;
    const aheadMs = latestMs - now();
    if (aheadMs <= 0) return;
    this.#stage('waiting for the clock of the hub that owned the objects');
    if (aheadMs > AHEAD_MS_MAX)
      notice(`The clock of the hub that owned the objects is ahead by ${Math.round(aheadMs)} ms`);
    await pause(this.#options, Math.min(aheadMs, AHEAD_MS_MAX));
  }
}

export function without(objects: ObjectIds, names: ReadonlySet<string>): ObjectIds {
  return names.size === 0 ? objects : objectsOf(namesOf(objects).filter((name) => !names.has(name.join(' '))));
}
