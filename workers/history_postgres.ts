import { parentPort, workerData } from 'node:worker_threads';
import { Duck } from '../src/history/duck.ts';
import type { FromPostgresThread, ToPostgresThread } from '../src/history/postgres.ts';
import { PostgresCopy, type PostgresSettings } from '../src/history/postgres_copy.ts';
import { endInOrder } from '../src/history/thread_end.ts';
import { every, openClock } from '../src/time/clock.ts';

/** Thread that copies the history into a PostgreSQL database. */
const settings = workerData as PostgresSettings;
const { now } = openClock();
const duck = await Duck.open({ memoryMb: 256, spillFolder: undefined });
/** Number of files that are leased at once. Between leases, files may be merged and removed. */
const FILES_AT_ONCE = 50;
let copy: PostgresCopy | undefined;
let failure: Error | undefined;

endInOrder(parentPort, every);
parentPort?.on('message', (message: ToPostgresThread) => {
  if (message.say === 'files') void turn(message);
});

async function turn({ lease, files }: ToPostgresThread & { readonly say: 'files' }): Promise<void> {
  let copied = 0;
  try {
    if (failure !== undefined) throw failure;
    copy ??= await PostgresCopy.open(settings, duck, (error) => {
      failure = error;
    });
    const keptMs = now() - settings.retentionMs;
    const missing = (await copy.missing(files)).filter(({ hourMs }) => hourMs >= keptMs);
    for (const file of missing.slice(0, FILES_AT_ONCE)) copied += await copy.copy(file);
    if (Number.isFinite(keptMs)) await copy.expire(keptMs);
    tell({ say: 'done', lease, copied, behind: Math.max(0, missing.length - FILES_AT_ONCE) });
  } catch (error) {
    const why = error instanceof Error ? error.message || error.name : String(error);
    const last = copy;
    copy = undefined;
    failure = undefined;
    await last?.close();
    tell({ say: 'failed', lease, why });
  }
}

function tell(message: FromPostgresThread): void {
  parentPort?.postMessage(message);
}
