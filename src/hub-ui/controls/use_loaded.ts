import { useEffect, useState } from 'preact/hooks';

interface LoadOptions {
  /** Interval between loads; undefined to load once. */
  readonly everyMs?: number;
  readonly onError?: (error: unknown) => void;
}

/**
 * Result of the last successful load; undefined before the first. Loads when `inputs` change; results for earlier inputs
 * are discarded. `load` returns undefined if there is nothing to load.
 */
export function useLoaded<T>(
  load: (signal: AbortSignal) => Promise<T> | undefined,
  inputs: readonly unknown[],
  { everyMs, onError }: LoadOptions = {},
): T | undefined {
  const [loaded, setLoaded] = useState<{ readonly value: T }>();
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const start = (): void => {
      load(signal)?.then(
        (value) => !signal.aborted && setLoaded({ value }),
        (error: unknown) => !signal.aborted && onError?.(error),
      );
    };
    start();
    const timer = everyMs === undefined ? undefined : setInterval(start, everyMs);
    return () => {
      controller.abort();
      clearInterval(timer);
    };
  }, inputs);
  return loaded?.value;
}

/** Repeats `work` while the component is mounted. It returns the delay before its next run, or undefined to stop. */
export function useRepeated(work: (signal: AbortSignal) => Promise<number | undefined>, inputs: readonly unknown[]) {
  useEffect(() => {
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    const run = async (): Promise<void> => {
      const pauseMs = await work(controller.signal);
      if (pauseMs !== undefined && !controller.signal.aborted) timer = setTimeout(run, pauseMs);
    };
    void run();
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, inputs);
}
