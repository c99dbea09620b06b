import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Bed } from '../process/bed.ts';
import { BenchHub } from '../process/hub.ts';
import { cpuSeconds, residentMb } from '../process/proc.ts';
import { Rest } from '../process/rest.ts';
import type { Result } from '../report/result.ts';
import { BOTH_TOPICS, commandOf } from './load_run.ts';
import type { Asked, Profile } from './profile.ts';
import { trackables } from './site.ts';

const TRACKABLES = 100_000;

export const RESTART: Profile = {
  name: 'restart',
  summary: 'a start with 100,000 persisted trackables, each with a provider and its last location',
  async run(asked: Asked): Promise<Result> {
    const count = Math.ceil(TRACKABLES * asked.scale);
    const folder = mkdtempSync(join(tmpdir(), 'hub-bench-'));
    try {
      asked.progress(`making ${count} trackables`);
      await fill(folder, count);
      asked.progress('starting again');
      const startMs = performance.now();
      const hub = await BenchHub.start({ folder });
      const listeningMs = performance.now() - startMs;
      const rest = new Rest(hub.port);
      try {
        await untilHealthy(rest);
        const readyMs = performance.now() - startMs;
        const kept = JSON.parse((await rest.call('GET', '/trackables/motions')).text).length;
        return {
          profile: 'restart',
          command: commandOf('restart', asked),
          hub_cpu_s: cpuSeconds(hub.pid),
          rss_mb: residentMb(hub.pid),
          lost: count - kept,
          more: { trackables: count, listening_s: listeningMs / 1000, ready_s: readyMs / 1000 },
        };
      } finally {
        rest.close();
        await hub.stop();
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

/** Runs a hub until it has stored trackables with positions, and stops it. */
async function fill(folder: string, count: number): Promise<void> {
  const bed = await Bed.open({
    folder,
    plan: {
      kind: 'walk',
      way: 'put-many',
      providers: count,
      perMessage: 100,
      connections: Math.min(4, Math.ceil(count / 100)),
      sideMeters: 3000,
      stepMeters: 1,
    },
    groups: BOTH_TOPICS,
    create: (rest) => rest.createAll('/trackables', trackables(count)),
  });
  await bed.close();
}

async function untilHealthy(rest: Rest): Promise<void> {
  while ((await rest.call('GET', '//health')).status !== 200);
}
