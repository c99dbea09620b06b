import type { GeneratorCommands } from '../load/generator.ts';
import type { WalkPlan } from '../load/plan.ts';
import { randomFrom } from '../load/random.ts';
import { offsetOfDay } from '../process/clock.ts';
import { BenchHub } from '../process/hub.ts';
import { residentMb } from '../process/proc.ts';
import { Remote } from '../process/remote.ts';
import { Rest } from '../process/rest.ts';
import type { Result } from '../report/result.ts';
import { commandOf } from './load_run.ts';
import type { Asked, Profile } from './profile.ts';

const OBJECTS = 100_000;
const PER_MESSAGE = 1000;
/** The objects are in this many halls of 100 m, all over Europe. */
const HALLS = 200;
const HALL_DEGREES = 0.001;
/** Searches that warm up the hub, and measured ones. */
const [WARMUP, CALLS] = [300, 1000] as const;
/** Locations a second during the second half of the searches, and seconds of this load. */
const [RATE, SECONDS] = [10_000, 10] as const;
const GENERATOR = new URL('../load/generator.ts', import.meta.url);
/** The objects that move: each sends once a second. */
const MOVING: WalkPlan = {
  ...{ kind: 'walk', way: 'put-many', connections: 10, perMessage: 100 },
  ...{ providers: 10_000, sideMeters: 1000, stepMeters: 1 },
};

type Point = readonly [lon: number, lat: number];

interface Scene {
  readonly halls: readonly Point[];
  random(): number;
}

/** Kinds of searches: the path of a GET, or the body of a POST. */
const SEARCHES: Readonly<Record<string, (at: Point, scene: Scene) => string | object>> = {
  nearest: ([lon, lat]) => `/search?kind=provider&k=10&near=${lon},${lat}`,
  radius: ([lon, lat]) => `/search?kind=provider&radius=20&near=${lon},${lat}`,
  where: ([lon, lat]) => `/search?kind=provider&k=10&radius=50&where=accuracy%3C0.5&near=${lon},${lat}`,
  region: ([lon, lat]) => {
    const [east, north] = [lon + HALL_DEGREES / 5, lat + HALL_DEGREES / 5];
    const ring = [
      [lon, lat],
      [east, lat],
      [east, north],
      [lon, north],
      [lon, lat],
    ];
    return { kind: 'provider', region: { type: 'Polygon', coordinates: [ring] } };
  },
};

export const SEARCH: Profile = {
  name: 'search',
  summary: 'searches among 100,000 objects: near a point, with a condition, in a region; with and without load',
  async run(asked: Asked): Promise<Result> {
    const random = randomFrom(4711);
    const halls = Array.from({ length: HALLS }, (): Point => [-5 + 25 * random(), 40 + 20 * random()]);
    const scene: Scene = { halls, random };
    const hub = await BenchHub.start();
    const rest = new Rest(hub.port);
    const generator = new Remote<GeneratorCommands>(GENERATOR, [String(offsetOfDay())]);
    try {
      asked.progress('making the scene');
      const plan = { ...MOVING, providers: Math.ceil(MOVING.providers * asked.scale) };
      const objects = Math.ceil(OBJECTS * asked.scale);
      const standing = objects - plan.providers;
      await generator.ask('open', { plan, port: hub.port });
      await generator.ask('prime', { port: hub.port });
      for (let first = 0; first < standing; first += PER_MESSAGE) {
        const count = Math.min(PER_MESSAGE, standing - first);
        const body = Array.from({ length: count }, (_, i) => locationOf(first + i, scene));
        await answered(rest, 'PUT', '/providers/locations', body);
      }
      const rssMb = residentMb(hub.pid);
      const more: Record<string, number> = { objects, first_search_ms: await timed(rest, 'nearest', scene) };
      for (const name of Object.keys(SEARCHES)) {
        asked.progress(name);
        Object.assign(more, await timesOf(name, { rest, scene, scale: asked.scale }));
      }
      asked.progress(`under a load of ${RATE * asked.scale} locations per second`);
      const seconds = asked.seconds ?? SECONDS;
      const interval = { perSecond: (RATE * asked.scale) / plan.perMessage, warmupSeconds: 1, seconds };
      const load = generator.ask('run', { port: hub.port, interval });
      Object.assign(more, await timesBeside(load, { rest, scene }));
      const { measured, measuredSeconds } = await load;
      more['beside_locations_per_s'] = measured.accepted / measuredSeconds;
      more['index_mb'] = residentMb(hub.pid) - rssMb;
      return { profile: 'search', command: commandOf('search', asked), rss_mb: residentMb(hub.pid), more };
    } finally {
      rest.close();
      await generator.stop();
      await hub.stop();
    }
  },
};

function pointIn({ halls, random }: Scene): Point {
  const [lon, lat] = halls[Math.floor(random() * halls.length)] as Point;
  return [lon + HALL_DEGREES * random(), lat + HALL_DEGREES * random()];
}

function locationOf(i: number, scene: Scene): object {
  return {
    provider_id: `tag-${i}`,
    provider_type: 'gps',
    source: 'bench',
    crs: 'EPSG:4326',
    accuracy: scene.random(),
    position: { type: 'Point', coordinates: pointIn(scene) },
  };
}

async function timesOf(
  name: string,
  { rest, scene, scale }: { readonly rest: Rest; readonly scene: Scene; readonly scale: number },
): Promise<Readonly<Record<string, number>>> {
  const times: number[] = [];
  const [warmup, calls] = [Math.ceil(WARMUP * scale), Math.ceil(CALLS * scale)];
  for (let call = 0; call < warmup + calls; call++) {
    const ms = await timed(rest, name, scene);
    if (call >= warmup) times.push(ms);
  }
  return percentilesOf(name, times);
}

/** Searches of all kinds, in turn, while a load lasts. */
async function timesBeside(
  load: Promise<unknown>,
  { rest, scene }: { readonly rest: Rest; readonly scene: Scene },
): Promise<Readonly<Record<string, number>>> {
  const times = Object.keys(SEARCHES).map((name) => ({ name: `beside_${name}`, kind: name, ms: [] as number[] }));
  let isOver = false;
  const over = load.finally(() => {
    isOver = true;
  });
  while (!isOver) for (const { kind, ms } of times) ms.push(await timed(rest, kind, scene));
  await over;
  return Object.assign({}, ...times.map(({ name, ms }) => percentilesOf(name, ms)));
}

function percentilesOf(name: string, times: readonly number[]): Readonly<Record<string, number>> {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] as number;
  return { [`${name}_p50_ms`]: at(0.5), [`${name}_p99_ms`]: at(0.99) };
}

/** Milliseconds of one search. */
async function timed(rest: Rest, name: string, scene: Scene): Promise<number> {
  const search = SEARCHES[name]?.(pointIn(scene), scene) ?? '';
  const startMs = performance.now();
  if (typeof search === 'string') await answered(rest, 'GET', search);
  else await answered(rest, 'POST', '/search', search);
  return performance.now() - startMs;
}

async function answered(rest: Rest, method: string, path: string, body?: object): Promise<void> {
  const { status, text } = await rest.call(method, path, body);
  if (status >= 300) throw new Error(`Cannot ${method} ${path}: answered ${status}: ${text}`);
}
