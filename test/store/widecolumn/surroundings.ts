import { randomUUID } from 'node:crypto';
import type { Surroundings } from '../../../src/store/widecolumn/settings.ts';

/** Surroundings whose time stands still but for waiting, which takes none of the test's. */
export function simulated(startMs = Date.now()) {
  const time = { nowMs: startMs, waits: [] as number[] };
  const surroundings: Surroundings = {
    now: () => time.nowMs,
    async wait(ms) {
      time.waits.push(ms);
      time.nowMs += ms;
    },
    random: () => 0.5,
    newId: randomUUID,
  };
  return { time, surroundings };
}
