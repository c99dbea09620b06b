import type { Result } from '../report/result.ts';

/** CPU costs of a cluster's work, in microseconds. */
export interface Costs {
  /** Of the front thread of a hub, for each incoming and each published location. */
  readonly inUs: number;
  readonly outUs: number;
  /** Of a shard thread, for each location. */
  readonly shardUs: number;
  /** Of a front thread, for each append. */
  readonly appendUs: number;
  /** Of each server of a journal, for each append; and if the server has slept. */
  readonly keepUs: number;
  readonly wakeUs: number;
  /** Of the front threads of ingress hub and owner, for each forwarded location. */
  readonly handedUs: number;
}

/**
 * Costs of messages by length, measured with publisher, server and subscriber in separate processes, 300 bytes to 29 kB
 * (see "More hubs" in RESULTS.md).
 */
export const MESSAGE = {
  publish: { us: 1.2, usPerByte: 0.00093 },
  server: { us: 0.7, usPerByte: 0.0008 },
  take: { us: 1.2, usPerByte: 0.00058 },
} as const;

/** Cost of appends of 100 locations to a stream of three servers, 64 concurrently, without wake-ups of threads. */
const BUSY_APPEND_US = 70;
const BUSY_KEEP_US = 77;
/**
 * Shares of the threads in the CPU time of a hub in the `batch` scene. The rest is that of the engine's helpers and the
 * store.
 */
const SHARES = { front: 1.9 / 6.9, shards: 3.8 / 6.9 };
/** Share of the front thread's work before a location reaches its shard. */
const IN_SHARE = 0.6;
/** Locations per append at the rate at which the profile compares CPU: those of a body. */
const STEADY_PER_APPEND = 100;

/**
 * The costs that the `cluster` profile has measured. Its cost of routing includes two effects: all processes share two
 * cores, and each hub does half of the work, in smaller steps. With `isLean` routing costs as much as its messages.
 */
export function costsOf({ more }: Pick<Result, 'more'>, { isLean }: { readonly isLean: boolean }): Costs {
  const of = (name: string): number => {
    const value = more[name];
    if (value === undefined) throw new Error(`The cluster profile has no ${name}: run it again, with --save`);
    return value;
  };
  const alone = of('alone_full_us_per_location');
  const frontUs = alone * SHARES.front;
  const calm = STEADY_PER_APPEND * of('three_nats_nats_us_per_location');
  // Each of two hubs owns half of the objects, so half of the locations arrive at the other one.
  const handedUs = 2 * Math.max(0, of('two_hubs_full_us_per_location') - of('journal_full_us_per_location'));
  return {
    inUs: frontUs * IN_SHARE,
    outUs: frontUs * (1 - IN_SHARE),
    shardUs: alone * SHARES.shards,
    appendUs: BUSY_APPEND_US,
    keepUs: BUSY_KEEP_US,
    wakeUs: Math.max(0, calm / 3 - BUSY_KEEP_US),
    handedUs: isLean ? 0 : handedUs,
  };
}
