import { spawnSync } from 'node:child_process';
import { goInstalled, type Installed } from './go_installed.ts';

const NATS = { path: 'github.com/nats-io/nats-server/v2', version: 'v2.15.2', name: 'nats-server' };
/** Names a server that is there already. */
const GIVEN = 'NATS_SERVER';

/** The server that is named, the one that was built before, or one that is built now through Go's module proxy. */
export async function natsProgram(): Promise<Installed> {
  const given = process.env[GIVEN];
  if (given !== undefined) {
    return isProgram(given) ? { path: given } : { missing: `${GIVEN} names ${given}, which does not run` };
  }
  const installed = await goInstalled(NATS);
  if ('path' in installed) return installed;
  return { missing: `${installed.missing}, and ${GIVEN} names none` };
}

function isProgram(path: string): boolean {
  return spawnSync(path, ['--version']).status === 0;
}
