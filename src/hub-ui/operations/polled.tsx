import { useEffect, useState } from 'preact/hooks';
import { Notice } from '../controls/notice.tsx';
import { request } from '../hub/rest.ts';
import { backoffMs } from '../hub/retry.ts';
import { type RequestProblem, problemOf } from './problem.ts';

/** State of a polled resource. */
export interface Polled<T> {
  readonly value: T | undefined;
  readonly atMs: number;
  /** Previous response, for rates. */
  readonly before: { readonly value: T; readonly atMs: number } | undefined;
  readonly problem: RequestProblem | undefined;
}

/** Timeout of a request. */
const TIMEOUT_MS = 10_000;

/**
 * Polls a path of the API while the component is mounted. Failed requests are repeated sooner, since another hub of the
 * cluster may answer; forbidden ones are not repeated.
 */
export function usePolled<T>(path: string, everyMs: number): Polled<T> {
  const [polled, setPolled] = useState<Polled<T>>({ value: undefined, atMs: 0, before: undefined, problem: undefined });
  useEffect(() => {
    let isOver = false;
    let timer: ReturnType<typeof setTimeout>;
    let failures = 0;
    const poll = async (): Promise<void> => {
      try {
        const value = await request<T>('GET', path, { isOnce: true, signal: AbortSignal.timeout(TIMEOUT_MS) });
        const atMs = Date.now();
        failures = 0;
        if (isOver) return;
        setPolled((last) => {
          const before = last.value === undefined ? undefined : { value: last.value, atMs: last.atMs };
          return { value, atMs, before, problem: undefined };
        });
      } catch (error) {
        if (isOver) return;
        failures++;
        const problem = problemOf(error);
        setPolled((last) => ({ ...last, problem }));
        if (problem.isForbidden) return;
      }
      timer = setTimeout(poll, failures === 0 ? everyMs : Math.min(everyMs, backoffMs(failures, Math.random)));
    };
    void poll();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [path, everyMs]);
  return polled;
}

/** Notice with the reason of a failed request; nothing without one. */
export function ProblemNotice({ problem }: { readonly problem: RequestProblem | undefined }) {
  if (problem === undefined) return null;
  return <Notice tone={problem.isForbidden ? 'info' : 'danger'}>{problem.text}</Notice>;
}
