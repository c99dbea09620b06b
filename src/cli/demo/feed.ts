import type { Location, Proximity } from '../../model/location.ts';
import { CliError } from '../command_error.ts';
import { refuseIfForbidden } from '../entities.ts';
import type { HubClient } from '../hub_client.ts';

/** Sends the demo's observations to the hub. Each promise resolves on acknowledgment, or rejects with a CliError. */
export interface Feed {
  /** The target address. */
  readonly to: string;
  locations(locations: readonly Location[]): Promise<void>;
  proximities(proximities: readonly Proximity[]): Promise<void>;
  close(): Promise<void>;
}

/** Sends observations over REST, those of a tick in one request. */
export function restFeed(client: HubClient, hub: string): Feed {
  async function put(path: string, body: readonly unknown[]): Promise<void> {
    const { ok, status, message } = await client.send('PUT', path, body);
    refuseIfForbidden(status, message);
    if (!ok) throw new CliError(`The hub rejects ${path} of the demo: ${status} ${message}`);
  }
  return {
    to: hub,
    locations: (locations) => put('/providers/locations', locations),
    proximities: (proximities) => put('/providers/proximities', proximities),
    close: async () => undefined,
  };
}
