import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Bed } from '../process/bed.ts';
import type { Result } from '../report/result.ts';
import { crowdedSite } from './batch.ts';
import { commandOf, sustained } from './load_run.ts';
import type { Asked, Profile } from './profile.ts';

/** Long enough for the engine to compile hot functions. */
const WARMUP_SECONDS = 8;
const SECONDS = 5;
const BARE = { warmupSeconds: 1, seconds: 2 };

export const COLD: Profile = {
  name: 'cold',
  summary: 'the first second of a restarted hub under the load of batch, and the same after it has warmed up',
  async run(asked: Asked): Promise<Result> {
    const folder = mkdtempSync(join(tmpdir(), 'hub-bench-'));
    const {
      secondsByDefault: _,
      name: __,
      ...site
    } = crowdedSite('cold', { way: 'put-many', connections: 10, perMessage: 100 }, asked);
    try {
      asked.progress('making the scene');
      await (await Bed.open({ ...site, folder })).close();
      asked.progress('starting again');
      const { groups, plan } = site;
      const bed = await Bed.open({ groups, plan, folder, primes: false });
      try {
        // The generator is warm.
        await bed.bare(BARE);
        const most = { perSecond: undefined };
        asked.progress('measuring the first second');
        const first = await bed.measure({ ...most, warmupSeconds: 0, seconds: 1 });
        asked.progress('measuring the maximum');
        const seconds = asked.seconds ?? SECONDS;
        const warm = await bed.measure({ ...most, warmupSeconds: Math.min(WARMUP_SECONDS, 2 * seconds), seconds });
        const { lost, processed } = await bed.balance();
        return {
          profile: 'cold',
          command: commandOf('cold', asked),
          lost,
          processed,
          more: {
            first_second_per_s: sustained(first),
            warm_per_s: sustained(warm),
            first_second_ratio: sustained(first) / sustained(warm),
          },
        };
      } finally {
        await bed.close();
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
