import { Bed, type Measured } from '../process/bed.ts';
import type { Result, Series } from '../report/result.ts';
import { BOTH_TOPICS, commandOf } from './load_run.ts';
import type { Asked, Profile } from './profile.ts';
import { polygonFences, SITE_FENCES, sideFor } from './site.ts';

const FENCES = [100, 1000, 10_000, 100_000];
const PROVIDERS = [1000, 10_000, 100_000, 200_000];
const PROVIDERS_BY_DEFAULT = 10_000;
const PER_MESSAGE = 100;
/** Far below the limit of the hub on two cores, and enough for batches to form. */
const RATE = 20_000;
const SECONDS = 8;

/** A point of the two curves. */
interface Size {
  readonly fences: number;
  readonly providers: number;
}

export const GROWTH: Profile = {
  name: 'growth',
  summary: 'CPU of the hub per location for 100 to 100,000 fences and 1,000 to 200,000 providers, at a fixed rate',
  async run(asked: Asked): Promise<Result> {
    const scaled = (count: number): number => Math.ceil(count * asked.scale);
    const run = (size: Size): Promise<Point> => measure({ ...size }, asked);
    const byFences: Point[] = [];
    for (const fences of FENCES)
      byFences.push(await run({ fences: scaled(fences), providers: scaled(PROVIDERS_BY_DEFAULT) }));
    const byProviders: Point[] = [];
    for (const providers of PROVIDERS) {
      byProviders.push(await run({ fences: scaled(SITE_FENCES), providers: scaled(providers) }));
    }
    const named = (points: readonly Point[], by: keyof Size): [string, number][] =>
      points.map((point) => [`us_per_location_${point[by]}_${by}`, point.usPerLocation]);
    return {
      profile: 'growth',
      command: commandOf('growth', asked),
      offered_per_s: asked.rate ?? RATE,
      lost: [...byFences, ...byProviders].reduce((sum, { lost }) => sum + lost, 0),
      more: {
        ...Object.fromEntries([...named(byFences, 'fences'), ...named(byProviders, 'providers')]),
        fences_ratio: ratio(byFences),
        providers_ratio: ratio(byProviders),
      },
      series: [curve(byFences, 'fences'), curve(byProviders, 'providers')],
    };
  },
};

interface Point extends Size {
  readonly usPerLocation: number;
  readonly lost: number;
}

/** Fences have the same density for any number of them, so that a location crosses equally many. */
async function measure({ fences, providers }: Size, asked: Asked): Promise<Point> {
  asked.progress(`${fences} fences, ${providers} providers`);
  const sideMeters = sideFor(fences);
  const bed = await Bed.open({
    plan: {
      kind: 'walk',
      way: 'put-many',
      perMessage: PER_MESSAGE,
      connections: Math.min(10, Math.ceil(providers / PER_MESSAGE)),
      providers,
      sideMeters,
      stepMeters: 1.4,
    },
    groups: BOTH_TOPICS,
    create: (rest) =>
      rest.createAll('/fences', polygonFences({ count: fences, vertices: 16, sideMeters, radiusMeters: [15, 25] })),
  });
  try {
    const perSecond = (asked.rate ?? RATE) / PER_MESSAGE;
    const seconds = asked.seconds ?? SECONDS;
    // Two rounds of all providers, or the warm-up of the other profiles.
    const warmupSeconds = Math.max(Math.min(3, seconds), Math.min(seconds, (2 * providers) / (asked.rate ?? RATE)));
    const measured = await bed.measure({ perSecond, warmupSeconds, seconds });
    const { lost } = await bed.balance();
    return { fences, providers, usPerLocation: cpuPerLocation(measured), lost };
  } finally {
    await bed.close();
  }
}

function cpuPerLocation({ hubCpuSeconds, sent }: Measured): number {
  return (1e6 * hubCpuSeconds) / sent.measured.accepted;
}

/** Ratio of the last to the first. */
function ratio(points: readonly Point[]): number {
  return (points.at(-1)?.usPerLocation ?? 0) / (points[0]?.usPerLocation ?? 1);
}

function curve(points: readonly Point[], by: keyof Size): Series {
  return {
    name: by,
    x: by,
    y: 'µs of CPU per location',
    points: points.map((point) => [point[by], point.usPerLocation]),
  };
}
