import { type Recorder, SocketClient } from '../../support/socket_client.ts';
import type { HubProcess } from '../hub_process.ts';

/** A location that the hub has published, and whether it is the newest of its provider so far. */
export interface PublishedLocation {
  readonly provider: string;
  readonly number: number;
  readonly isNewest: boolean;
}

/** A subscriber of all locations of successive runs of a hub. */
export class PublishedLocations {
  readonly #newest = new Map<string, number>();
  #seen = new Set<string>();
  #events: Recorder | undefined;

  /** Subscribes to a hub that has just started. */
  async begin(hub: HubProcess): Promise<void> {
    const socket = await SocketClient.open(`${hub.base.replace('http', 'ws')}/ws/socket`);
    this.#events = await socket.subscribe('location_updates');
    this.#seen = new Set();
  }

  /** Locations received since the previous call, in order. */
  take(): readonly PublishedLocation[] {
    return (this.#events?.take() ?? []).map(({ provider_id: provider, accuracy: number }) => {
      const isNewest = number > (this.#newest.get(provider) ?? 0);
      if (isNewest) this.#newest.set(provider, number);
      this.#seen.add(`${provider} ${number}`);
      return { provider, number, isNewest };
    });
  }

  /** Whether the hub has published it in this run, among the locations taken so far. */
  has(provider: string, number: number): boolean {
    return this.#seen.has(`${provider} ${number}`);
  }
}
