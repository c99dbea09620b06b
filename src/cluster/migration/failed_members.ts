import { objectOfFenceEvent } from '../../core/fence/fence_event.ts';
import type { ObjectKind } from '../../model/id.ts';
import type { CountedRun } from '../../wire/received_run.ts';
import type { ClusterContext } from '../context.ts';
import { type ConfigState, leftOf, toDelete } from '../config/config_state.ts';
import type { ForwardRequest } from '../rpc/owner_protocol.ts';
import type { FailedFenceEvent } from '../../wire/fence_events.ts';
import { dropIncarnation, type RecoveredJournal, RecordedLocations, readSteps } from '../journal/journal_recovery.ts';

export interface FailedMembersOptions extends Pick<ClusterContext, 'bus' | 'name' | 'incarnation'> {
  /** Time that a request waits for an owner. */
  readonly holdMs: number;
  /** State after the last applied record. */
  state(): ConfigState;
  /** Whether an object is in a partition of this hub. */
  isOwn(kind: ObjectKind, id: string): boolean;
  /** Appends to the log that the journal of a hub is deleted. */
  forgotten(incarnation: string): Promise<void>;
  /** Calls `callback` after `delayMs`, unless this hub closes before. */
  after(delayMs: number, callback: () => void): void;
}

/** Recorded locations of previous owners are remembered for this multiple of the time that a request waits. */
const REPEATED_HOLDS = 2;

/** Removed members: the partitions that they had, and the contents of their journals. */
export class FailedMembers {
  readonly #options: FailedMembersOptions;
  /** Their partitions when they were removed. */
  readonly #had = new Map<string, readonly number[]>();
  /** Recorded locations, while ingress hubs may send them again. */
  readonly #recorded = new Map<string, RecordedLocations>();

  constructor(options: FailedMembersOptions) {
    this.#options = options;
  }

  /** Notes the partitions of removed members. Call it with each applied record. */
  noteEnds(): void {
    const state = this.#options.state();
    for (const incarnation of state.dead.keys()) {
      if (!this.#had.has(incarnation)) this.#had.set(incarnation, leftOf(state, incarnation));
    }
    for (const incarnation of this.#had.keys()) if (!state.dead.has(incarnation)) this.#had.delete(incarnation);
  }

  /** Partitions that a member had when it was removed; all of them if that is unknown. */
  hadAtItsEnd(incarnation: string): readonly number[] {
    return this.#had.get(incarnation) ?? [...(this.#options.state().map?.owners.keys() ?? [])];
  }

  /** Reads the journal of a removed member. */
  async leftBy(incarnation: string): Promise<RecoveredJournal> {
    const { bus, name } = this.#options;
    const left = await readSteps({ bus, name, incarnation });
    if (!this.#recorded.has(incarnation)) this.#whenUnasked(() => void this.#recorded.delete(incarnation));
    this.#recorded.set(incarnation, new RecordedLocations(left));
    return left;
  }

  /** Runs of a request without the locations that removed members have recorded to which it was sent before. */
  async unrecorded({ runs, ingress, sentBefore }: ForwardRequest): Promise<readonly CountedRun[]> {
    for (const { owner } of sentBefore) if (!this.#recorded.has(owner)) await this.leftBy(owner);
    return sentBefore.reduce((left, { owner, number }) => {
      return this.#recorded.get(owner)?.without(left, { ingress, number }) ?? left;
    }, runs);
  }

  /**
   * Whether a journaled fence event concerns an object that this hub owns or passes on. A migrating object may have reached its
   * destination already when that failed.
   */
  isOwnEvent({ event: [fields], of: dead }: FailedFenceEvent): boolean {
    const { incarnation, state, isOwn } = this.#options;
    const { migrating, map } = state();
    const [kind, id] = objectOfFenceEvent(fields);
    const move = migrating.flatMap(({ objects }) => objects).find(([of, its]) => of === kind && its === id);
    if (move === undefined) return isOwn(kind, id);
    const [, , from, to] = move;
    const partition = this.#had.get(dead)?.includes(to) === true ? to : from;
    return map?.owners[partition] === incarnation;
  }

  /** Deletes journals that no member needs any more, once ingress hubs send nothing again that these contain. */
  forgetLater(failed: (error: unknown) => void): void {
    this.#whenUnasked(() => void this.#forget().catch(failed));
  }

  async #forget(): Promise<void> {
    const { bus, name, state, forgotten } = this.#options;
    for (const { incarnation } of toDelete(state())) {
      await dropIncarnation(bus, name, incarnation);
      await forgotten(incarnation);
    }
  }

  #whenUnasked(callback: () => void): void {
    this.#options.after(REPEATED_HOLDS * this.#options.holdMs, callback);
  }
}
