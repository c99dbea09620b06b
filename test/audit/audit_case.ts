import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { ROUTES } from '../../src/api/routes/routes.ts';
import { openTestHub, type TestHub, type TestSettings } from '../support/running_hub.ts';

/**
 * One thing that the specification says, or that an audit against it has found wrong once, shown where a user meets it:
 * over REST and WebSocket.
 */
export interface AuditCase {
  /** The decision that settles it, by its number, or the part of the specification. */
  readonly by: string;
  /** What must hold, as a sentence. */
  readonly name: string;
  readonly settings?: TestSettings;
  /**
   * Which hub it gets: one that it shares with the cases of the same settings, and that holds nothing (when left out);
   * one of its own, in an empty folder; or none, as it opens hubs itself.
   */
  readonly hub?: 'own' | 'none';
  run(audited: Audited): Promise<void>;
}

/** The hub of a case. */
export interface Audited {
  readonly t: TestContext;
  /** The hub that runs now. */
  readonly hub: TestHub;
  /** Ends the hub in an orderly way and starts another one on its data. */
  restart(): Promise<TestHub>;
}

export function titleOf({ name, by }: AuditCase): string {
  return `${name} (${by})`;
}

/** Runs the cases of a file, on one hub for each set of settings that several of them have. */
export class AuditHubs {
  readonly #shared = new Map<string, RestartableHub>();

  async run({ settings = {}, hub, run }: AuditCase, t: TestContext): Promise<void> {
    if (hub === 'none') return run(noHub(t));
    if (hub === 'own') {
      const own = await RestartableHub.open(settings);
      return runOn(own, { run, t }).finally(() => own.close());
    }
    const key = JSON.stringify(settings);
    const kept = this.#shared.get(key);
    const shared = kept ?? (await RestartableHub.open(settings));
    this.#shared.set(key, shared);
    try {
      if (kept !== undefined) await empty(kept.hub);
      await runOn(shared, { run, t });
    } catch (error) {
      // What fails may leave anything: the next case gets another hub.
      this.#shared.delete(key);
      await shared.close();
      throw error;
    }
  }

  async close(): Promise<void> {
    for (const hub of this.#shared.values()) await hub.close();
  }
}

/** A hub in a folder that outlives restarts. */
class RestartableHub {
  readonly #settings: TestSettings;
  #hub: TestHub;

  private constructor(settings: TestSettings, hub: TestHub) {
    this.#settings = settings;
    this.#hub = hub;
  }

  static async open(settings: TestSettings): Promise<RestartableHub> {
    const folder = await mkdtemp(join(tmpdir(), 'hub-audit-'));
    return new RestartableHub(settings, await openTestHub(settings, { folder }));
  }

  get hub(): TestHub {
    return this.#hub;
  }

  async restart(): Promise<TestHub> {
    const { folder } = this.#hub;
    await this.#hub.close();
    this.#hub = await openTestHub(this.#settings, { folder });
    return this.#hub;
  }

  async close(): Promise<void> {
    await this.#hub.close();
    await rm(this.#hub.folder, { recursive: true, force: true });
  }
}

async function runOn(opened: RestartableHub, { run, t }: Pick<AuditCase, 'run'> & Pick<Audited, 't'>): Promise<void> {
  await run({
    t,
    get hub() {
      return opened.hub;
    },
    restart: () => opened.restart(),
  });
  await opened.hub.closeSockets();
}

/** Removes all that a hub holds, by every path that empties something, and waits until it is gone. */
async function empty(hub: TestHub): Promise<void> {
  for (const { method, path } of ROUTES) {
    if (method === 'DELETE' && !path.includes(':')) assert.equal((await hub.delete(path)).status, 204, path);
  }
  assert.equal((await hub.put('/trackables/rules/locating', [])).status, 200);
  await hub.settle();
}

function noHub(t: TestContext): Audited {
  const none = (): never => assert.fail('the case says that it opens hubs itself');
  return {
    t,
    get hub() {
      return none();
    },
    restart: none,
  };
}
