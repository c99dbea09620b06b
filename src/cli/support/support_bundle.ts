import { writeFileSync } from 'node:fs';
import { createTarGzip } from 'nanotar';
import { loadConfig, readConfigFile } from '../../config/load.ts';
import { messageOf } from '../../errors.ts';
import { formatTime } from '../../model/time.ts';
import { CliError } from '../command_error.ts';
import { tokenHere } from '../hub_client.ts';
import {
  configurationText,
  doctorText,
  HUB_PATHS,
  jsonOf,
  logText,
  machineText,
  permissionsText,
  replyOf,
  versionsText,
} from './contents.ts';
import { scrubber } from './scrub.ts';

/** Only its owner may read the bundle. */
const MODE = 0o600;

export interface BundleOptions {
  readonly hub: string;
  readonly out?: string;
  readonly log?: string;
}

/** A file of a bundle, and how to get its text. */
type Content = readonly [name: string, text: () => string | Promise<string>];

/** Writes the archive. Throws a ConfigError for an invalid configuration, and a CliError if the archive cannot be written. */
export async function writeBundle({ hub, out, log }: BundleOptions): Promise<void> {
  const config = loadConfig({ env: process.env, cwd: process.cwd(), cores: 1, readFile: readConfigFile });
  const token = tokenHere();
  const created = formatTime(Date.now());
  const scrub = scrubber(config, token === undefined ? [] : [token]);
  const contents: readonly Content[] = [
    ['versions.json', versionsText],
    ['machine.json', () => machineText(config)],
    ['config.yaml', () => configurationText(config)],
    ['permissions.yaml', () => permissionsText(config)],
    ['doctor.txt', () => doctorText(config)],
    ...Object.entries(HUB_PATHS).map(([name, path]): Content => [name, () => replyOf(hub, path, token)]),
    ['hub.log', () => logText(log)],
  ];
  const files = new Map<string, string>();
  const missing: Record<string, string> = {};
  for (const [name, text] of contents) {
    try {
      files.set(name, scrub(await text()));
    } catch (error) {
      if (error instanceof CliError) throw error;
      missing[name] = scrub(messageOf(error));
    }
  }
  files.set('contents.json', jsonOf({ created, files: [...files.keys()], missing }));
  const folder = `support-bundle-${created.replaceAll(':', '-')}`;
  const path = out ?? `${folder}.tar.gz`;
  write(path, await archiveOf(folder, files));
  process.stdout.write(`Wrote ${files.size} files to ${path}\n`);
  for (const [name, why] of Object.entries(missing)) process.stdout.write(`Without ${name}: ${why}\n`);
}

async function archiveOf(folder: string, files: ReadonlyMap<string, string>): Promise<Uint8Array> {
  const encoder = new TextEncoder();
  const entries = [...files].map(([name, text]) => ({ name: `${folder}/${name}`, data: encoder.encode(text) }));
  return createTarGzip(entries, { attrs: { mode: MODE.toString(8) } });
}

function write(path: string, bytes: Uint8Array): void {
  try {
    writeFileSync(path, bytes, { flag: 'wx', mode: MODE });
  } catch (error) {
    throw new CliError(`Cannot write ${path}: ${messageOf(error)}`, { cause: error });
  }
}
