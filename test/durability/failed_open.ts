import { loadConfig, readConfigFile } from '../../src/config/load.ts';
import { openHub } from '../../src/hub/hub.ts';

/** Opens a hub that cannot be opened, prints the error, and exits unless the hub has left something running. */
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const config = loadConfig({ env: process.env, cwd: process.cwd(), cores: 2, readFile: readConfigFile });
try {
  await openHub(config, silent);
} catch (error) {
  process.stdout.write(`${(error as Error).name}: ${(error as Error).message}\n`);
}
