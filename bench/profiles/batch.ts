import type { Way } from '../load/message.ts';
import type { Rest } from '../process/rest.ts';
import { BOTH_TOPICS, type LoadRun, runLoad } from './load_run.ts';
import type { Asked, Profile } from './profile.ts';
import { type FencedScene, polygonFences, SITE_FENCES, sideFor } from './site.ts';

const PROVIDERS = 10_000;
const STEP_METERS = 1.4;

interface Sent {
  readonly way: Way;
  readonly connections: number;
  readonly perMessage: number;
  /** Number of providers; 10,000 by default. */
  readonly providers?: number;
}

/** People on smooth walks among 1,000 fences of 16 corners. */
export function crowdScene(sent: Sent, asked: Asked): FencedScene {
  const providers = Math.ceil((sent.providers ?? PROVIDERS) * asked.scale);
  const count = Math.ceil(SITE_FENCES * asked.scale);
  const sideMeters = sideFor(count);
  // A provider belongs to one connection.
  const connections = Math.min(sent.connections, Math.ceil(providers / sent.perMessage));
  return {
    plan: { kind: 'walk', sideMeters, stepMeters: STEP_METERS, ...sent, providers, connections },
    fences: () => polygonFences({ count, vertices: 16, sideMeters, radiusMeters: [15, 25] }),
  };
}

/** The same scene with a subscriber of locations and one of fences. */
export function crowdedSite(name: string, sent: Sent, asked: Asked): LoadRun {
  const { plan, fences } = crowdScene(sent, asked);
  const create = (rest: Rest): Promise<number> => rest.createAll('/fences', fences());
  return { name, plan, groups: BOTH_TOPICS, secondsByDefault: 10, create };
}

export const BATCH: Profile = {
  name: 'batch',
  summary: 'PUT of 100 locations: 10,000 providers, 1,000 polygon fences of 16 vertices',
  run: (asked) => runLoad(crowdedSite('batch', { way: 'put-many', connections: 10, perMessage: 100 }, asked), asked),
};

export const SINGLE: Profile = {
  name: 'single',
  summary: 'one location per PUT on 64 connections, on the site of batch',
  run: (asked) => runLoad(crowdedSite('single', { way: 'put-one', connections: 64, perMessage: 1 }, asked), asked),
};

export const WS: Profile = {
  name: 'ws',
  summary: 'as batch, published over WebSocket',
  run: (asked) => runLoad(crowdedSite('ws', { way: 'ws', connections: 10, perMessage: 100 }, asked), asked),
};
