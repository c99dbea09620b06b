import type { QueryResult, Query } from '../../core/item.ts';
import { hubError } from '../../errors.ts';
import type { CountedRun } from '../../wire/received_run.ts';
import { LocationQueues } from '../routing/location_queues.ts';
import { OwnerCalls, type OwnerCallsOptions } from './owner_calls.ts';
import { OwnerQueries } from './owner_queries.ts';
import { isRange, type JournalRange } from '../journal/journal_reader.ts';

/**
 * Client of the owners of objects: routes locations and requests from an ingress hub to the hub that serves an object, or to
 * all hubs that serve something.
 *
 * Each request has a number. It is repeated until it is answered, and an owner takes it only once, even if answers are lost.
 */
export interface OwnerClientOptions extends OwnerCallsOptions {
  /** Time that locations may wait until they are processed; 6000 when left out. */
  readonly holdMs?: number;
  /** Number of locations that may wait. */
  readonly capacity: number;
}

const HOLD_MS = 6000;

export class OwnerClient {
  readonly #options: OwnerClientOptions;
  readonly #holdMs: number;
  readonly #calls: OwnerCalls;
  readonly #queues: LocationQueues;
  readonly #questions: OwnerQueries;
  #lastNumber = 0;

  constructor(options: OwnerClientOptions) {
    this.#options = options;
    const { holdMs = HOLD_MS } = options;
    this.#holdMs = holdMs;
    this.#calls = new OwnerCalls(options);
    const nextNumber = (): number => ++this.#lastNumber;
    const shared = { ...options, calls: this.#calls, holdMs, nextNumber };
    this.#queues = new LocationQueues(shared);
    this.#questions = new OwnerQueries(shared);
  }

  /** Numbers of LocationQueues, and of requests to hubs that did not serve their objects. */
  get gauges(): LocationQueues['gauges'] & Pick<OwnerCalls, 'moved'> {
    return { ...this.#queues.gauges, moved: this.#calls.moved };
  }

  /** Whether that many more locations may wait. */
  hasCapacity(count: number): boolean {
    return this.#queues.hasCapacity(count);
  }

  /** Whether direct input to this hub's shards comes after all earlier locations: see LocationQueues.isClear. */
  isClear(): boolean {
    return this.#queues.isClear();
  }

  /**
   * Takes records of locations, which are copied; their times are wall-clock times. Call `hasCapacity` first to respect the
   * bound.
   */
  // hot
  run(run: CountedRun): void {
    this.#queues.run(run);
  }

  /** The same for locations that are all served by one hub, or by none. */
  // hot
  runTo(server: string | undefined, run: CountedRun): void {
    this.#queues.runTo(server, run);
  }

  /**
   * Resolves when the locations handed over since the last call are processed and committed; undefined if there were none.
   * A caller that hands over locations calls this in the same turn, so it waits only for its own. Rejects with the error of
   * their owner, and with HUB_UNAVAILABLE if they could not be handed over in time. Some of them may have been taken then.
   */
  committed(): Promise<void> | undefined {
    return this.#queues.committed();
  }

  /**
   * Queries the hub that serves the named object, or all. Rejects with an owner's error, and with HUB_UNAVAILABLE if one cannot
   * be queried in time, or does not answer within a minute.
   */
  ask(query: Query): Promise<readonly QueryResult[]> {
    return this.#questions.ask(query);
  }

  /** Deletes the locations of providers, after locations handed over before are processed. Rejects as `ask` does. */
  async forget(ids: readonly string[]): Promise<void> {
    await this.#queues.tried(ids);
    await this.#questions.forget(ids);
  }

  /**
   * Resolves when everything handed over before is processed by its owners, and the configuration changes that follow are
   * applied here. Rejects as `ask` does.
   */
  async settled(): Promise<void> {
    await this.#queues.allTried();
    const sequence = await this.#questions.settled();
    const { applied, reached } = this.#options;
    if (sequence > applied()) await reached(sequence, this.#holdMs);
  }

  /**
   * Requests the range of a member's journal with the objects that it has released because of a record. Rejects as `ask` does, and
   * if it is no member any more.
   */
  async released(from: string, sequence: number): Promise<JournalRange> {
    const found = await this.#questions.released(from, sequence);
    if (!isRange(found))
      throw hubError('hub_protocol', {}, { detail: `The answer of ${from} is no range of a journal` });
    return found;
  }

  /** Follows a change of ownership or members. */
  ownershipChanged(): void {
    this.#queues.changed();
    this.#calls.changed();
  }

  /** Closes it and rejects everything that is pending. */
  close(): void {
    this.#calls.close();
    this.#questions.close();
    this.#queues.close();
  }
}
