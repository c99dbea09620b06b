import type { Result } from '../report/result.ts';

/** What the user asks of a profile. */
export interface Asked {
  /** Locations a second, in an open loop; undefined: the most that the hub takes, then half of that. */
  readonly rate: number | undefined;
  /** Length of each measured interval; undefined: the profile's own. */
  readonly seconds: number | undefined;
  /** Makes a scene smaller, for tests: 1 is its full size. */
  readonly scale: number;
  /** Told what is being done. */
  progress(what: string): void;
}

/** One thing that is measured. */
export interface Profile {
  readonly name: string;
  readonly summary: string;
  run(asked: Asked): Promise<Result>;
}
