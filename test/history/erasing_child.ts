import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import type { Erasure } from '../../src/history/erasure.ts';
import { HISTORY_TOPICS } from '../../src/model/history.ts';

/**
 * Erases rows of the history in a folder, and kills its own process with SIGKILL before the given call that changes the
 * file system, counted from 1. Exits with 0 if there are fewer calls.
 */
const [folder = '', killAt = '', erasure = ''] = process.argv.slice(2);

let left = Number.POSITIVE_INFINITY;
for (const name of ['openSync', 'writeFileSync', 'fsyncSync', 'renameSync', 'rmSync', 'mkdirSync'] as const) {
  const original = fs[name] as (...parameters: unknown[]) => unknown;
  Object.assign(fs, {
    [name]: (...parameters: unknown[]) => {
      if (--left === 0) process.kill(process.pid, 'SIGKILL');
      return original(...parameters);
    },
  });
}
syncBuiltinESMExports();

const { Recorder } = await import('../../src/history/recorder.ts');
const recorder = new Recorder(
  {
    ...{ folder, topics: HISTORY_TOPICS, withProperties: false, flushMs: 5000, minIntervalMs: 0, minDistanceMeters: 0 },
    ...{ retentionMs: Number.POSITIVE_INFINITY, bytesMax: Number.POSITIVE_INFINITY },
  },
  { now: Date.now, elapsed: () => performance.now(), post: () => undefined, every: () => () => undefined },
);
recorder.start();
recorder.release((await recorder.files({ topics: [], fromMs: 0, toMs: 0, asWritten: true })).lease);
left = Number(killAt);
await recorder.erase(JSON.parse(erasure) as Erasure);
process.exit(0);
