import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { isCluster, type TestHub, type TestSettings } from '../../support/running_hub.ts';
import { borrowHub, RestartableHub } from '../../support/shared_hubs.ts';

/** A statement of the specification, or a reported defect, tested over REST and WebSocket. */
export interface ContractCase {
  /** Part of the specification, or number of the decision about it. */
  readonly by: string;
  /** The promise, as a sentence. */
  readonly name: string;
  readonly settings?: TestSettings;
  /** Why the case is about a single hub only. A cluster skips it. */
  readonly alone?: string;
  /**
   * Hub of the case. By default, an empty one shared with cases of the same settings; `own`: a new one; `none`: the
   * case opens its own hubs.
   */
  readonly hub?: 'own' | 'none';
  run(caseHub: CaseHub): Promise<void>;
}

/** The hub of a case. */
export interface CaseHub {
  readonly t: TestContext;
  /** The running hub. */
  readonly hub: TestHub;
  /** Shuts down the hub and starts another one on its data. */
  restart(): Promise<TestHub>;
}

export function titleOf({ name, by }: ContractCase): string {
  return `${name} (${by})`;
}

/** Runs a case on its hub. */
export async function runCase({ settings = {}, hub: which, alone, run }: ContractCase, t: TestContext): Promise<void> {
  if (alone !== undefined && isCluster) {
    t.skip(alone);
    return;
  }
  const opened = which === 'none' ? undefined : await (which === 'own' ? ownHub : borrowHub)(t, settings);
  const hub = () => opened ?? assert.fail('a case with hub "none" has no hub');
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
