import { randomUUID } from 'node:crypto';
import type { WideColumnDeps } from '../../../src/store/widecolumn/settings.ts';

/** Clock and timers for a store. Simulated time passes only while the store waits, which takes no real time. */
export function simulated(startMs = Date.now()) {
  const time = { nowMs: startMs, waits: [] as number[] };
  const deps: WideColumnDeps = {
    now: () => time.nowMs,
    async wait(ms) {
      time.waits.push(ms);
      time.nowMs += ms;
    },
    random: () => 0.5,
    newId: randomUUID,
  };
  return { time, deps };
}
