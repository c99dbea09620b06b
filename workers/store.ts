import { randomUUID } from 'node:crypto';
import { parentPort, workerData } from 'node:worker_threads';
import { StartupError } from '../src/errors.ts';
import { SqliteStore } from '../src/store/sqlite.ts';
import {
  batchOf,
  packPart,
  type Stage,
  type StoreReply,
  type StoreRequest,
  type StoreSettings,
} from '../src/wire/store_messages.ts';
import { garbageCollector } from './garbage.ts';

/** Thread that owns the database: the main thread never waits for the disk. */
let store: SqliteStore | undefined;
const collectGarbage = garbageCollector();
let isWorking = false;

answer(() => {
  const { path, startedMs = 0, acceptLoss = false } = workerData as StoreSettings;
  const stage = (stage: Stage) => tell({ say: 'stage', stage });
  const notice = (text: string) => tell({ say: 'notice', text });
  store = new SqliteStore(path, randomUUID, { nowMs: startedMs, acceptLoss, stage, notice });
  store.warmUp();
  return { say: 'ready' };
});

parentPort?.on('message', (request: StoreRequest) => {
  answer(() => serve(request));
  if (request.ask === 'commit' && !isWorking) workOn();
  if (request.ask === 'load') collectGarbage(); // Of reading and packing.
});

/** Does background work in pieces, between requests, whose answers do not wait for it. */
function workOn(): void {
  isWorking = true;
  setImmediate(() => {
    isWorking = store?.work() === true;
    if (isWorking) workOn();
  });
}

function serve(request: StoreRequest): StoreReply {
  switch (request.ask) {
    case 'load':
      for (const part of opened().parts()) tell({ say: 'part', part: packPart(part) });
      return { say: 'loaded', hubId: opened().hubId };
    case 'commit':
      opened().commit(batchOf(request));
      return { say: 'done' };
    case 'close':
      opened().close();
      store = undefined;
      return { say: 'done' };
    default:
      return opened().logs[request.log].answer(request);
  }
}

function answer(work: () => StoreReply): void {
  let reply: StoreReply;
  try {
    reply = work();
  } catch (error) {
    const { message, code } = error as { message: string; code?: string };
    reply = { say: 'failed', startup: error instanceof StartupError, message, ...(code !== undefined && { code }) };
  }
  tell(reply);
}

function tell(reply: StoreReply): void {
  parentPort?.postMessage(reply);
}

function opened(): SqliteStore {
  if (store === undefined) throw new Error('The store is not open');
  return store;
}
