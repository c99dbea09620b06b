import { loadConfig } from '../../src/config/load.ts';
import type { Config } from '../../src/config/schema.ts';

/** Sources of a configuration. */
export interface Given {
  readonly env?: Record<string, string>;
  readonly file?: string | undefined;
  readonly cores?: number;
}

/** Loads it as the hub does at startup, and returns the warnings. */
export function load(
  { env = {}, file, cores = 4 }: Given,
  warn: (message: string, facts: object) => void = () => {},
): Config {
  return loadConfig({
    warn,
    env,
    cwd: '/home/hub',
    cores,
    readFile: (path) => (path.endsWith('hub_config.yaml') ? file : undefined),
  });
}
