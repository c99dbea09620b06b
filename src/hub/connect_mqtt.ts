import { hostname } from 'node:os';
import type { Config } from '../config/schema.ts';
import { clusterSettings, mqttSettings } from '../config/settings.ts';
import type { Mqtt } from '../mqtt/mqtt.ts';
import type { Rpc } from '../rpc/rpc.ts';
import { partitionOf } from '../shards/affinity.ts';
import type { Log } from './log.ts';
import type { Parts } from './parts.ts';

/**
 * Makes the client of the MQTT broker, which is not started yet; undefined where no broker is set, and then nothing of it is
 * loaded.
 */
export async function connectMqtt(
  parts: Parts & { readonly rpc: Rpc; readonly hubId: string },
  config: Config,
  log: Log,
): Promise<Mqtt | undefined> {
  const { rpc, hubId } = parts;
  const settings = mqttSettings(config, { hubId, hubName: clusterSettings(config, hostname())?.hubName });
  if (settings === undefined) return undefined;
  const { Mqtt } = await import('../mqtt/mqtt.ts');
  const { ingest, fanout, entities, cluster, clock, machine, canTake } = parts;
  return new Mqtt(settings, {
    ...{ ingest, fanout, rpc, log, schedule: machine.schedule, elapsedMs: clock.elapsed },
    hasCapacity: canTake,
    later: setImmediate,
    trackable: (id) => entities.get('trackable', id),
    trackables: () => entities.list('trackable'),
    isElected: cluster && ((subscription) => cluster.serves(partitionOf(`mqtt ${subscription}`))),
    announces: (id) => cluster === undefined || cluster.serves(partitionOf(id)),
  });
}
