import { execFileSync, spawnSync } from 'node:child_process';
import { totalmem } from 'node:os';
import { Command } from 'commander';
import { loadConfig, readConfigFile } from '../../config/load.ts';
import type { Config } from '../../config/schema.ts';
import type { Check, Finding, Machine } from './finding.ts';
import { checkFolders, checkMachine } from './machine_checks.ts';
import { checkCertificate, checkIdentityServer, checkOpcuaPort, checkPort, checkUdpPorts } from './network_checks.ts';
import { checkBroker, checkDatabase, checkNats } from './server_checks.ts';

const CHECKS: readonly Check[] = [
  checkMachine,
  checkFolders,
  checkPort,
  checkOpcuaPort,
  checkUdpPorts,
  checkCertificate,
  checkBroker,
  checkNats,
  checkDatabase,
  checkIdentityServer,
];

const SIGNS: Readonly<Record<Finding['state'], string>> = { ok: 'ok     ', warning: 'warning', error: 'ERROR  ' };

/** `hub doctor`: checks what the hub that would start here needs, and prints each finding with what to do about it. */
export function doctorCommand(): Command {
  return new Command('doctor')
    .description('check what the hub that would start here needs: ports, folders, certificates and servers')
    .action(examine);
}

/** Ends with code 1 if a hub would not work. Throws a ConfigError for an invalid configuration. */
async function examine(): Promise<void> {
  const config = loadConfig({ env: process.env, cwd: process.cwd(), cores: 1, readFile: readConfigFile });
  console.log(`Configuration in ${config.config_path}`);
  const findings: Finding[] = [];
  for await (const finding of findingsIn(config)) {
    findings.push(finding);
    console.log(findingText(finding));
  }
  console.log(`\n${summaryText(findings)}`);
  // The driver of the database leaves the socket of a failed handshake open for a minute.
  process.exit(findings.some(({ state }) => state === 'error') ? 1 : 0);
}

/** Checks this machine, and yields each finding when it is known. */
export async function* findingsIn(config: Config): AsyncGenerator<Finding> {
  for (const check of CHECKS) yield* await check(config, thisMachine());
}

/** Returns the numbers of errors and warnings. */
export function summaryText(findings: readonly Finding[]): string {
  const count = (state: Finding['state']) => findings.filter((finding) => finding.state === state).length;
  return `${counted(count('error'), 'error')}, ${counted(count('warning'), 'warning')}`;
}

/** Returns the lines of a finding. */
export function findingText({ state, text, advice }: Finding): string {
  return `${SIGNS[state]}  ${text}${advice === undefined ? '' : `\n         ${advice}`}`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

function thisMachine(): Machine {
  return {
    nowMs: Date.now(),
    nodeVersion: process.versions.node,
    openFilesMax: openFilesMax(),
    isClockSynchronized: isClockSynchronized(),
    memoryBytes: totalmem(),
  };
}

function openFilesMax(): number | undefined {
  if (process.platform === 'win32') return undefined;
  const limit = execFileSync('sh', ['-c', 'ulimit -n'], { encoding: 'utf8' }).trim();
  return limit === 'unlimited' ? Number.POSITIVE_INFINITY : Number(limit);
}

function isClockSynchronized(): boolean | undefined {
  const { status, stdout } = spawnSync('timedatectl', ['show', '--property=NTPSynchronized', '--value'], {
    encoding: 'utf8',
  });
  return status === 0 ? stdout.trim() === 'yes' : undefined;
}
