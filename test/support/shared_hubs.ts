import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, type TestContext } from 'node:test';
import { ROUTES } from '../../src/api/routes/routes.ts';
import { openTestHub, type TestHub, type TestSettings } from './running_hub.ts';

/**
 * Hubs that the tests of a process reuse, because starting a hub takes longer than most tests. Each test gets a hub
 * without entities and connections. Its log, its counters and other files in its folder persist.
 */
const hubs: { readonly key: string; readonly hub: RestartableHub; isFree: boolean }[] = [];
/** Maximum number of hubs that no test is using. Each takes about 100 MB. */
const FREE_MAX = 4;

after(() => Promise.all(hubs.map(({ hub }) => hub.close())));

/** Lends a hub with these settings for the duration of a test. The test must leave it running. */
export async function borrowHub(t: TestContext, settings: TestSettings = {}): Promise<RestartableHub> {
  const key = JSON.stringify(settings);
  const free = hubs.find((other) => other.isFree && other.key === key);
  const borrowed = free ?? { key, hub: await RestartableHub.open(settings), isFree: false };
  if (free === undefined) hubs.push(borrowed);
  borrowed.isFree = false;
  t.after(async () => {
    await borrowed.hub.now.closeSockets();
    borrowed.isFree = true;
    // Most recently used last.
    hubs.push(...hubs.splice(hubs.indexOf(borrowed), 1));
    const free = hubs.filter(({ isFree }) => isFree);
    if (free.length <= FREE_MAX) return;
    hubs.splice(hubs.indexOf(free[0]!), 1);
    await free[0]!.hub.close();
  });
  if (free !== undefined) await empty(borrowed.hub.now);
  return borrowed.hub;
}

/** A hub whose folder survives restarts. */
export class RestartableHub {
  readonly #settings: TestSettings;
  #now: TestHub;

  private constructor(settings: TestSettings, now: TestHub) {
    this.#settings = settings;
    this.#now = now;
  }

  static async open(settings: TestSettings): Promise<RestartableHub> {
    const folder = await mkdtemp(join(tmpdir(), 'hub-shared-'));
    return new RestartableHub(settings, await openTestHub(settings, { folder }));
  }

  /** The running hub. */
  get now(): TestHub {
    return this.#now;
  }

  /** Shuts down the hub and starts another one on the same data. */
  async restart(): Promise<TestHub> {
    const { folder } = this.#now;
    await this.#now.close();
    this.#now = await openTestHub(this.#settings, { folder });
    return this.#now;
  }

  async close(): Promise<void> {
    await this.#now.close();
    await rm(this.#now.folder, { recursive: true, force: true });
  }
}

/** Lists whose documents are deleted one by one. */
const DOCUMENTS = ['/alerts/rules', '/alerts/snoozes', '/views', '/links', '/sinks', '/sources', '/walk_tests'];

/** Deletes all entities and state of a hub through its API, and waits for completion. */
export async function empty(hub: TestHub, headers: Readonly<Record<string, string>> = {}): Promise<void> {
  for (const { method, path } of ROUTES) {
    if (method === 'DELETE' && !path.includes(':')) {
      assert.equal((await hub.request(method, path, undefined, headers)).status, 204, path);
    }
  }
  for (const path of DOCUMENTS) {
    const { body } = await hub.request('GET', path, undefined, headers);
    for (const { id } of body as { id: string }[]) {
      assert.equal((await hub.request('DELETE', `${path}/${id}`, undefined, headers)).status, 204, path);
    }
  }
  assert.equal((await hub.request('PUT', '/trackables/rules/locating', [], headers)).status, 200);
  await hub.settle();
}
