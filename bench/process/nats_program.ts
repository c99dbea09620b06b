import { spawnSync } from 'node:child_process';
import { goInstalled, type Installed } from './go_installed.ts';

const NATS = { path: 'github.com/nats-io/nats-server/v2', version: 'v2.15.2', name: 'nats-server' };
/** Environment variable with the path of an existing server. */
const GIVEN = 'NATS_SERVER';

/** Returns the configured server, or the one built through Go's module proxy, which is built once. */
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
