import { closeSync, existsSync, mkdtempSync, openSync, rmSync, statfsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Config } from '../../config/schema.ts';
import { dataFile, historyFolder } from '../../config/settings.ts';
import { messageOf } from '../../errors.ts';
import { error, type Finding, type Machine, ok, warning } from './finding.ts';

const GB = 2 ** 30;
/** A hub with a full disk answers 503 to every change. */
const FREE_BYTES_MIN = GB;
const MEMORY_BYTES_MIN = GB;
/** Each connection is an open file. */
const OPEN_FILES_MIN = 4096;

/** Checks Node, the memory, the limit of open files, and the clock. */
export async function checkMachine(_config: Config, machine: Machine): Promise<readonly Finding[]> {
  const { nodeVersion, openFilesMax, isClockSynchronized, memoryBytes } = machine;
  const findings: Finding[] = [ok(`Node.js ${nodeVersion}`)];
  const memory = `The machine has ${(memoryBytes / GB).toFixed(1)} GB of memory`;
  if (memoryBytes >= MEMORY_BYTES_MIN) findings.push(ok(memory));
  else findings.push(warning(memory, 'A hub needs 0.5 GB and more with many objects. Use a machine with 1 GB'));
  if (openFilesMax !== undefined) {
    const limit = `A process may open ${openFilesMax} files`;
    if (openFilesMax >= OPEN_FILES_MIN) findings.push(ok(limit));
    else {
      const advice =
        'Each connection is an open file. Raise the limit: ulimit -n 65536, or LimitNOFILE=65536 in the unit';
      findings.push(warning(limit, advice));
    }
  }
  if (isClockSynchronized === true) findings.push(ok('The system clock follows a time server'));
  if (isClockSynchronized === false) {
    const advice = 'Enable time synchronization, such as chrony: tokens, event times and clusters need a right clock';
    findings.push(warning('The system clock follows no time server', advice));
  }
  return findings;
}

/** Checks that the hub can write its database and its history, and that their disks have space. */
export async function checkFolders(config: Config): Promise<readonly Finding[]> {
  const isFile = config.db_type === 'sqlite' && config.cluster_servers.length === 0;
  return [
    ...(isFile ? checkFolder('data', dirname(dataFile(config)), 'data_path') : []),
    ...(isFile ? checkOwner(dataFile(config)) : []),
    ...(config.history ? checkFolder('history', historyFolder(config), 'history_path') : []),
  ];
}

function checkFolder(what: string, folder: string, setting: string): readonly Finding[] {
  // The hub creates the history folder itself.
  const place = existsSync(folder) || what === 'data' ? folder : dirname(folder);
  try {
    if (!statSync(place).isDirectory()) throw new Error('it is not a folder');
    rmSync(mkdtempSync(join(place, '.doctor-')), { recursive: true });
  } catch (problem) {
    const advice = `Create the folder ${place}, make it writable to the user of the hub, or change ${setting}`;
    return [error(`Cannot write to the ${what} folder ${place}: ${messageOf(problem)}`, advice)];
  }
  const { bavail, bsize } = statfsSync(place);
  const free = `The ${what} folder ${place} is writable, and its disk has ${((bavail * bsize) / GB).toFixed(1)} GB free`;
  if (bavail * bsize >= FREE_BYTES_MIN) return [ok(free)];
  return [warning(free, `With a full disk the hub rejects changes. Free space, or change ${setting}`)];
}

/** The database may belong to another user, for example after a start as root. */
function checkOwner(file: string): readonly Finding[] {
  if (!existsSync(file)) return [];
  try {
    closeSync(openSync(file, 'r+'));
    return [];
  } catch (problem) {
    return [
      error(
        `Cannot write ${file}: ${messageOf(problem)}`,
        `Change its owner to the user of the hub: chown, also for ${file}-wal`,
      ),
    ];
  }
}
