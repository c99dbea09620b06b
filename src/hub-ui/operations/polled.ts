import { useEffect, useState } from 'preact/hooks';
import { get } from '../hub/rest.ts';

/** An answer that is asked for again and again. */
export interface Polled<T> {
  readonly value: T | undefined;
  readonly atMs: number;
  /** The answer before, to see what has changed. */
  readonly before: { readonly value: T; readonly atMs: number } | undefined;
  readonly problem: string | undefined;
}

/** What the API answers on a path, as often as asked, while the component is there. */
export function usePolled<T>(path: string, everyMs: number): Polled<T> {
  const [polled, setPolled] = useState<Polled<T>>({ value: undefined, atMs: 0, before: undefined, problem: undefined });
  useEffect(() => {
    let isOver = false;
    let timer: ReturnType<typeof setTimeout>;
    const ask = async (): Promise<void> => {
      try {
        const value = await get<T>(path);
        const atMs = Date.now();
        if (isOver) return;
        setPolled((last) => {
          const before = last.value === undefined ? undefined : { value: last.value, atMs: last.atMs };
          return { value, atMs, before, problem: undefined };
        });
      } catch (error) {
        if (isOver) return;
        setPolled((last) => ({ ...last, problem: error instanceof Error ? error.message : String(error) }));
      }
      timer = setTimeout(ask, everyMs);
    };
    void ask();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [path, everyMs]);
  return polled;
}
