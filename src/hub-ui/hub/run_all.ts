import { errorText } from '../problems/sentences.ts';

/** Failed item, with the reason. */
export interface Failure<T> {
  readonly item: T;
  readonly reason: string;
}

interface RunOptions {
  /** Stops the run: started items finish, and no further items start. */
  readonly signal: AbortSignal;
  /** Called after each attempt, successful or not. */
  readonly onDone: () => void;
}

/** Browsers open at most six HTTP/1.1 connections per server. */
const AT_ONCE = 6;

/** Runs a task for each item, several concurrently, started in order. Returns the failures. */
export async function runAll<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
  { signal, onDone }: RunOptions,
): Promise<Failure<T>[]> {
  const failures: Failure<T>[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length && !signal.aborted) {
      const item = items[next] as T;
      next++;
      try {
        await work(item);
      } catch (error) {
        failures.push({ item, reason: errorText(error) });
      }
      onDone();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return failures;
}
