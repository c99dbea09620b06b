import { hostname } from 'node:os';
import type { OfflineConfig } from '../../cluster/config/offline_config.ts';
import { loadConfig, readConfigFile } from '../../config/load.ts';
import type { Config } from '../../config/schema.ts';
import { clusterSettings, dataFile, historyFolder } from '../../config/settings.ts';
import { protectedPathAt } from '../../store/protected_paths.ts';
import { CliError } from '../command_error.ts';

/**
 * The database of the hub that would start here: data.dat in the folder `data_path`, by default that of the configuration.
 * Throws a ConfigError for an invalid configuration, and a CliError if the hub stores its data elsewhere.
 */
export function databaseHere(): string {
  const config = configHere();
  const { db_type, cluster_servers } = config;
  const path = dataFile(config);
  const elsewhere = cluster_servers.length > 0 ? 'cluster_servers' : `db_type: ${db_type}`;
  if (db_type === 'sqlite' && cluster_servers.length === 0) return path;
  throw new CliError(`Cannot use ${path}: the hub stores its data in another database (${elsewhere})`);
}

/**
 * The configuration of the cluster that the hub would join here; undefined for a single hub. Throws a ConfigError, and
 * a StartupError if it cannot be read.
 */
export async function clusterHere(): Promise<OfflineConfig | undefined> {
  const settings = clusterSettings(configHere(), hostname());
  if (settings === undefined) return undefined;
  const { bus, name, replicas, storage, hubName } = settings;
  const { openOfflineConfig } = await import('../../cluster/config/offline_config.ts');
  return openOfflineConfig({ bus, name, replicas, storage, by: hubName, elapsed: () => performance.now() });
}

/** The history folder of the hub that would start here, whether or not it records one. Throws like databaseHere. */
export function historyHere(): string {
  return historyFolder(configHere());
}

/** The data file of the hub that would start here, if its data is in a file: a running hub holds a lock on it. */
export function lockedByHub(): string | undefined {
  const config = configHere();
  return config.db_type === 'sqlite' && config.cluster_servers.length === 0 ? dataFile(config) : undefined;
}

/** The configuration of the hub that would start here. Throws a ConfigError for an invalid one. */
export function configHere(): Config {
  return loadConfig({ env: process.env, cwd: process.cwd(), cores: 1, readFile: readConfigFile });
}

/** Throws a CliError if `to` is the database, its log, its lock or one of its backups, whether or not a hub runs. */
export function refuseOwnFiles(to: string, database: string): void {
  const own = protectedPathAt(to, database);
  if (own !== undefined) throw new CliError(`Cannot write ${to}: it is ${own}, a file of the database ${database}`);
}
