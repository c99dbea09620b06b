import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DAY_START_MS, fenceId, OBJECTS, objectId, writeDay } from '../history/day.ts';
import { BenchHub } from '../process/hub.ts';
import { residentMb } from '../process/proc.ts';
import { Rest } from '../process/rest.ts';
import type { Result } from '../report/result.ts';
import { commandOf } from './load_run.ts';
import type { Asked, Profile } from './profile.ts';

/** Environment variable with a folder that caches the rows for the next run: writing them takes some minutes. */
const GIVEN = 'BENCH_PAST';
/** Calls of each query. The first, which starts the thread, is not measured. */
const CALLS = 21;
const [MINUTE_MS, HOUR_MS, DAY_MS] = [60_000, 3_600_000, 86_400_000] as const;

interface Question {
  readonly name: string;
  /** `objects`: their number. */
  path(call: number, objects: number): string;
}

const at = (ms: number): string => new Date(DAY_START_MS + ms).toISOString();
const span = (fromMs: number, toMs: number): string => `from=${at(fromMs)}&to=${at(toMs)}`;

/** No two calls read the same rows, unless all are read. */
const QUESTIONS: readonly Question[] = [
  {
    name: 'trackable_hour',
    path: (call, objects) => {
      const fromMs = call * HOUR_MS + 20 * MINUTE_MS;
      return `/trackables/${objectId((call * 53) % objects)}/history?${span(fromMs, fromMs + HOUR_MS)}`;
    },
  },
  { name: 'snapshot', path: (call) => `/history/snapshot?at=${at(call * HOUR_MS + 30 * MINUTE_MS)}` },
  { name: 'fence_day', path: (call) => `/analytics/dwell?${span(0, DAY_MS)}&fence_id=${fenceId(call)}` },
  { name: 'all_fences_day', path: () => `/analytics/dwell?${span(0, DAY_MS)}` },
  {
    name: 'tracks_5_min',
    path: (call) => `/history/tracks?${span(call * HOUR_MS, call * HOUR_MS + 5 * MINUTE_MS)}&step=1000&limit=100000`,
  },
];

export const PAST: Profile = {
  name: 'past',
  summary: `history queries over 100 million rows; ${GIVEN}=FOLDER preserves them`,
  async run(asked: Asked): Promise<Result> {
    const given = process.env[GIVEN];
    const folder = given ?? mkdtempSync(join(tmpdir(), 'hub-bench-'));
    try {
      const objects = Math.ceil(OBJECTS * asked.scale);
      const rows = await writeDay(join(folder, 'history'), {
        objects,
        onHour: (hour) => asked.progress(`writing hour ${hour}`),
      });
      const hub = await BenchHub.start({
        folder,
        // Keeps the day in the past.
        settings: { history: true, history_retention_days: 36_500 },
      });
      const rest = new Rest(hub.port);
      try {
        const more: Record<string, number> = { rows };
        for (const question of QUESTIONS) {
          asked.progress(question.name);
          Object.assign(more, await timesOf(question, { rest, objects }));
        }
        const command = commandOf('past', asked);
        return { profile: 'past', command, rss_mb: residentMb(hub.pid), more };
      } finally {
        rest.close();
        await hub.stop();
      }
    } finally {
      if (given === undefined) rmSync(folder, { recursive: true, force: true });
    }
  },
};

async function timesOf(
  { name, path }: Question,
  { rest, objects }: { readonly rest: Rest; readonly objects: number },
): Promise<Readonly<Record<string, number>>> {
  const times: number[] = [];
  for (let call = 0; call < CALLS; call++) {
    const startMs = performance.now();
    const { status, text } = await rest.call('GET', path(call, objects));
    if (status !== 200) throw new Error(`Cannot ask ${name}: answered ${status}: ${text}`);
    if (call > 0) times.push(performance.now() - startMs);
  }
  times.sort((a, b) => a - b);
  return { [`${name}_p50_ms`]: times[times.length >> 1] as number, [`${name}_max_ms`]: times.at(-1) as number };
}
