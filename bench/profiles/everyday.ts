import type { WalkPlan } from '../load/plan.ts';
import { type Contender, startHubContender } from '../process/contender.ts';
import { Duel, type Round } from '../process/duel.ts';
import { startTile38, tile38Given, tile38Needs, tile38Program } from '../process/tile38.ts';
import type { Result } from '../report/result.ts';
import { crowdScene } from './batch.ts';
import { commandOf, profiling } from './load_run.ts';
import type { Asked, Profile } from './profile.ts';
import { type FencedScene, polygonFences, sideFor } from './site.ts';

const SECONDS = 10;
const WARMUP_SECONDS = 5;
/** Corners of a fence, and its radius in meters. */
const FENCE = { vertices: 16, radiusMeters: [15, 25] } as const;
/** Number of threads, besides the hub's front thread, whose wake-ups are listed. */
const THREADS_SHOWN = 4;

/** A site at its everyday rate, instead of maximum throughput. */
interface Everyday {
  readonly name: string;
  readonly objects: number;
  /** Locations a second of each object. */
  readonly hz: number;
  /** Locations in a request. */
  readonly perMessage: number;
  readonly connections: number;
  readonly fences: number;
  /** Interval of bursts, and a pause before the measured part; without them, requests are spread evenly. */
  readonly bursts?: { readonly burstMs: number; readonly pauseSeconds: number };
}

const SITES: readonly Everyday[] = [
  { name: 'site', objects: 200, hz: 5, perMessage: 1, connections: 16, fences: 40 },
  { name: 'plant', objects: 2_000, hz: 5, perMessage: 6, connections: 16, fences: 200 },
  { name: 'campus', objects: 10_000, hz: 2, perMessage: 100, connections: 10, fences: 1_000 },
  {
    ...{ name: 'bursts', objects: 10_000, hz: 2, perMessage: 100, connections: 10, fences: 1_000 },
    bursts: { burstMs: 25, pauseSeconds: 2 },
  },
];

/**
 * CPU time of a location at everyday rates, and latency of its fence events. There is one subscriber of all fence
 * events. Tile38 gets the same updates if it is available.
 */
export const EVERYDAY: readonly Profile[] = SITES.map((site) => ({
  name: site.name,
  summary: summaryOf(site),
  run: (asked) => measured(site, asked),
}));

function summaryOf({ objects, hz, perMessage, bursts }: Everyday): string {
  const when = bursts && `, in bursts each ${bursts.burstMs} ms after a pause of ${bursts.pauseSeconds} s`;
  return `${objects.toLocaleString('en')} objects at ${hz} Hz, ${perMessage} in a request${when ?? ''}; with Tile38 if there is Go`;
}

async function measured(site: Everyday, asked: Asked): Promise<Result> {
  const scene = sceneOf(site, asked);
  const rate = asked.rate ?? site.objects * site.hz * asked.scale;
  const duel = new Duel();
  const round = async (who: string, contender: Contender): Promise<Round> => {
    try {
      await contender.createFences(scene.fences());
      await duel.enter(contender, scene.plan);
      await duel.prime(contender);
      asked.progress(`measuring ${who} at ${Math.round(rate)}/s`);
      const seconds = asked.seconds ?? SECONDS;
      const perSecond = rate / site.perMessage;
      const found = await duel.round(contender, {
        perSecond,
        seconds,
        warmupSeconds: Math.min(WARMUP_SECONDS, seconds),
        ...site.bursts,
      });
      await duel.leave(contender);
      return found;
    } finally {
      await contender.stop();
    }
  };
  try {
    const more = numbersOf('', await round('the hub', await startHubContender(profiling(asked))));
    const peer = await tile38();
    if ('missing' in peer) asked.progress(`Tile38 is skipped: ${peer.missing}`);
    else Object.assign(more, numbersOf('peer_', await round('Tile38', await startTile38(peer.program))));
    return { profile: site.name, command: `${tile38Given()}${commandOf(site.name, asked)}`, more };
  } finally {
    await duel.close();
  }
}

/** Path of the program, or the reason why it is unavailable. */
async function tile38(): Promise<{ readonly program: string } | { readonly missing: string }> {
  const missing = tile38Needs();
  if (missing !== undefined) return { missing };
  try {
    return { program: await tile38Program() };
  } catch (error) {
    return { missing: (error as Error).message };
  }
}

function sceneOf({ objects, perMessage, connections, fences }: Everyday, asked: Asked): FencedScene {
  const way = perMessage === 1 ? 'put-one' : 'put-many';
  const { plan } = crowdScene({ way, connections, perMessage, providers: objects }, asked);
  const count = Math.ceil(fences * asked.scale);
  const sideMeters = sideFor(count);
  return { plan: { ...(plan as WalkPlan), sideMeters }, fences: () => polygonFences({ ...FENCE, count, sideMeters }) };
}

function numbersOf(prefix: string, { updatesPerSecond, microsPerUpdate, ...round }: Round): Record<string, number> {
  const { latency, residentMb, events, updates, wakeUpsPerSecond } = round;
  const [main, ...others] = wakeUpsPerSecond;
  const threads = others.sort((one, other) => other - one).slice(0, THREADS_SHOWN);
  const numbers = {
    updates_per_s: updatesPerSecond,
    core_percent: (updatesPerSecond * microsPerUpdate) / 1e4,
    us_per_location: microsPerUpdate,
    event_p50_ms: latency.p50,
    event_p99_ms: latency.p99,
    event_p999_ms: latency.p999,
    events_per_update: events / updates,
    rss_mb: residentMb,
    main_wake_ups_per_s: main ?? 0,
    ...Object.fromEntries(threads.map((count, i) => [`thread_${i + 1}_wake_ups_per_s`, count])),
    all_wake_ups_per_s: wakeUpsPerSecond.reduce((sum, count) => sum + count, 0),
  };
  return Object.fromEntries(Object.entries(numbers).map(([name, value]) => [prefix + name, value]));
}
