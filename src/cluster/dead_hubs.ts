import { objectOfFenceEvent } from '../core/fence/fence_event.ts';
import type { ObjectKind } from '../model/id.ts';
import { PARTITIONS } from '../shards/affinity.ts';
import type { CountedRun } from '../wire/received_run.ts';
import type { Bus } from './bus.ts';
import { type ConfigState, leftOf, toDelete } from './config_state.ts';
import { ANYBODY } from './door_message.ts';
import type { FenceEventLeft } from './fan_out_message.ts';
import { dropIncarnation, type JournalLeft, RecordedLocations, readSteps } from './steps_left.ts';

export interface DeadHubsOptions {
  readonly bus: Bus;
  /** Of the cluster. */
  readonly name: string;
  /** Of this hub. */
  readonly incarnation: string;
  /** How long a request waits for an owner. */
  readonly holdMs: number;
  /** By the last record that is applied. */
  state(): ConfigState;
  /** Whether an object is in a partition of this hub. */
  isOwn(kind: ObjectKind, id: string): boolean;
  /** Says in the log that nothing of a hub is there any more. */
  forgotten(incarnation: string): Promise<void>;
  /** Calls back after a delay, unless this hub ends before. */
  after(delayMs: number, callback: () => void): void;
}

const ALL_PARTITIONS = Array.from({ length: PARTITIONS }, (_, partition) => partition);
/** For how many times as long as a request waits the locations are known that owners before have recorded. */
const REPEATED_HOLDS = 2;

/** What this hub knows of hubs that are gone: what they had, and what they have left in their journals. */
export class DeadHubs {
  readonly #options: DeadHubsOptions;
  /** Their partitions at their ends. */
  readonly #had = new Map<string, readonly number[]>();
  /** For as long as front doors may hand in what they have handed to them before. */
  readonly #recorded = new Map<string, RecordedLocations>();

  constructor(options: DeadHubsOptions) {
    this.#options = options;
  }

  /** Takes note of what they had. To be called with each record, when it is applied. */
  noteEnds(): void {
    const state = this.#options.state();
    for (const incarnation of state.dead.keys()) {
      if (!this.#had.has(incarnation)) this.#had.set(incarnation, leftOf(state, incarnation));
    }
    for (const incarnation of this.#had.keys()) if (!state.dead.has(incarnation)) this.#had.delete(incarnation);
  }

  /** The partitions that one had at its end; all of them where that is not known. */
  hadAtItsEnd(incarnation: string): readonly number[] {
    return this.#had.get(incarnation) ?? ALL_PARTITIONS;
  }

  /** Reads the journal of one. */
  async leftBy(incarnation: string): Promise<JournalLeft> {
    const { bus, name } = this.#options;
    const left = await readSteps({ bus, name, incarnation });
    if (!this.#recorded.has(incarnation)) this.#whenUnasked(() => void this.#recorded.delete(incarnation));
    this.#recorded.set(incarnation, new RecordedLocations([...left.earlier, ...left.steps]));
    return left;
  }

  /** Runs without the locations that these have recorded. */
  async unrecorded(runs: readonly CountedRun[], by: readonly string[]): Promise<readonly CountedRun[]> {
    const known = by === ANYBODY ? [...this.#recorded.keys()] : by;
    for (const incarnation of known) if (!this.#recorded.has(incarnation)) await this.leftBy(incarnation);
    return known.reduce((left, incarnation) => this.#recorded.get(incarnation)?.without(left) ?? left, runs);
  }

  /**
   * Whether a fence event that one has recorded is of an object that this hub is to own, or is to pass on: on its way it may
   * have been with the one that it went to already.
   */
  isOwnEvent({ event: [fields], of: dead }: FenceEventLeft): boolean {
    const { incarnation, state, isOwn } = this.#options;
    const { onTheWay, map } = state();
    const [kind, id] = objectOfFenceEvent(fields);
    const move = onTheWay.flatMap(({ objects }) => objects).find(([of, its]) => of === kind && its === id);
    if (move === undefined) return isOwn(kind, id);
    const [, , from, to] = move;
    const partition = this.#had.get(dead)?.includes(to) === true ? to : from;
    return map?.owners[partition] === incarnation;
  }

  /** Deletes, when front doors hand in nothing more that they have recorded, the journals that nobody reads any more. */
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
