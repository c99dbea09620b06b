import { setTimeout as delay } from 'node:timers/promises';
import { residentMb } from '../process/proc.ts';
import type { Series } from '../report/result.ts';

/** Samples the resident memory of a process at intervals, from now until `stop` is called. */
export function memorySeries(
  pid: number,
  { name, everyMs }: { readonly name: string; readonly everyMs: number },
): { stop(): Promise<Series> } {
  const points: [seconds: number, mb: number][] = [];
  let isOver = false;
  const sampling = (async () => {
    for (let at = 0; !isOver; at += everyMs) {
      points.push([at / 1000, residentMb(pid)]);
      await delay(everyMs);
    }
  })();
  const stop = async (): Promise<Series> => {
    isOver = true;
    await sampling;
    return { name, x: 's', y: 'MB', points };
  };
  return { stop };
}
