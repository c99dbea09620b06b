import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { StartupError } from '../src/errors.ts';
import type { WideColumnSettings } from '../src/store/widecolumn/settings.ts';
import { WideColumnStore } from '../src/store/widecolumn/wide_column_store.ts';
import { openClock } from '../src/time/clock.ts';
import { batchOf, packPart, type StoreReply, type StoreRequest } from '../src/wire/store_messages.ts';

/** Thread of the connection to a wide-column database, which encodes and decodes its frames. */
const { monotonic: now } = openClock();
const deps = { now, wait: (ms: number) => wait(ms), random: Math.random, newId: randomUUID };
const opening = WideColumnStore.open(workerData as WideColumnSettings, deps);

void answer(async () => {
  await opening;
  return { say: 'ready' };
});

// The store serves requests in order, so answers are in order as well.
parentPort?.on('message', (request: StoreRequest) => void answer(async () => serve(await opening, request)));

async function serve(store: WideColumnStore, request: StoreRequest): Promise<StoreReply> {
  switch (request.ask) {
    case 'load':
      return await load(store);
    case 'commit':
      await store.commit(batchOf(request));
      return { say: 'done', failures: [...store.takeFailures()] };
    case 'close':
      await store.close();
      return { say: 'done' };
    case 'event range':
      return { say: 'event range', range: await store[request.log].range() };
    case 'events':
      return { say: 'events', stored: await store[request.log].read(request.after, request.bytesMax) };
    case 'event position':
      return { say: 'event position', position: await store[request.log].positionAt(request.timeMs) };
    case 'trim events':
      return { say: 'trimmed', ...(await store[request.log].trim(request.to)) };
  }
}

async function load(store: WideColumnStore): Promise<StoreReply> {
  const hubId = await store.read((part) => tell({ say: 'part', part: packPart(part) }));
  return { say: 'loaded', hubId };
}

async function answer(work: () => Promise<StoreReply>): Promise<void> {
  let reply: StoreReply;
  try {
    reply = await work();
  } catch (error) {
    const { message } = error as Error;
    const store = await opening.catch(() => undefined);
    const failures = [...(store?.takeFailures() ?? [])];
    reply = { say: 'failed', startup: error instanceof StartupError, message, failures };
  }
  tell(reply);
}

function tell(reply: StoreReply): void {
  parentPort?.postMessage(reply);
}
