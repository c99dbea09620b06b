import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
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
  /** Gets a running hub of its own, in a folder that outlives `restart`. */
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

/** Opens a hub for a case and runs it. */
export async function runCase({ settings, run }: AuditCase, t: TestContext): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'hub-audit-'));
  let hub = await openTestHub(settings, { folder });
  const restart = async () => {
    await hub.close();
    hub = await openTestHub(settings, { folder });
    return hub;
  };
  try {
    await run({
      t,
      get hub() {
        return hub;
      },
      restart,
    });
  } finally {
    await hub.close();
    await rm(folder, { recursive: true, force: true });
  }
}
