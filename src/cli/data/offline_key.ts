import { join } from 'node:path';
import { keyHash, keyText, newKeyId, newKeySecret } from '../../auth/api_key_text.ts';
import { readConfigFile } from '../../config/load.ts';
import { readPermissions } from '../../config/permissions_file.ts';
import { storeTarget } from '../../config/settings.ts';
import type { EntityWrite } from '../../core/entity_write.ts';
import { withId } from '../../entities/body.ts';
import { API_KEYS, newKeyBody } from '../../entities/api_keys.ts';
import { HubError } from '../../errors.ts';
import { definedWrites } from '../../store/entity_json.ts';
import { openStore } from '../../store/open.ts';
import { CliError } from '../command_error.ts';
import { clusterHere, configHere } from './place.ts';

const PERMISSIONS = 'permissions.yaml';
/** Maximum number of attempts to write to a cluster. */
const TRIES_MAX = 5;

/**
 * Creates an API key in the data of the hub that would start here, and returns it. Throws a CliError for an invalid key
 * or an unknown role, and a StartupError if the data cannot be written, for example because the hub runs.
 */
export async function createOfflineKey(body: {
  readonly name: string;
  readonly roles: readonly string[];
}): Promise<string> {
  checkRoles(body.roles);
  const secret = newKeySecret();
  const id = newKeyId();
  await write(definedWrites([[API_KEYS.prefix + id, stored(id, body, secret)]]));
  return keyText(id, secret);
}

function stored(id: string, body: object, secret: string): object {
  try {
    const hash = keyHash(secret).toString('base64url');
    return API_KEYS.check(withId(newKeyBody(body, { hash, nowMs: Date.now() }), id));
  } catch (error) {
    if (error instanceof HubError) throw new CliError(`Cannot create the key: ${error.message}`);
    throw error;
  }
}

function checkRoles(roles: readonly string[]): void {
  const path = join(configHere().config_path, PERMISSIONS);
  const text = readConfigFile(path);
  if (text === undefined) throw new CliError(`Cannot create the key: ${path} is missing, which defines the roles`);
  const known = readPermissions(text, PERMISSIONS).map(({ role }) => role);
  const unknown = roles.find((role) => !known.includes(role));
  if (unknown === undefined) return;
  throw new CliError(
    `Cannot create the key: ${PERMISSIONS} has no role "${unknown}"; its roles are ${known.join(', ')}`,
  );
}

async function write(entities: readonly EntityWrite[]): Promise<void> {
  const cluster = await clusterHere();
  if (cluster === undefined) {
    const store = await openStore(storeTarget(configHere(), Date.now()));
    try {
      await store.commit({ entities, rows: [] });
    } finally {
      await store.close();
    }
    return;
  }
  try {
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      if ((await cluster.change(entities, cluster.sequence)).at === 'committed') return;
    }
    throw new CliError('Cannot create the key: other clients keep changing entities. Try again');
  } finally {
    await cluster.close();
  }
}
