import type { Config } from '../../config/schema.ts';

/** What a check found. */
export interface Finding {
  readonly state: 'ok' | 'warning' | 'error';
  /** One sentence without a period. */
  readonly text: string;
  /** What to do about a warning or an error. */
  readonly advice?: string;
}

/** Parts of the machine that checks ask. */
export interface Machine {
  /** Wall-clock time, ms since 1970. */
  readonly nowMs: number;
  /** Version of Node, such as `22.23.3`. */
  readonly nodeVersion: string;
  /** Maximum number of open files of a process; undefined if unknown. */
  readonly openFilesMax: number | undefined;
  /** Whether the system clock follows a time server; undefined if unknown. */
  readonly isClockSynchronized: boolean | undefined;
  /** Total memory in bytes. */
  readonly memoryBytes: number;
}

/** A check of what a hub with this configuration needs. Findings are empty if it is not concerned. */
export type Check = (config: Config, machine: Machine) => Promise<readonly Finding[]>;

export function ok(text: string): Finding {
  return { state: 'ok', text };
}

export function warning(text: string, advice: string): Finding {
  return { state: 'warning', text, advice };
}

export function error(text: string, advice: string): Finding {
  return { state: 'error', text, advice };
}
