import type { Result } from '../report/result.ts';

/** Options of the user for a profile. */
export interface Asked {
  /** Locations a second, in an open loop; undefined: the most that the hub takes, then half of that. */
  readonly rate: number | undefined;
  /** Length of each measured interval; undefined: the profile's own. */
  readonly seconds: number | undefined;
  /** Makes a scene smaller, for tests: 1 is its full size. */
  readonly scale: number;
  /** Folder for CPU profiles of the hub; undefined: none are made. */
  readonly cpuProf?: string | undefined;
  /** Called with the current activity. */
  progress(what: string): void;
}

/** One thing that is measured. */
export interface Profile {
  readonly name: string;
  readonly summary: string;
  /** Why it cannot be run here; undefined: it can. */
  needs?(): string | undefined;
  run(asked: Asked): Promise<Result>;
}
