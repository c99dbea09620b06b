import { join } from 'node:path';
import { loadConfig, readConfigFile } from '../../config/load.ts';
import type { Config } from '../../config/schema.ts';
import { ownFileAt } from '../../store/own_files.ts';
import { CommandError } from '../command_error.ts';

/**
 * The database of the hub that would start here: data.dat in the folder of the configuration, by HUB_CONFIG_PATH or the
 * current one. Throws a ConfigError for a configuration that is wrong, and a CommandError when the hub has another kind
 * of database.
 */
export function databaseHere(): string {
  const config = loadConfig({ env: process.env, cwd: process.cwd(), cores: 1, readFile: readConfigFile });
  return databaseOf(config);
}

function databaseOf({ db_type, config_path }: Config): string {
  const path = join(config_path, 'data.dat');
  if (db_type === 'sqlite') return path;
  throw new CommandError(
    `Cannot use ${path}: by its configuration (db_type: ${db_type}) the hub keeps its data elsewhere`,
  );
}

/**
 * Throws a CommandError when whoever writes to a path would write onto the database, or onto its log, its lock or its
 * backups, whether or not a hub runs.
 */
export function refuseOwnFiles(to: string, database: string): void {
  const own = ownFileAt(to, database);
  if (own !== undefined) throw new CommandError(`Cannot write ${to}: it is ${own}, a file of the database ${database}`);
}
