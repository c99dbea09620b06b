import type { Way } from '../load/message.ts';
import { BOTH_TOPICS, type LoadRun, runLoad } from './load_run.ts';
import type { Asked, Profile } from './profile.ts';
import { polygonFences, SITE_FENCES, sideFor } from './site.ts';

const PROVIDERS = 10_000;
const STEP_METRES = 1.4;

interface Sent {
  readonly way: Way;
  readonly connections: number;
  readonly perMessage: number;
  /** 10,000 when left out. */
  readonly providers?: number;
}

/** People on smooth walks among 1,000 fences of 16 corners, with a subscriber of locations and one of fences. */
export function crowdedSite(name: string, sent: Sent, asked: Asked): LoadRun {
  const providers = Math.ceil((sent.providers ?? PROVIDERS) * asked.scale);
  const fences = Math.ceil(SITE_FENCES * asked.scale);
  const sideMetres = sideFor(fences);
  // A provider belongs to one connection.
  const connections = Math.min(sent.connections, Math.ceil(providers / sent.perMessage));
  return {
    name,
    plan: { kind: 'walk', sideMetres, stepMetres: STEP_METRES, ...sent, providers, connections },
    groups: BOTH_TOPICS,
    secondsByDefault: 10,
    create: (rest) =>
      rest.createAll('/fences', polygonFences({ count: fences, vertices: 16, sideMetres, radiusMetres: [15, 25] })),
  };
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
