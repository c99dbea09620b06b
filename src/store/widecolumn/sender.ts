import type { Client } from 'cassandra-driver';
import { TokenBucket } from '../../time/token_bucket.ts';
import { consistencyOf } from './connect.ts';
import { eachOf } from './each_of.ts';
import { judge } from './failures.ts';
import type { WideColumnDeps, WideColumnSettings } from './settings.ts';

/** Maximum number of concurrent writes: enough to use an idle cluster, without overloading a busy one. */
const AT_ONCE = 16;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2000;

/** A statement with its values. It contains its own timestamp, so writing it twice or late is harmless. */
export interface Statement {
  readonly query: string;
  readonly params: readonly unknown[];
}

/** Statements of one request. `isLogged` makes the batch atomic, at a cost. */
export interface WriteRequest {
  readonly statements: readonly Statement[];
  readonly bytes: number;
  readonly isLogged: boolean;
}

/**
 * Sends writes, limited by a token bucket, and retries writes that an overloaded database has rejected. A write fails
 * if it does not succeed within the request timeout.
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

  /** Sends writes concurrently. Rejects with the first failure, once none is in progress. */
  async sendAll(writes: readonly WriteRequest[]): Promise<void> {
    await eachOf(writes.values(), { atOnce: AT_ONCE }, (write) => this.send(write));
  }

  /** Sends one write, with retries until it succeeds or times out. */
  async send(write: WriteRequest): Promise<void> {
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
        // Jitter, so that retries do not coincide.
        const jitteredMs = pauseMs * (0.5 + random());
        if (!isPassing || now() + jitteredMs > untilMs) throw error;
        await wait(jitteredMs);
      }
    }
  }

  /** Counts a failed attempt of other code that uses the client. The sender counts its own failures. */
  countFailure(error: unknown): void {
    const { reason } = judge(error);
    this.#failures.set(reason, (this.#failures.get(reason) ?? 0) + 1);
  }

  get hasFailures(): boolean {
    return this.#failures.size > 0;
  }

  /** Returns the number of failed attempts since the last call, by reason. */
  takeFailures(): ReadonlyMap<string, number> {
    const failures = this.#failures;
    this.#failures = new Map();
    return failures;
  }

  async #execute({ statements, isLogged }: WriteRequest): Promise<void> {
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
