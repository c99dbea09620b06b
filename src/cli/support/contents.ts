import { spawnSync } from 'node:child_process';
import { closeSync, fstatSync, openSync, readSync, statfsSync } from 'node:fs';
import { arch, cpus, freemem, loadavg, machine, platform, release, totalmem, uptime } from 'node:os';
import { dirname, join } from 'node:path';
import manifest from '../../../package.json' with { type: 'json' };
import { readConfigFile } from '../../config/load.ts';
import type { Config } from '../../config/schema.ts';
import { dataFile } from '../../config/settings.ts';
import { configText } from '../../config/text.ts';
import { CliError } from '../command_error.ts';
import { findingsIn, findingText, summaryText } from '../doctor/doctor.ts';
import type { Finding } from '../doctor/finding.ts';

/** Files of a support bundle. Each function returns the content of a file. It throws an Error for a file without content. */

/** Name of the unit of the Debian and RPM packages. */
const UNIT = 'location-hub';
const LOG_LINES_MAX = 20_000;
const LOG_BYTES_MAX = 8 << 20;
const REPLY_MS = 10_000;
const INDENT = 2;

/** Paths of a running hub, by the file that gets the reply. None of them has positions. */
export const HUB_PATHS: Readonly<Record<string, string>> = {
  'hub/version.json': '/hub/v2/version',
  'hub/health.json': '/hub/v2/health',
  'hub/health_system.json': '/hub/v2/health/system',
  'hub/health_ws.json': '/hub/v2/health/ws',
  'hub/health_mqtt.json': '/hub/v2/health/mqtt',
  'hub/health_history.json': '/hub/v2/health/history',
  'hub/metrics.txt': '/metrics',
};

/** Returns the reply of a running hub. An error status is not a failure, since the reply has the reason. */
export async function replyOf(hub: string, path: string, token: string | undefined): Promise<string> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  try {
    const reply = await fetch(hub + path, { headers, signal: AbortSignal.timeout(REPLY_MS) });
    return await reply.text();
  } catch (error) {
    const { message } = ((error as Error).cause ?? error) as Error;
    throw new Error(`Cannot read ${hub}${path}: ${message}`, { cause: error });
  }
}

export function versionsText(): string {
  return jsonOf({ hub: manifest.version, node: process.versions.node, openssl: process.versions.openssl });
}

export function machineText(config: Config): string {
  const { bavail, blocks, bsize } = statfsSync(dirname(dataFile(config)));
  return jsonOf({
    platform: platform(),
    release: release(),
    architecture: arch(),
    machine: machine(),
    processors: cpus().map(({ model }) => model),
    load: loadavg(),
    memory_bytes: totalmem(),
    free_memory_bytes: freemem(),
    uptime_seconds: uptime(),
    data_disk_bytes: blocks * bsize,
    free_data_disk_bytes: bavail * bsize,
    // Values of variables that are not settings may be secret.
    variables: Object.keys(process.env).sort(),
  });
}

export function configurationText(config: Config): string {
  return configText(config);
}

export function permissionsText({ config_path: folder }: Config): string {
  const text = readConfigFile(join(folder, 'permissions.yaml'));
  if (text === undefined) throw new Error('There is no permissions.yaml');
  return text;
}

export async function doctorText(config: Config): Promise<string> {
  const findings: Finding[] = [];
  for await (const finding of findingsIn(config)) findings.push(finding);
  return `${[...findings.map(findingText), '', summaryText(findings)].join('\n')}\n`;
}

/** The end of a log file, or else of the log of the systemd unit. Throws a CliError for a file that cannot be read. */
export function logText(file: string | undefined): string {
  if (file !== undefined) return endOf(file);
  const args = ['--unit', UNIT, '--lines', String(LOG_LINES_MAX), '--no-pager', '--output', 'cat', '--quiet'];
  const { status, stdout } = spawnSync('journalctl', args, { encoding: 'utf8', maxBuffer: 16 * LOG_BYTES_MAX });
  if (status === 0 && stdout !== '') return stdout.slice(-LOG_BYTES_MAX);
  throw new Error(`The systemd unit ${UNIT} has no log here. Name a file: --log FILE`);
}

function endOf(file: string): string {
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, 'r');
    const { size } = fstatSync(descriptor);
    const bytes = Buffer.alloc(Math.min(size, LOG_BYTES_MAX));
    const count = readSync(descriptor, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString('utf8', 0, count);
  } catch (error) {
    throw new CliError(`Cannot read the log ${file}: ${(error as Error).message}`, { cause: error });
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

export function jsonOf(value: object): string {
  return `${JSON.stringify(value, null, INDENT)}\n`;
}
