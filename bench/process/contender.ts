import { BenchHub } from './hub.ts';
import { Rest } from './rest.ts';

/** A fence in the form of the hub: a polygon, or a point with a radius in meters. Degrees, longitude first. */
export interface FenceBody {
  readonly name: string;
  readonly region:
    | { readonly type: 'Polygon'; readonly coordinates: number[][][] }
    | { readonly type: 'Point'; readonly coordinates: number[] };
  readonly radius?: number;
}

/** A running geofence server, the hub or another, under the same load. */
export interface Contender {
  /** Kind of server, which determines the protocol of updates and the subscriber. */
  readonly kind: 'hub' | 'tile38';
  readonly pid: number;
  readonly port: number;
  createFences(fences: Iterable<FenceBody>): Promise<void>;
  /** Number of evaluated updates according to the server. Undefined if it responds only after the evaluation. */
  evaluated(): Promise<number | undefined>;
  stop(): Promise<void>;
}

/** Starts the hub as a contender, with options of Node. */
export async function startHubContender(nodeArgs: readonly string[] = []): Promise<Contender> {
  const hub = await BenchHub.start({ nodeArgs });
  const rest = new Rest(hub.port);
  return {
    kind: 'hub',
    pid: hub.pid,
    port: hub.port,
    async createFences(fences) {
      await rest.createAll('/fences', fences);
    },
    async evaluated() {
      return (await rest.metrics()).get('hub_locations_processed_total') ?? 0;
    },
    async stop() {
      rest.close();
      await hub.stop();
    },
  };
}
