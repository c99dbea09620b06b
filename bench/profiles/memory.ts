import { setTimeout as delay } from 'node:timers/promises';
import { Bed } from '../process/bed.ts';
import { BenchHub } from '../process/hub.ts';
import { residentMb } from '../process/proc.ts';
import { Rest } from '../process/rest.ts';
import type { Result, Series } from '../report/result.ts';
import { BOTH_TOPICS, commandOf } from './load_run.ts';
import type { Asked, Profile } from './profile.ts';
import { polygonFences, sideFor, trackables } from './site.ts';
import { fifth, mean } from './statistics.ts';

const PROVIDERS = 200_000;
const TRACKABLES = 100_000;
const FENCES = 50_000;
const CHURN_SECONDS = 600;
const CHURNED_AT_ONCE = 2000;
/** Time until the garbage of earlier measurements is collected. */
const SETTLE_MS = 10_000;
const BYTES_PER_MB = 1e6;

export const MEMORY: Profile = {
  name: 'memory',
  summary: 'bytes per provider, trackable and fence, and RSS while ids are created and deleted for ten minutes',
  async run(asked: Asked): Promise<Result> {
    const settleMs = SETTLE_MS * Math.min(1, asked.scale);
    const counts = { providers: PROVIDERS, trackables: TRACKABLES, fences: FENCES };
    const scaled = Object.fromEntries(Object.entries(counts).map(([name, n]) => [name, Math.ceil(n * asked.scale)]));
    const { providers = 0, trackables: things = 0, fences = 0 } = scaled;
    asked.progress('an empty hub');
    const emptyMb = await emptyResident(settleMs);
    asked.progress(`${providers} providers`);
    const withProviders = await residentWith({ providers, settleMs });
    asked.progress(`${things} trackables`);
    const withTrackables = await residentWith({ providers: 1, things, settleMs });
    asked.progress(`${fences} fences`);
    const withFences = await residentWith({ providers: 1, fences, settleMs });
    asked.progress('ids that come and go');
    const churn = await churned(asked.seconds ?? CHURN_SECONDS, Math.ceil(CHURNED_AT_ONCE * Math.min(1, asked.scale)));
    const per = (mb: number, count: number): number => ((mb - emptyMb) * BYTES_PER_MB) / count;
    const mb = churn.points.map(([, resident]) => resident);
    // The first fifth determines the level after garbage collection.
    const [first, last] = [mean(fifth(mb, 1)), mean(fifth(mb, 4))];
    return {
      profile: 'memory',
      command: commandOf('memory', asked),
      rss_mb: emptyMb,
      more: {
        empty_rss_mb: emptyMb,
        bytes_per_provider: per(withProviders, providers),
        bytes_per_trackable: per(withTrackables, things),
        bytes_per_fence: per(withFences, fences),
        churn_rss_first_mb: first,
        churn_rss_last_mb: last,
        churn_rss_ratio: last / first,
      },
      series: [churn],
    };
  },
};

async function emptyResident(settleMs: number): Promise<number> {
  const hub = await BenchHub.start();
  await delay(settleMs);
  const mb = residentMb(hub.pid);
  await hub.stop();
  return mb;
}

interface Filled {
  readonly providers: number;
  readonly things?: number;
  readonly fences?: number;
  readonly settleMs: number;
}

async function residentWith({ providers, things = 0, fences = 0, settleMs }: Filled): Promise<number> {
  const sideMeters = sideFor(Math.max(1000, fences));
  const bed = await Bed.open({
    plan: {
      kind: 'walk',
      way: 'put-many',
      perMessage: Math.min(100, providers),
      connections: Math.min(4, Math.ceil(providers / 100)),
      providers,
      sideMeters,
      stepMeters: 1,
    },
    groups: BOTH_TOPICS,
    async create(rest) {
      await rest.createAll('/trackables', trackables(things));
      await rest.createAll(
        '/fences',
        polygonFences({ count: fences, vertices: 16, sideMeters, radiusMeters: [15, 25] }),
      );
    },
  });
  await delay(settleMs);
  const mb = residentMb(bed.hub.pid);
  await bed.close();
  return mb;
}

/** Locates new ids, lets them enter a fence, and deletes them, repeatedly. */
async function churned(seconds: number, atOnce: number): Promise<Series> {
  const hub = await BenchHub.start();
  const rest = new Rest(hub.port);
  const points: [number, number][] = [];
  try {
    await rest.createAll(
      '/fences',
      polygonFences({ count: 100, vertices: 16, sideMeters: 500, radiusMeters: [15, 25] }),
    );
    const startMs = performance.now();
    for (let wave = 0; performance.now() - startMs < seconds * 1000; wave++) {
      const ids = Array.from({ length: atOnce }, (_, i) => `visitor-${wave}-${i}`);
      await mustBe(rest.call('PUT', '/providers/locations', ids.map(locationOf)));
      await Promise.all(ids.map((id) => mustBe(rest.call('DELETE', `/providers/${id}`))));
      points.push([(performance.now() - startMs) / 1000, residentMb(hub.pid)]);
    }
  } finally {
    rest.close();
    await hub.stop();
  }
  return { name: 'RSS while ids come and go', x: 's', y: 'MB', points };
}

async function mustBe(call: Promise<{ status: number; text: string }>): Promise<void> {
  const { status, text } = await call;
  if (status !== 204) throw new Error(`Cannot churn ids: answered ${status}: ${text}`);
}

function locationOf(id: string, index: number): object {
  const coordinates = [8.3 + (index % 100) * 1e-4, 50 + Math.floor(index / 100) * 1e-4];
  return { provider_id: id, provider_type: 'uwb', crs: 'EPSG:4326', position: { type: 'Point', coordinates } };
}
