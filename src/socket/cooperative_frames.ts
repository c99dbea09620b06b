import type { TaskScheduler } from '../time/task_scheduler.ts';

type Run = (text: string) => Promise<void> | undefined;

/** Runs the frames of a connection at once. Bursts yield to the event loop and to other connections. */
export function runCooperatively(turns: TaskScheduler, run: Run): Run {
  /** Time when the first frame of this time slice began to run. */
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
