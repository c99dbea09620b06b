import type { TestHub } from '../support/running_hub.ts';
import { until } from './mqtt_client.ts';

/** Resolves when the hub is connected to its broker. Rejects after `waitMs` with the health of the connection. */
export async function connected(hub: TestHub, waitMs?: number): Promise<void> {
  let health: { readonly connected?: boolean } = {};
  const isConnected = async (): Promise<boolean> => {
    health = (await hub.get('/health/mqtt')).body;
    return health.connected === true;
  };
  await until(isConnected, waitMs).catch(() => {
    throw new Error(`The hub is not connected to its broker: ${JSON.stringify(health)}`);
  });
}
