import type { TaskScheduler } from '../time/task_scheduler.ts';

type Run = (text: string) => Promise<void> | undefined;

/** Runs the frames of a connection at once; many that come together take turns with everybody else's. */
export function inTurns(turns: TaskScheduler, run: Run): Run {
  /** When the first frame of this turn began to run. */
  let begunMs: number | undefined;
  const endTurn = (): void => {
    begunMs = undefined;
  };
  return (text) => {
    if (begunMs === undefined) {
      begunMs = turns.begin();
      setImmediate(endTurn);
    } else if (turns.isLong(begunMs)) {
      return turns.next().then(() => {
        begunMs = turns.begin();
        return run(text);
      });
    }
    return run(text);
  };
}
