import { BenchHub } from './hub.ts';
import { Rest } from './rest.ts';

/** A fence as the hub takes it: a polygon, or a point with a radius in meters. Degrees, longitude first. */
export interface FenceBody {
  readonly name: string;
  readonly region:
    | { readonly type: 'Polygon'; readonly coordinates: number[][][] }
    | { readonly type: 'Point'; readonly coordinates: number[] };
  readonly radius?: number;
}

/** A running server of fences, ours or another, that is given the same work. */
export interface Contender {
  /** Kind of server: decides how updates are sent and which client subscribes. */
  readonly kind: 'hub' | 'tile38';
  readonly pid: number;
  readonly port: number;
  createFences(fences: Iterable<FenceBody>): Promise<void>;
  /** Updates that it says it has evaluated so far; undefined where it answers none before it has. */
  evaluated(): Promise<number | undefined>;
  stop(): Promise<void>;
}

/** Starts our hub as a contender. */
export async function startHubContender(): Promise<Contender> {
  const hub = await BenchHub.start();
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
