import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { TestHub, TestSettings } from '../support/running_hub.ts';
import { borrowHub, RestartableHub } from '../support/shared_hubs.ts';

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

/** Runs a case on the hub that it is to have. */
export async function runCase({ settings = {}, hub: which, run }: AuditCase, t: TestContext): Promise<void> {
  const opened = which === 'none' ? undefined : await (which === 'own' ? ownHub : borrowHub)(t, settings);
  const hub = () => opened ?? assert.fail('the case says that it opens hubs itself');
  await run({
    t,
    get hub() {
      return hub().now;
    },
    restart: () => hub().restart(),
  });
}

async function ownHub(t: TestContext, settings: TestSettings): Promise<RestartableHub> {
  const hub = await RestartableHub.open(settings);
  t.after(() => hub.close());
  return hub;
}
