import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { backUp } from '../../src/store/backup.ts';
import { type Balance, Bed, WITNESS } from '../process/bed.ts';
import { Mosquitto } from '../process/mosquitto.ts';
import { residentMb } from '../process/proc.ts';
import { sustained } from '../profiles/load_run.ts';
import { polygonFences, sideFor } from '../profiles/site.ts';
import type { Sample } from './samples.ts';

/** A site of moderate size: leaks show with time, not with size. */
const PROVIDERS = 2000;
const FENCES = 200;
const TRACKABLES = 500;
const PER_MESSAGE = 20;
const SAMPLE_MS = 2000;
/** Trackables and fences that are created and deleted under load, at these intervals. */
const CHURN_MS = 200;
const BACKUPS = 5;
const MAXIMUM_SECONDS = 10;

/** Optional parts of the hub that are off by default. */
export const SOAK_PARTS = ['history', 'alerts', 'mqtt'] as const;
export type SoakPart = (typeof SOAK_PARTS)[number];

/** Rules of every kind that fence events raise. */
const ALERT_RULES = [
  { name: 'Entry', kind: 'entry', severity: 'info' },
  { name: 'Exit', kind: 'exit', severity: 'info' },
  { name: 'Long stay', kind: 'inside_longer', longer_than: 10_000, severity: 'warning' },
  { name: 'Crowd', kind: 'more_inside', more_than: 3, severity: 'critical' },
  { name: 'Silence', kind: 'silent', longer_than: 60_000, severity: 'warning' },
  { name: 'Tag in a fence', kind: 'entry', object_type: 'location_provider', severity: 'info' },
];

export interface SoakOptions {
  readonly parts: ReadonlySet<SoakPart>;
  readonly minutes: number;
  /** Locations per second; half of the maximum throughput by default. */
  readonly rate: number | undefined;
  progress(text: string): void;
}

export interface Soaked {
  readonly rate: number;
  readonly samples: readonly Sample[];
  readonly balance: Balance;
  /** The hub's own counters after completion. */
  readonly counters: ReadonlyMap<string, number>;
  /** Backups that were made, and verified, under load. */
  readonly backups: number;
  /** Entities that were created and deleted. */
  readonly churned: number;
}

/** Keeps a hub under load with changes of entities and backups, and samples its state at intervals. */
export async function soak({ parts, minutes, rate, progress }: SoakOptions): Promise<Soaked> {
  const broker = parts.has('mqtt') ? await Mosquitto.start() : undefined;
  const bed = await openBed(parts, broker);
  try {
    const perSecond = rate ?? (await halfOfMost(bed, progress));
    progress(`${Math.round(perSecond)} locations a second for ${minutes} minutes`);
    const seconds = minutes * 60;
    const calledOff = new AbortController();
    const looking = look(bed, { signal: calledOff.signal, seconds, progress });
    const churning = churn(bed, calledOff.signal);
    const backing = backUpNowAndThen(bed, { signal: calledOff.signal, seconds });
    await bed.measure({ perSecond: perSecond / PER_MESSAGE, warmupSeconds: 0, seconds });
    calledOff.abort();
    const [samples, churned, backups] = await Promise.all([looking, churning, backing]);
    return {
      rate: perSecond,
      samples,
      churned,
      backups,
      balance: await bed.balance(),
      counters: await bed.rest.metrics(),
    };
  } finally {
    await bed.close();
    await broker?.stop();
  }
}

