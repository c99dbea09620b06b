import type { Bus } from './nats/bus.ts';

/** Logs a line of this hub, as a warning unless `level` says otherwise. */
export type Notice = (text: string, level?: 'info' | 'warn') => void;

/** Context of nearly all parts of a cluster: the connection, the names of this hub, its clocks and its log. */
export interface ClusterContext {
  readonly bus: Bus;
  /** Name of the cluster, with which all subjects and streams begin. */
  readonly name: string;
  /** Name of this hub, the same after a restart. */
  readonly hubName: string;
  /** Member id of this hub, a new one with each start. */
  readonly incarnation: string;
  readonly notice: Notice;
  /** Monotonic time in milliseconds. */
  elapsed(): number;
  /** Wall-clock time in milliseconds. */
  now(): number;
  /** Calls `callback` after `delayMs`. Returns a function that cancels it. */
  schedule(delayMs: number, callback: () => void): () => void;
}

/** Resolves after a delay. */
export function pause({ schedule }: Pick<ClusterContext, 'schedule'>, delayMs: number): Promise<void> {
  return new Promise((resolve) => void schedule(delayMs, resolve));
}

/** The members of a context, without those of the options that extend it. */
export function contextOf(options: ClusterContext): ClusterContext {
  const { bus, name, hubName, incarnation, notice, elapsed, now, schedule } = options;
  return { bus, name, hubName, incarnation, notice, elapsed, now, schedule };
}
