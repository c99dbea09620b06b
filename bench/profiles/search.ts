import { randomFrom } from '../load/random.ts';
import { BenchHub } from '../process/hub.ts';
import { residentMb } from '../process/proc.ts';
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
  summary: 'searches among 100,000 objects: near a point, with a condition, and in a region',
  async run(asked: Asked): Promise<Result> {
    const random = randomFrom(4711);
    const halls = Array.from({ length: HALLS }, (): Point => [-5 + 25 * random(), 40 + 20 * random()]);
    const scene: Scene = { halls, random };
    const hub = await BenchHub.start();
    const rest = new Rest(hub.port);
    try {
      asked.progress('making the scene');
      const objects = Math.ceil(OBJECTS * asked.scale);
      for (let first = 0; first < objects; first += PER_MESSAGE) {
        const count = Math.min(PER_MESSAGE, objects - first);
        const body = Array.from({ length: count }, (_, i) => locationOf(first + i, scene));
        await answered(rest, 'PUT', '/providers/locations', body);
      }
      const rssMb = residentMb(hub.pid);
      const more: Record<string, number> = { objects, first_search_ms: await timed(rest, 'nearest', scene) };
      for (const name of Object.keys(SEARCHES)) {
        asked.progress(name);
        Object.assign(more, await timesOf(name, { rest, scene, scale: asked.scale }));
      }
      more['index_mb'] = residentMb(hub.pid) - rssMb;
      return { profile: 'search', command: commandOf('search', asked), rss_mb: residentMb(hub.pid), more };
    } finally {
      rest.close();
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
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(share * times.length))] as number;
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
