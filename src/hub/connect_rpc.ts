import { randomBytes, randomInt } from 'node:crypto';
import type { RpcDeps } from '../api/deps.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Config } from '../config/schema.ts';
import type { HubIdentity } from '../model/health.ts';
import { answerText } from '../rpc/answer_text.ts';
import { clientOf } from '../rpc/bounds.ts';
import { FIRST_ID } from '../rpc/calls.ts';
import { Rpc } from '../rpc/rpc.ts';
import { type Clock, schedule } from '../time/clock.ts';
import type { HubAuthorization } from './authorization.ts';
import { VERSION_INFO } from './version_info.ts';

/** Upper bound of the random first id, so that ids stay below 2^31 for long. */
const FIRST_IDS = 2 ** 30;
/** Range of random ids for handlers behind a broker: distinct from consecutive ids, and unguessable. */
const [CARRIED_ID_MIN, CARRIED_ID_MAX] = [2 ** 32, 2 ** 48 - 1];

/**
 * Creates the remote procedure calls of this hub. Hubs of a cluster share their id, so their names distinguish them as
 * handlers.
 */
export function openRpc(
  identity: HubIdentity,
  { clock, cluster }: { clock: Clock; cluster: Cluster | undefined },
): Rpc {
  const { hub_id: hubId, hub_name: name } = identity;
  const { hub_version: version, vendor, api_version } = VERSION_INFO;
  return new Rpc({
    hubId: cluster === undefined ? hubId : `${hubId}-${cluster.hubName}`,
    identity: { name, ...identity, vendor, version, api_version },
    elapsed: clock.elapsed,
    schedule,
    newId: () => randomBytes(8).toString('hex'),
    firstId: FIRST_ID + randomInt(FIRST_IDS),
    randomId: () => randomInt(CARRIED_ID_MIN, CARRIED_ID_MAX),
  });
}

/** Returns the RPC services for the API. */
export function rpcDeps(rpc: Rpc, authorization: HubAuthorization | undefined, config: Config): RpcDeps {
  return {
    available: () => rpc.available(),
    call: (text, { path, token, address, gone }) =>
      answerText(rpc, text, {
        depthMax: config.max_json_depth,
        ...(gone && { gone }),
        async permit(method) {
          const access = await authorization?.rpc({ use: 'call', path, method, token });
          return clientOf(access?.subject, address);
        },
      }),
  };
}
