import { useRef, useState } from 'preact/hooks';
import { Notice } from '../controls/notice.tsx';
import { useRepeated } from '../controls/use_loaded.ts';
import { request } from '../hub/rest.ts';
import { backoffMs } from '../hub/retry.ts';
import { type RequestProblem, problemOf } from './problem.ts';

/** State of a polled resource. */
export interface Polled<T> {
  readonly value: T | undefined;
  readonly atMs: number;
  /** Previous response, to compute rates. */
  readonly before: { readonly value: T; readonly atMs: number } | undefined;
  readonly problem: RequestProblem | undefined;
}

/** Polled resource that can be requested at once, after a change. */
export interface Polling<T> extends Polled<T> {
  readonly refresh: () => void;
}

/** Timeout of a request. */
const TIMEOUT_MS = 10_000;

/**
 * Polls a path of the API while the component is mounted. Failed requests are repeated sooner, since another hub of the
 * cluster may answer; forbidden ones are not repeated.
 */
export function usePolled<T>(path: string, everyMs: number): Polling<T> {
  const [polled, setPolled] = useState<Polled<T>>({ value: undefined, atMs: 0, before: undefined, problem: undefined });
  const failures = useRef(0);
  const [turn, setTurn] = useState(0);
  const poll = async (signal: AbortSignal): Promise<number | undefined> => {
    try {
      const value = await request<T>('GET', path, { isOnce: true, signal: AbortSignal.timeout(TIMEOUT_MS) });
      const atMs = Date.now();
      failures.current = 0;
      if (signal.aborted) return undefined;
      setPolled((last) => {
        const before = last.value === undefined ? undefined : { value: last.value, atMs: last.atMs };
        return { value, atMs, before, problem: undefined };
      });
      return everyMs;
    } catch (error) {
      if (signal.aborted) return undefined;
      failures.current++;
      const problem = problemOf(error);
      setPolled((last) => ({ ...last, problem }));
      return problem.isForbidden ? undefined : Math.min(everyMs, backoffMs(failures.current, Math.random));
    }
  };
  useRepeated(poll, [path, everyMs, turn]);
  return { ...polled, refresh: () => setTurn((before) => before + 1) };
}

/** Notice with the reason of a failed request; nothing without one. */
export function ProblemNotice({ problem }: { readonly problem: RequestProblem | undefined }) {
  if (problem === undefined) return null;
  return <Notice tone={problem.isForbidden ? 'info' : 'danger'}>{problem.text}</Notice>;
}
