import { randomUUID } from 'node:crypto';
import { garbageCollector } from '../../workers/garbage.ts';
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
  collectGarbage(): void;
}

/** The machine that this process runs on. */
export function thisMachine(): Machine {
  return { schedule, openThread, newId: randomUUID, turns: new Turns(), collectGarbage: garbageCollector() };
}
