import { errorText } from '../problems/sentences.ts';

/** What could not be done, and why. */
export interface Failure<T> {
  readonly item: T;
  readonly reason: string;
}

interface RunOptions {
  /** Ends it: what is under way is finished, nothing more is begun. */
  readonly signal: AbortSignal;
  /** After each that was tried. */
  readonly onDone: () => void;
}

/** Browsers have as many connections to one server. */
const AT_ONCE = 6;

/** Does something with each item, several at once, in the order in which they begin. Returns those that have failed. */
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
