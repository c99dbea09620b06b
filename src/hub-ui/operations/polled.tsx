import { useEffect, useState } from 'preact/hooks';
import { Notice } from '../controls/notice.tsx';
import { waitBefore } from '../hub/again.ts';
import { request } from '../hub/rest.ts';
import { t } from '../languages/language.ts';
import { errorText } from '../problems/sentences.ts';

/** An answer that is asked for again and again. */
export interface Polled<T> {
  readonly value: T | undefined;
  readonly atMs: number;
  /** The answer before, to see what has changed. */
  readonly before: { readonly value: T; readonly atMs: number } | undefined;
  readonly problem: string | undefined;
}

/** A hub that hangs is no hub that answers. */
const PATIENCE_MS = 10_000;

/**
 * What the API answers on a path, as often as asked, while the component is there. What has failed is asked again sooner:
 * where one hub of several has ended, the next answers.
 */
export function usePolled<T>(path: string, everyMs: number): Polled<T> {
  const [polled, setPolled] = useState<Polled<T>>({ value: undefined, atMs: 0, before: undefined, problem: undefined });
  useEffect(() => {
    let isOver = false;
    let timer: ReturnType<typeof setTimeout>;
    let failures = 0;
    const ask = async (): Promise<void> => {
      try {
        const value = await request<T>('GET', path, { isOnce: true, signal: AbortSignal.timeout(PATIENCE_MS) });
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
      }
      timer = setTimeout(ask, failures === 0 ? everyMs : Math.min(everyMs, waitBefore(failures, Math.random)));
    };
    void ask();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [path, everyMs]);
  return polled;
}

/** Why something could not be had; nothing where it could. */
export function Problem({ text }: { readonly text: string | undefined }) {
  return text === undefined ? null : <Notice tone="danger">{text}</Notice>;
}

function problemOf(error: unknown): string {
  if (error instanceof DOMException && error.name === 'TimeoutError') return t('The hub does not answer');
  return errorText(error);
}
