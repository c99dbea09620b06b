import { randomUUID } from 'node:crypto';
import { LocationScanner, type ScannerBounds } from '../../wasm/location_scanner.ts';
import { garbageCollector } from '../../workers/garbage.ts';
import type { BodyScanner } from '../ingest/body_scanner.ts';
import { type OpenThread, openThread } from '../lane/thread.ts';
import { schedule } from '../time/clock.ts';
import { TaskScheduler } from '../time/task_scheduler.ts';

/** Services of the machine other than the clock. */
export interface Machine {
  /** Schedules `callback` after `delayMs`. Returns a function that cancels it. */
  schedule(delayMs: number, callback: () => void): () => void;
  readonly openThread: OpenThread;
  /** Returns a random UUID. */
  newId(): string;
  /** Returns a random number from 0 to 1. */
  random(): number;
  /** Scheduler of long tasks on the main thread. */
  readonly turns: TaskScheduler;
  /** Opens a scanner of location bodies, which takes 17 MB of memory. */
  openScanner(bounds: ScannerBounds): BodyScanner;
  collectGarbage(): void;
}

/** Returns the machine of this process. */
export function thisMachine(): Machine {
  const openScanner = (bounds: ScannerBounds): BodyScanner => new LocationScanner(bounds);
  const turns = new TaskScheduler();
  return {
    schedule,
    openThread,
    newId: randomUUID,
    random: Math.random,
    turns,
    openScanner,
    collectGarbage: garbageCollector(),
  };
}
