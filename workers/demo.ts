import { parentPort, workerData } from 'node:worker_threads';
import { demoCrew } from '../src/cli/demo/crew.ts';
import { restFeed } from '../src/cli/demo/feed.ts';
import { feedCrew, placeSite, removeSite } from '../src/cli/demo/run.ts';
import type { HubClient, HubReply } from '../src/cli/hub_client.ts';
import type { DemoTask, FromDemoThread, ToDemoThread } from '../src/model/demo.ts';

/**
 * Thread of the demo: a client of the public API, which sends requests through the thread's message port. Deletes the
 * entities that it has created when it is stopped.
 */
const { task } = workerData as DemoTask;
const SEED = 1;

const waiting = new Map<number, (reply: HubReply) => void>();
const stopping = new AbortController();
let requests = 0;

parentPort?.on('message', (message: ToDemoThread) => {
  if (message.say === 'stop') {
    stopping.abort();
    return;
  }
  const { id, status, text } = message;
  waiting.get(id)?.({ status, ok: status >= 200 && status < 300, text, message: text });
  waiting.delete(id);
});

const client: HubClient = {
  send(method, path, body) {
    const id = ++requests;
    tell({ say: 'request', id, method, path, body: body === undefined ? undefined : JSON.stringify(body) });
    return new Promise((resolve) => void waiting.set(id, resolve));
  },
};

const crew = demoCrew(SEED);
try {
  if (task === 'run') await run();
  await removeSite(client, crew);
} catch (error) {
  tell({ say: 'failed', why: error instanceof Error ? error.message : String(error) });
}
parentPort?.close();

async function run(): Promise<void> {
  try {
    await placeSite(client, { crew });
    tell({ say: 'running' });
    const sent = { ticks: 0, locations: 0, proximities: 0 };
    await feedCrew(restFeed(client, 'the hub'), { crew, sent, signal: stopping.signal });
  } catch (error) {
    if (stopping.signal.aborted) return;
    tell({ say: 'failed', why: error instanceof Error ? error.message : String(error) });
  }
}

function tell(message: FromDemoThread): void {
  parentPort?.postMessage(message);
}
