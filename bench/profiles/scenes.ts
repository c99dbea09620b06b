import { existsSync, readFileSync } from 'node:fs';
import type { Group } from '../listen/listener.ts';
import type { RecordingPlan } from '../load/plan.ts';
import { RecordingFeed } from '../load/recording_feed.ts';
import type { Rest } from '../process/rest.ts';
import { BOTH_TOPICS, runLoad } from './load_run.ts';
import type { Asked, Profile } from './profile.ts';
import { type FencedScene, polygonFences, roundFences, trackables } from './site.ts';

const PER_MESSAGE = 100;
const MOST_CONNECTIONS = 10;

/** Distribution of providers over messages and connections, of which none is empty. */
function batched(providers: number) {
  const connections = Math.min(MOST_CONNECTIONS, Math.ceil(providers / PER_MESSAGE));
  return { way: 'put-many', perMessage: PER_MESSAGE, connections, providers } as const;
}

const STORM_SPACING_METERS = 60;

/** Providers that leave and enter their own circular fence. */
export function stormScene({ scale }: Pick<Asked, 'scale'>): FencedScene {
  const providers = Math.ceil(23_000 * scale);
  const spacingMeters = STORM_SPACING_METERS;
  return {
    plan: { kind: 'flip', spacingMeters, ...batched(providers) },
    fences: () => roundFences(providers, { spacingMeters, radiusMeters: 10 }),
  };
}

export const STORM: Profile = {
  name: 'storm',
  summary: '23,000 circular fences, every update is an entry or an exit',
  run(asked) {
    const { plan, fences } = stormScene(asked);
    return runLoad(
      {
        name: 'storm',
        plan,
        groups: BOTH_TOPICS,
        secondsByDefault: 10,
        create: (rest) => rest.createAll('/fences', fences()),
        more: ({ seen, received }) => ({ events_missing: seen - (received['fence_events']?.objects ?? 0) }),
      },
      asked,
    );
  },
};

/** People on smooth walks among large polygons. */
export function heavyScene({ scale }: Pick<Asked, 'scale'>): FencedScene {
  const sideMeters = 3000;
  const count = Math.ceil(400 * scale);
  return {
    plan: { kind: 'walk', sideMeters, stepMeters: 1.4, ...batched(Math.ceil(10_000 * scale)) },
    fences: () => polygonFences({ count, vertices: 500, sideMeters, radiusMeters: [55, 60] }),
  };
}

export const HEAVY: Profile = {
  name: 'heavy',
  summary: '400 polygons of 500 vertices',
  run(asked) {
    const { plan, fences } = heavyScene(asked);
    const create = (rest: Rest): Promise<number> => rest.createAll('/fences', fences());
    return runLoad({ name: 'heavy', plan, groups: BOTH_TOPICS, secondsByDefault: 10, create }, asked);
  },
};

const COLLISIONS_TOPIC: Group = { name: 'collision_events', topic: 'collision_events', params: [{}] };

export const COLLISIONS: Profile = {
  name: 'collisions',
  summary: '2,000 trackables with a radius of 0.3 m in a crowd on 100 m by 100 m',
  run(asked) {
    const providers = Math.ceil(2000 * asked.scale);
    const sideMeters = 100 * Math.sqrt(asked.scale);
    return runLoad(
      {
        name: 'collisions',
        plan: { kind: 'walk', sideMeters, stepMeters: 0.7, ...batched(providers) },
        groups: [...BOTH_TOPICS, COLLISIONS_TOPIC],
        secondsByDefault: 10,
        create: (rest) => rest.createAll('/trackables', trackables(providers, { radius: 0.3 })),
      },
      asked,
    );
  },
};

const RECORDED_MS = 300_000;
export const RECORDINGS = new URL('../../../shared/data/opensky-germany/', import.meta.url);

const PER_SECOND = 52_700;

/** Each aircraft ten times a second, on four connections. */
export function flightPlan(): RecordingPlan {
  const path = new URL('locations.ndjson', RECORDINGS).pathname;
  const plan = { kind: 'recording', way: 'put-many', path, perMessage: 1, connections: 4, hz: 10 } as const;
  const feed = new RecordingFeed({ ...plan, lengthMs: RECORDED_MS });
  return { ...plan, lengthMs: RECORDED_MS, perMessage: feed.locationsPerMessage() };
}

export const OPENSKY: Profile = {
  name: 'opensky',
  summary:
    'flights over Germany, fences and collisions: as fast as it goes, and five minutes at 10 Hz within 30 s, 52,700/s',
  needs: () => (existsSync(RECORDINGS) ? undefined : `the recording is not there: ${RECORDINGS.pathname}`),
  run(asked: Asked) {
    const read = (name: string): object[] => JSON.parse(readFileSync(new URL(name, RECORDINGS), 'utf8'));
    return runLoad(
      {
        name: 'opensky',
        plan: flightPlan(),
        latencyRate: PER_SECOND,
        secondsByDefault: 15,
        groups: [...BOTH_TOPICS, COLLISIONS_TOPIC],
        async create(rest) {
          await rest.createAll('/fences', read('fences.json'));
          await rest.createAll('/trackables', read('trackables.json'));
        },
      },
      asked,
    );
  },
};
