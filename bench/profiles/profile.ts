import type { Result } from '../report/result.ts';

/** Options of the user for a profile. */
export interface Asked {
  /** Locations per second in an open loop. If undefined, the maximum throughput of the hub, then half of it. */
  readonly rate: number | undefined;
  /** Length of each measured interval; that of the profile by default. */
  readonly seconds: number | undefined;
  /** Makes a scene smaller, for tests: 1 is its full size. */
  readonly scale: number;
  /** Folder for CPU profiles of the hub; none by default. */
  readonly cpuProf?: string | undefined;
  /** Called with the current activity. */
  progress(what: string): void;
}

/** A measurement. */
export interface Profile {
  readonly name: string;
  readonly summary: string;
  /** Reason why it cannot run here; undefined if it can. */
  needs?(): string | undefined;
  run(asked: Asked): Promise<Result>;
}
