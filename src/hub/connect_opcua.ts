import type { Config } from '../config/schema.ts';
import { opcuaSettings } from '../config/settings.ts';
import type { Opcua } from '../opcua/opcua.ts';
import { admitAllBy } from './admit_all.ts';
import type { HubAuthorization } from './authorization.ts';
import type { Log } from './log.ts';
import type { Parts } from './parts.ts';
import { VERSION_INFO } from './version_info.ts';

interface OpcuaParts extends Parts {
  readonly hubId: string;
  readonly authorization: HubAuthorization | undefined;
}

/** Requests that a user of OPC UA must be permitted to make. */
const READS = ['/zones', '/trackables', '/trackables/motions'];

/**
 * Creates the OPC UA server without starting it. If none is configured, returns undefined and loads none of its code.
 * Throws a StartupError for settings that do not fit together.
 */
export async function connectOpcua(parts: OpcuaParts, config: Config, log: Log): Promise<Opcua | undefined> {
  const settings = opcuaSettings(config);
  if (settings === undefined) return undefined;
  const { Opcua } = await import('../opcua/opcua.ts');
  const { entities, fanout, cluster, shards, machine, now, authorization, hubId } = parts;
  const admit = admitAllBy(authorization?.api);
  return new Opcua(settings, {
    ...{ fanout, hubId, now, log, schedule: machine.schedule, version: VERSION_INFO.hub_version },
    zones: () => entities.list('zone'),
    zone: (id) => entities.get('zone', id),
    trackables: () => entities.list('trackable'),
    trackable: (id) => entities.get('trackable', id),
    async motions() {
      const query = { ask: 'trackable_motions', view: { crs: 'EPSG:4326' } } as const;
      const answers = await (cluster?.isLocal === false ? cluster.remote.ask(query) : shards.ask(query));
      return answers.flatMap((answer) => ('texts' in answer ? answer.texts : []));
    },
    permit:
      authorization &&
      (async (token) => {
        const accesses = await Promise.all(READS.map((path) => admit('GET', path, token)));
        // All of them end with the same token; one that guests may read never ends.
        const expiresMs = Math.min(...accesses.map((access) => access.expiresMs));
        return { expiresMs, revoked: accesses.find(({ revoked }) => revoked !== undefined)?.revoked };
      }),
  });
}
