import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { Button } from '../controls/button.tsx';
import flow from '../controls/flow.module.css';
import { Notice, Spinner } from '../controls/notice.tsx';
import typography from '../controls/typography.module.css';
import { t } from '../languages/language.ts';
import { errorText } from '../problems/sentences.ts';
import type { HistoryAnswer } from './history_api.ts';

/** State of a history query; `last` is the previous answer, displayed until the next arrives. */
export interface HistoryQuery<T> {
  readonly state: 'waiting' | 'ready' | 'failed';
  readonly last: HistoryAnswer<T> | undefined;
  /** Error message of the hub. For a query that is too large, it explains how to narrow it. */
  readonly problem: string | undefined;
  readonly retry: () => void;
}

/** Runs a query on mount, and again when its key changes. */
export function useHistoryQuery<T>(
  key: string,
  fetchResult: (signal: AbortSignal) => Promise<HistoryAnswer<T>>,
): HistoryQuery<T> {
  const [times, setTimes] = useState(0);
  const [query, setQuery] = useState<Omit<HistoryQuery<T>, 'retry'>>({
    state: 'waiting',
    last: undefined,
    problem: undefined,
  });
  useEffect(() => {
    const controller = new AbortController();
    setQuery(({ last }) => ({ state: 'waiting', last, problem: undefined }));
    fetchResult(controller.signal).then(
      (last) => {
        if (!controller.signal.aborted) setQuery({ state: 'ready', last, problem: undefined });
      },
      (error: unknown) => {
        if (!controller.signal.aborted) setQuery({ state: 'failed', last: undefined, problem: errorText(error) });
      },
    );
    return () => controller.abort();
  }, [key, times]);
  const retry = useCallback(() => setTimes((before) => before + 1), []);
  return { ...query, retry };
}

/** Renders the result of a query, or the reason for its absence. */
export function QueryResult<T>({
  query: { state, last, problem, retry },
  isEmpty,
  emptyMessage,
  children,
}: {
  readonly query: HistoryQuery<T>;
  readonly isEmpty: (value: T) => boolean;
  /** Message for an empty answer. */
  readonly emptyMessage: string;
  readonly children: (value: T) => ComponentChildren;
}) {
  if (problem !== undefined) return <Failed problem={problem} onAgain={retry} />;
  if (last === undefined) return <Spinner />;
  return (
    <div class={flow.stack} aria-busy={state === 'waiting'}>
      {last.isIncomplete && <Incomplete />}
      {isEmpty(last.value) ? <p class={typography.soft}>{emptyMessage}</p> : children(last.value)}
    </div>
  );
}

export function Failed({ problem, onAgain }: { readonly problem: string; readonly onAgain: () => void }) {
  return (
    <Notice tone="danger">
      <div class={flow.stack}>
        <span>{problem}</span>
        <div>
          <Button onClick={onAgain}>{t('Try again')}</Button>
        </div>
      </div>
    </Notice>
  );
}

export function Incomplete() {
  const text = t('Some files of this time cannot be read, or a hub has not answered: their data are missing here.');
  return <Notice tone="warn">{text}</Notice>;
}
