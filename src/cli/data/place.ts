import { hostname } from 'node:os';
import { join } from 'node:path';
import type { OfflineConfig } from '../../cluster/config/offline_config.ts';
import { loadConfig, readConfigFile } from '../../config/load.ts';
import type { Config } from '../../config/schema.ts';
import { clusterSettings, historyFolder } from '../../config/settings.ts';
import { ownFileAt } from '../../store/own_files.ts';
import { CommandError } from '../command_error.ts';

/**
 * The database of the hub that would start here: data.dat in the folder of the configuration, by HUB_CONFIG_PATH or the
 * current one. Throws a ConfigError for a configuration that is wrong, and a CommandError when the hub keeps its data
 * elsewhere.
 */
export function databaseHere(): string {
  const { db_type, cluster_servers, config_path } = configHere();
  const path = join(config_path, 'data.dat');
  const elsewhere = cluster_servers.length > 0 ? 'cluster_servers' : `db_type: ${db_type}`;
  if (db_type === 'sqlite' && cluster_servers.length === 0) return path;
  throw new CommandError(`Cannot use ${path}: by its configuration (${elsewhere}) the hub keeps its data elsewhere`);
}

/**
 * The configuration of the cluster that the hub would join here; undefined where it would be alone. Throws a ConfigError,
 * and a StartupError when it cannot be read.
 */
export async function clusterHere(): Promise<OfflineConfig | undefined> {
  const settings = clusterSettings(configHere(), hostname());
  if (settings === undefined) return undefined;
  const { bus, name, replicas, storage, hubName } = settings;
  const { openOfflineConfig } = await import('../../cluster/config/offline_config.ts');
  return openOfflineConfig({ bus, name, replicas, storage, by: hubName, elapsed: () => performance.now() });
}

/** The folder with the history of the hub that would start here, whether or not it records one. Throws as databaseHere does. */
export function historyHere(): string {
  return historyFolder(configHere());
}

/** Where the hub that would start here keeps its data, if that is a file: a hub that runs has locked it. */
export function lockedByHub(): string | undefined {
  const { db_type, cluster_servers, config_path } = configHere();
  return db_type === 'sqlite' && cluster_servers.length === 0 ? join(config_path, 'data.dat') : undefined;
}

function configHere(): Config {
  return loadConfig({ env: process.env, cwd: process.cwd(), cores: 1, readFile: readConfigFile });
}

/**
 * Throws a CommandError when whoever writes to a path would write onto the database, or onto its log, its lock or its
 * backups, whether or not a hub runs.
 */
export function refuseOwnFiles(to: string, database: string): void {
  const own = ownFileAt(to, database);
  if (own !== undefined) throw new CommandError(`Cannot write ${to}: it is ${own}, a file of the database ${database}`);
}
