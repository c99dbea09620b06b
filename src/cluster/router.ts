import type { Answer, Query } from '../core/item.ts';
import { HubError } from '../errors.ts';
import type { CountedRun } from '../wire/received_run.ts';
import { LocationQueues } from './location_queues.ts';
import { OwnerCalls, type OwnerCallsOptions } from './owner_calls.ts';
import { Questions } from './questions.ts';
import { isReleased, type Released } from './releases.ts';

/**
 * The way from a front door to those who serve objects: what is for one of them goes to whoever serves it, and what is
 * asked about all of them to everybody who serves any.
 *
 * Each request has a number. It is repeated until it is answered, and an owner that lives takes it once, whatever has
 * become of answers.
 */
export interface RouterOptions extends OwnerCallsOptions {
  /** How long locations may wait until they are processed; 6000 when left out. */
  readonly holdMs?: number;
  /** How many locations may wait. */
  readonly capacity: number;
}

/** What metrics tell of a router. */
export interface RouterGauges {
  /** Locations that are not processed yet. */
  readonly waiting: number;
  readonly waitingBytes: number;
  /** Locations that were processed elsewhere, or by the own door. */
  readonly forwarded: number;
  /** How often somebody was asked who did not serve what it was about. */
  readonly moved: number;
}

const HOLD_MS = 6000;

/** Opens the way. It is ended by `close`. */
export function openRouter(options: RouterOptions): Router {
  return new Router(options);
}

export class Router {
  readonly #options: RouterOptions;
  readonly #holdMs: number;
  readonly #calls: OwnerCalls;
  readonly #queues: LocationQueues;
  readonly #questions: Questions;
  #lastNumber = 0;

  /** Only for openRouter. */
  constructor(options: RouterOptions) {
    this.#options = options;
    const { holdMs = HOLD_MS } = options;
    this.#holdMs = holdMs;
    this.#calls = new OwnerCalls(options);
    const nextNumber = (): number => ++this.#lastNumber;
    const shared = { ...options, calls: this.#calls, holdMs, nextNumber };
    this.#queues = new LocationQueues(shared);
    this.#questions = new Questions(shared);
  }

  get gauges(): RouterGauges {
    return { ...this.#queues.gauges, moved: this.#calls.moved };
  }

  /** Whether that many more locations may wait. */
  hasCapacity(count: number): boolean {
    return this.#queues.hasCapacity(count);
  }

  /** Whether what the shards of this hub are handed now is behind all that came before: see LocationQueues.isClear. */
  isClear(): boolean {
    return this.#queues.isClear();
  }

  /** Takes records of locations, which are copied; their times are times of day. Who must not overfill it asks hasCapacity first. */
  // hot
  run(run: CountedRun): void {
    this.#queues.run(run);
  }

  /** The same, for locations that are all served by one hub, or by nobody. */
  // hot
  runTo(server: string | undefined, run: CountedRun): void {
    this.#queues.runTo(server, run);
  }

  /**
   * Resolves when the locations handed over since the last call are processed and committed; undefined if there were none.
   * A caller that hands over locations calls this in the same turn, so it waits only for its own. Rejects with the error of
   * their owner, and with HUB_UNAVAILABLE if they could not be handed over in time. Some of them may have been taken then.
   */
  kept(): Promise<void> | undefined {
    return this.#queues.kept();
  }

  /**
   * Asks whoever serves the object that is named, or everybody. Rejects with an owner's error, and with HUB_UNAVAILABLE when
   * one cannot be asked in time, or does not answer within a minute.
   */
  ask(query: Query): Promise<readonly Answer[]> {
    return this.#questions.ask(query);
  }

  /** Deletes the locations of providers, after those handed over before are processed. Rejects as ask does. */
  async forget(ids: readonly string[]): Promise<void> {
    await this.#queues.tried(ids);
    await this.#questions.forget(ids);
  }

  /**
   * Resolves when all that was handed over before has settled at its owners, and what that has changed in the configuration
   * is applied here. Rejects as ask does.
   */
  async settled(): Promise<void> {
    await this.#queues.allTried();
    const sequence = await this.#questions.settled();
    const { applied, reached } = this.#options;
    if (sequence > applied()) await reached(sequence, this.#holdMs);
  }

  /** What a member has released because of a record. Rejects as ask does, and when it is a member no more. */
  async released(from: string, sequence: number): Promise<Released> {
    const found = await this.#questions.released(from, sequence);
    if (!isReleased(found)) throw new HubError('HUB_INTERNAL', `${from} has released what cannot be read`);
    return found;
  }

  /** To be called when who serves what is not what it was, or somebody is no member any more. */
  ownershipChanged(): void {
    this.#queues.changed();
    this.#calls.changed();
  }

  /** Ends it: what waits is rejected. */
  close(): void {
    this.#calls.close();
    this.#questions.close();
    this.#queues.close();
  }
}
