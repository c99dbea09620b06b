import { randomUUID } from 'node:crypto';
import { LocationScanner, type ScannerBounds } from '../../wasm/location_scanner.ts';
import { garbageCollector } from '../../workers/garbage.ts';
import type { BodyScanner } from '../ingest/body_scanner.ts';
import { type OpenThread, openThread } from '../lane/thread.ts';
import { schedule } from '../time/clock.ts';
import { Turns } from '../time/turns.ts';

/** What the parts of a hub need of the machine that it runs on, besides its clock. */
export interface Machine {
  /** Calls back after a delay; returns how to call it off. */
  schedule(delayMs: number, callback: () => void): () => void;
  readonly openThread: OpenThread;
  /** A random UUID. */
  newId(): string;
  /** Of everything that takes long on the front thread. */
  readonly turns: Turns;
  /** What reads bodies of locations; it has 17 MB of memory. */
  openScanner(bounds: ScannerBounds): BodyScanner;
  collectGarbage(): void;
}

/** The machine that this process runs on. */
export function thisMachine(): Machine {
  const openScanner = (bounds: ScannerBounds): BodyScanner => new LocationScanner(bounds);
  const turns = new Turns();
  return { schedule, openThread, newId: randomUUID, turns, openScanner, collectGarbage: garbageCollector() };
}
