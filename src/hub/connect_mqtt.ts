import { hostname } from 'node:os';
import type { Config } from '../config/schema.ts';
import { clusterSettings, mqttSettings } from '../config/settings.ts';
import type { StoredFacts } from '../core/entity_write.ts';
import { UNS_OWNER_PREFIX } from '../model/mqtt.ts';
import type { Mqtt, MqttDeps } from '../mqtt/mqtt.ts';
import type { Rpc } from '../rpc/rpc.ts';
import { definedWrites } from '../store/entity_json.ts';
import type { Log } from './log.ts';
import type { Parts } from './parts.ts';

/**
 * Creates the client of the MQTT broker without starting it. If no broker is configured, returns undefined and loads no
 * MQTT code.
 */
export async function connectMqtt(
  parts: Parts & { readonly rpc: Rpc; readonly stored: StoredFacts },
  config: Config,
  log: Log,
): Promise<Mqtt | undefined> {
  const { rpc, stored } = parts;
  const { hubId } = stored;
  const settings = mqttSettings(config, { hubId, hubName: clusterSettings(config, hostname())?.hubName });
  if (settings === undefined) return undefined;
  const { Mqtt } = await import('../mqtt/mqtt.ts');
  const { ingest, fanout, entities, shards, cluster, clock, machine, canTake } = parts;
  const announces = (name: string): boolean => cluster === undefined || cluster.serves(name);
  return new Mqtt(settings, {
    ...{ ingest, fanout, rpc, log, announces, schedule: machine.schedule, elapsedMs: clock.elapsed },
    hasCapacity: canTake,
    later: setImmediate,
    trackable: (id) => entities.get('trackable', id),
    trackables: () => entities.list('trackable'),
    homeAssistant: {
      entity: (kind, id) => entities.get(kind, id),
      entities: (kind) => entities.list(kind),
      stays: async () => {
        const query = { ask: 'stays' } as const;
        const answers = await (cluster?.isLocal === false ? cluster.remote.ask(query) : shards.ask(query));
        return answers.flatMap((answer) => ('stays' in answer ? answer.stays : []));
      },
    },
    unsOwners: unsOwners(parts, { announces, log }),
    isElected: cluster && ((subscription) => cluster.serves(`mqtt ${subscription}`)),
  });
}

/**
 * Returns access to the stored owners of topics of the unified namespace. All hubs of a cluster determine the same
 * owners; one of them stores these.
 */
function unsOwners(
  { stored, writer }: Pick<Parts, 'writer'> & { readonly stored: StoredFacts },
  { announces, log }: { announces(name: string): boolean; readonly log: Log },
): MqttDeps['unsOwners'] {
  const owners = new Map(
    stored.settings.flatMap(({ id, text }) => {
      if (text == null || !id.startsWith(UNS_OWNER_PREFIX)) return [];
      const { trackable } = JSON.parse(text) as { readonly trackable: string };
      return [[id.slice(UNS_OWNER_PREFIX.length), trackable] as const];
    }),
  );
  return {
    storedOwner: (topic) => owners.get(topic),
    storeOwner(topic, trackable) {
      if (trackable === undefined) owners.delete(topic);
      else owners.set(topic, trackable);
      if (!announces(topic)) return;
      const writes = definedWrites([
        [`${UNS_OWNER_PREFIX}${topic}`, trackable === undefined ? undefined : { trackable }],
      ]);
      writer.writeEntities(writes).catch((error: unknown) => {
        log.warn('The owner of a topic of the unified namespace cannot be stored', { topic, error: String(error) });
      });
    },
  };
}