function openBed(parts: ReadonlySet<SoakPart>, broker: Mosquitto | undefined): Promise<Bed> {
  const sideMeters = sideFor(FENCES);
  const connections = 8;
  return Bed.open({
    ...(broker !== undefined && { publishesTo: broker }),
    settings: { history: parts.has('history') },
    plan: {
      kind: 'walk',
      way: 'put-many',
      connections,
      perMessage: PER_MESSAGE,
      providers: PROVIDERS,
      sideMeters,
      stepMeters: 1.4,
    },
    groups: [
      { name: WITNESS, topic: 'location_updates', params: [{}] },
      { name: 'fence_events', topic: 'fence_events', params: [{}] },
      { name: 'trackable_motions', topic: 'trackable_motions', params: [{}] },
    ],
    async create(rest) {
      const fences = polygonFences({ count: FENCES, vertices: 16, sideMeters, radiusMeters: [15, 25] });
      await rest.createAll('/fences', fences);
      const trackables = Array.from({ length: TRACKABLES }, (_, index) => {
        return { type: 'omlox', radius: 1, location_providers: [`tag-${String(index).padStart(6, '0')}`] };
      });
      await rest.createAll('/trackables', trackables);
      if (parts.has('alerts')) await rest.createAll('/alerts/rules', ALERT_RULES);
    },
  });
}

async function halfOfMost(bed: Bed, progress: SoakOptions['progress']): Promise<number> {
  progress('measuring the most that goes through');
  return sustained(await bed.measure({ perSecond: undefined, warmupSeconds: 2, seconds: MAXIMUM_SECONDS })) / 2;
}

interface While {
  readonly signal: AbortSignal;
  readonly seconds: number;
}

async function look(
  bed: Bed,
  { signal, seconds, progress }: While & Pick<SoakOptions, 'progress'>,
): Promise<readonly Sample[]> {
  const samples: Sample[] = [];
  const startMs = performance.now();
  for (;;) {
    await delay(SAMPLE_MS, undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return samples;
    const sample = await sampleOf(bed, (performance.now() - startMs) / 1000);
    samples.push(sample);
    const { atSeconds, residentMb: memory, logMb } = sample;
    const what = `memory ${memory.toFixed(0)} MB, log ${logMb.toFixed(1)} MB`;
    if (samples.length % 15 === 1) progress(`${atSeconds.toFixed(0)} s of ${seconds} s: ${what}`);
  }
}

async function sampleOf(bed: Bed, atSeconds: number): Promise<Sample> {
  const metrics = await bed.rest.metrics();
  const path = join(bed.hub.folder, 'data.dat');
  return {
    atSeconds,
    residentMb: residentMb(bed.hub.pid),
    heapsMb: heapBytesOf((await bed.rest.call('GET', '//metrics')).text) / 1e6,
    logMb: megabytesOf(`${path}-wal`),
    databaseMb: megabytesOf(path),
    pendingRows: metrics.get('hub_store_pending_rows') ?? 0,
    isFailing: metrics.get('hub_store_failing') !== 0,
  };
}

function heapBytesOf(metrics: string): number {
  const used = metrics.matchAll(/^hub_thread_memory_bytes\{.*part="heap_used".*\} (\S+)$/gm);
  return [...used].reduce((sum, [, bytes]) => sum + Number(bytes), 0);
}

function megabytesOf(path: string): number {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) / 1e6;
}

/** Creates and deletes a trackable and a fence, until it is canceled. */
async function churn({ rest }: Bed, signal: AbortSignal): Promise<number> {
  let churned = 0;
  while (!signal.aborted) {
    const made = [
      ['/trackables', { type: 'omlox', location_providers: [`tag-${String(churned % PROVIDERS).padStart(6, '0')}`] }],
      ['/fences', { region: { type: 'Point', coordinates: [8, 50] }, radius: 20 }],
    ] as const;
    for (const [path, body] of made) {
      const { status, text } = await rest.call('POST', path, body);
      if (status !== 201) throw new Error(`Cannot create at ${path}: answered ${status}: ${text}`);
      await rest.call('DELETE', `${path}/${JSON.parse(text).id}`);
      churned++;
    }
    await delay(CHURN_MS, undefined, { signal }).catch(() => undefined);
  }
  return churned;
}

async function backUpNowAndThen(bed: Bed, { signal, seconds }: While): Promise<number> {
  const to = join(bed.hub.folder, 'soak.bak');
  for (let made = 0; ; made++) {
    await delay((seconds * 1000) / (BACKUPS + 1), undefined, { signal }).catch(() => undefined);
    if (signal.aborted) return made;
    await backUp(join(bed.hub.folder, 'data.dat'), to, { progress: () => undefined });
  }
}
