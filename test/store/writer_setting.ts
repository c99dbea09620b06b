import assert from 'node:assert/strict';
import type { EntityWrite } from '../../src/core/entity_write.ts';
import { HubError } from '../../src/errors.ts';
import { StoreWriter } from '../../src/store/writer.ts';
import { FailingStore, ManualTimers } from './failing_store.ts';

export const zone = (id: string): EntityWrite => ({ kind: 'zone', id, text: '{}' });
export const always = () => true;
export const never = () => false;

/** A writer on a store that fails on command, with timers that fire on command. */
export function setUp({ retryMs = [100, 500, 2000], lateMs = Infinity } = {}) {
  const store = new FailingStore();
  const timers = new ManualTimers();
  const states: string[] = [];
  const state = (now: string, error?: unknown) => void states.push(error ? `${now}: ${(error as Error).message}` : now);
  return {
    store,
    timers,
    states,
    writer: new StoreWriter(store, { retryMs, lateMs, schedule: timers.schedule, state }),
  };
}

/** Runs everything that needs no timer. */
export const settled = () => new Promise((resolve) => setImmediate(resolve));

export function isUnavailable(error: unknown): true {
  assert.ok(error instanceof HubError && error.code === 'HUB_UNAVAILABLE', String(error));
  assert.match(String(error.cause), /strike|closed/);
  return true;
}

/** Current state of a promise. */
export function watch(promise: Promise<void>): { now: 'open' | 'kept' | 'refused' } {
  const seen: { now: 'open' | 'kept' | 'refused' } = { now: 'open' };
  promise.then(
    () => {
      seen.now = 'kept';
    },
    () => {
      seen.now = 'refused';
    },
  );
  return seen;
}
