// hot: run for each message that is sent
import type { Connection, Fate } from './connection.ts';
import type { Feed } from './feed.ts';
import { Latencies, type Percentiles } from './latencies.ts';
import { Pacing } from './pacing.ts';
import { Stamp } from './slots.ts';

export interface Interval {
  /** Messages per second; undefined for the maximum. */
  readonly perSecond: number | undefined;
  readonly warmupSeconds: number;
  readonly seconds: number;
  /** Whether messages that an open loop has not sent at the end are dropped. */
  readonly abandon?: boolean;
  /** Number of connections to use, from the first; all by default. */
  readonly connections?: number;
  /** Interval of bursts, in milliseconds; without it, messages are spread evenly. */
  readonly burstMs?: number | undefined;
  /** Pause between the warm-up and the measured part of an open loop; none by default. */
  readonly pauseSeconds?: number | undefined;
}

/** Locations by outcome. */
export interface Tally {
  offered: number;
  accepted: number;
  refused: number;
  failed: number;
}

export interface Sent {
  /** Of the whole run. */
  readonly total: Tally;
  /** Of those answered in the measured interval; offered are those that were due in it. */
  readonly measured: Tally;
  readonly measuredSeconds: number;
  /** From the due time of a message to its response. */
  readonly put: Percentiles;
  /** 503 responses without a Retry-After. */
  readonly retryAfterMissing: number;
}

const WAKE_MS = 1;
const PRIMING_CONNECTIONS = 10;
const PRIMING_PAUSE_MS = 50;

/** Sends a feed over connections, one run at a time. */
export class Sender {
  readonly #feed: Feed;
  readonly #connections: readonly Connection[];
  readonly #nowUs: () => number;

  constructor(feed: Feed, { connections, nowUs }: { connections: readonly Connection[]; nowUs: () => number }) {
    this.#feed = feed;
    this.#connections = connections;
    this.#nowUs = nowUs;
  }

  /** Sends for an interval. Resolves when everything has been answered. Calls `measuring` at the start of each part. */
  async run(interval: Interval, measuring: (is: boolean) => void): Promise<Sent> {
    const { warmupSeconds, seconds, burstMs, pauseSeconds = 0 } = interval;
    const startUs = this.#nowUs();
    const warmUs = startUs + warmupSeconds * 1e6;
    const fromUs = warmUs + pauseSeconds * 1e6;
    const endUs = fromUs + seconds * 1e6;
    const pacing = new Pacing({
      connections: this.#connections.length,
      startUs,
      endUs,
      ...interval,
      ...(burstMs !== undefined && { burstUs: burstMs * 1000 }),
      pause: { fromUs: warmUs, us: pauseSeconds * 1e6 },
    });
    const [total, measured, put] = [newTally(), newTally(), new Latencies()];
    const stamp = new Stamp();
    const send = (connection: number, dueUs: number): void => {
      stamp.set(dueUs);
      const { bytes, locations } = this.#feed.next(connection, stamp);
      const isMeasured = dueUs >= fromUs;
      total.offered += locations;
      if (isMeasured) measured.offered += locations;
      this.#connections[connection]!.send(bytes, (fate) => {
        const nowUs = this.#nowUs();
        total[fate] += locations;
        if (nowUs >= fromUs && nowUs < endUs) measured[fate] += locations;
        if (isMeasured && fate === 'accepted') put.record(nowUs - dueUs);
        if (fate === 'refused') this.#feed.refused?.(connection);
        // A closed connection would fail at once, in an endless loop.
        if (fate === 'failed') throw new Error('A message was neither accepted nor refused');
        pacing.answered(connection, fate === 'refused', nowUs, send);
      });
    };
    let phase: 'warmup' | 'measured' | 'over' = 'warmup';
    for (let nowUs = startUs; !pacing.isOver(nowUs); nowUs = this.#nowUs()) {
      if (phase === 'warmup' && nowUs >= fromUs) {
        phase = 'measured';
        measuring(true);
      }
      if (phase === 'measured' && nowUs >= endUs) {
        phase = 'over';
        measuring(false);
      }
      pacing.take(nowUs, send);
      await new Promise((resolve) => setTimeout(resolve, WAKE_MS));
    }
    // Both are called, even if the machine was suspended through the whole interval.
    if (phase === 'warmup') measuring(true);
    if (phase !== 'over') measuring(false);
    return {
      total,
      measured,
      measuredSeconds: seconds,
      put: put.percentiles(),
      retryAfterMissing: this.#retryAfterMissing(),
    };
  }

  #retryAfterMissing(): number {
    return this.#connections.reduce((sum, connection) => sum + connection.retryAfterMissing, 0);
  }

  /**
   * Sends each message of the feed once, and retries rejected ones, so that the hub knows every provider. It uses few
   * connections, since the creation of providers dominates.
   */
  async prime(): Promise<Tally> {
    const total = newTally();
    const each = Math.ceil(this.#feed.messagesPerRound / this.#connections.length);
    const waiting = this.#connections.keys();
    const worker = async (): Promise<void> => {
      for (const connection of waiting) {
        for (let turn = 0; turn < each; turn++) await this.#sendUntilAccepted(connection, total);
      }
    };
    await Promise.all(Array.from({ length: PRIMING_CONNECTIONS }, worker));
    return total;
  }

  async #sendUntilAccepted(connection: number, total: Tally): Promise<void> {
    const stamp = new Stamp();
    stamp.set(this.#nowUs());
    const { bytes, locations } = this.#feed.next(connection, stamp);
    for (;;) {
      const fate = await new Promise<Fate>((resolve) => this.#connections[connection]!.send(bytes, resolve));
      total.offered += locations;
      total[fate] += locations;
      if (fate === 'accepted') return;
      if (fate === 'failed') throw new Error('A message was neither accepted nor refused');
      await new Promise((resolve) => setTimeout(resolve, PRIMING_PAUSE_MS));
    }
  }
}

function newTally(): Tally {
  return { offered: 0, accepted: 0, refused: 0, failed: 0 };
}
