import type { Client } from 'cassandra-driver';
import { TokenBucket } from '../../time/token_bucket.ts';
import { consistencyOf } from './connect.ts';
import { eachOf } from './each_of.ts';
import { judge } from './failures.ts';
import type { WideColumnDeps, WideColumnSettings } from './settings.ts';

/** Writes at a time: enough to keep a cluster busy, and little for one that is. */
const AT_ONCE = 16;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2000;

/** A statement with its values. Each says its own time, so that writing it twice, or late, does no harm. */
export interface Statement {
  readonly query: string;
  readonly params: readonly unknown[];
}

/** Statements for one request. `isLogged`: the database carries out all of them or none, at a price. */
export interface Write {
  readonly statements: readonly Statement[];
  readonly bytes: number;
  readonly isLogged: boolean;
}

/**
 * Sends writes: no faster than the token bucket allows, and again, after a pause, what the database was too busy to do.
 * What it could not do within the time for a request fails.
 */
export class Sender {
  readonly #client: Client;
  readonly #deps: WideColumnDeps;
  readonly #bucket: TokenBucket;
  readonly #giveUpMs: number;
  readonly #consistency: number;
  #failures = new Map<string, number>();

  constructor(client: Client, settings: WideColumnSettings, deps: WideColumnDeps) {
    const { bytesPerSecond, burstBytes, requestTimeoutMs, writeConsistency } = settings;
    this.#client = client;
    this.#deps = deps;
    this.#bucket = new TokenBucket({ perSecond: bytesPerSecond, burst: burstBytes, nowMs: deps.now() });
    this.#giveUpMs = requestTimeoutMs;
    this.#consistency = consistencyOf(writeConsistency);
  }

  /** Sends writes, some at a time. Rejects with the first failure, once nothing is under way any more. */
  async sendAll(writes: readonly Write[]): Promise<void> {
    await eachOf(writes.values(), { atOnce: AT_ONCE }, (write) => this.send(write));
  }

  /** Sends one write, and again until it is done or its time is up. */
  async send(write: Write): Promise<void> {
    const { now, wait, random } = this.#deps;
    let untilMs: number | undefined;
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
      const delayMs = this.#bucket.take(write.bytes, now());
      if (delayMs > 0) await wait(delayMs);
      untilMs ??= now() + this.#giveUpMs;
      try {
        await this.#execute(write);
        return;
      } catch (error) {
        const { isPassing } = judge(error);
        this.countFailure(error);
        // Not all at the same moment again.
        const jitteredMs = pauseMs * (0.5 + random());
        if (!isPassing || now() + jitteredMs > untilMs) throw error;
        await wait(jitteredMs);
      }
    }
  }

  /** Counts an attempt that has failed: those of the sender are counted, others of its users are not. */
  countFailure(error: unknown): void {
    const { reason } = judge(error);
    this.#failures.set(reason, (this.#failures.get(reason) ?? 0) + 1);
  }

  get hasFailures(): boolean {
    return this.#failures.size > 0;
  }

  /** Attempts that have failed since the last call, by their reason. */
  takeFailures(): ReadonlyMap<string, number> {
    const failures = this.#failures;
    this.#failures = new Map();
    return failures;
  }

  async #execute({ statements, isLogged }: Write): Promise<void> {
    const consistency = this.#consistency;
    const [first] = statements;
    if (first !== undefined && statements.length === 1) {
      await this.#client.execute(first.query, [...first.params], { consistency });
      return;
    }
    const batch = statements.map(({ query, params }) => ({ query, params: [...params] }));
    await this.#client.batch(batch, { logged: isLogged, consistency });
  }
}
