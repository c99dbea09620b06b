import type { TaskScheduler } from '../time/task_scheduler.ts';

type Run = (text: string) => Promise<void> | undefined;

/**
 * Returns a function that runs the frames of a connection synchronously, but lets bursts yield to the event loop and to
 * other connections.
 */
export function runCooperatively(turns: TaskScheduler, run: Run): Run {
  /** Time at which the first frame of the current time slice started. */
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
