import type { ComponentChildren } from 'preact';
import { useCallback, useEffect, useState } from 'preact/hooks';
import { Button } from '../controls/button.tsx';
import flow from '../controls/flow.module.css';
import { Notice, Spinner } from '../controls/notice.tsx';
import typography from '../controls/typography.module.css';
import { capitalized, t } from '../languages/language.ts';
import type { Answer } from './history_api.ts';

/** A question about the past: `last` is what is shown until it is answered anew. */
export interface Asked<T> {
  readonly state: 'waiting' | 'ready' | 'failed';
  readonly last: Answer<T> | undefined;
  /** What the hub says, which tells how to ask for less where it was too much. */
  readonly problem: string | undefined;
  readonly again: () => void;
}

/** Asks when the component is first shown, and again when the key of the question has changed. */
export function useAsked<T>(key: string, ask: (signal: AbortSignal) => Promise<Answer<T>>): Asked<T> {
  const [times, setTimes] = useState(0);
  const [asked, setAsked] = useState<Omit<Asked<T>, 'again'>>({
    state: 'waiting',
    last: undefined,
    problem: undefined,
  });
  useEffect(() => {
    const controller = new AbortController();
    setAsked(({ last }) => ({ state: 'waiting', last, problem: undefined }));
    ask(controller.signal).then(
      (last) => {
        if (!controller.signal.aborted) setAsked({ state: 'ready', last, problem: undefined });
      },
      (error: unknown) => {
        if (!controller.signal.aborted) setAsked({ state: 'failed', last: undefined, problem: sentenceOf(error) });
      },
    );
    return () => controller.abort();
  }, [key, times]);
  const again = useCallback(() => setTimes((before) => before + 1), []);
  return { ...asked, again };
}

/** What the hub has said, as a sentence. */
export function sentenceOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return `${capitalized(text)}${/[.!?]$/.test(text) ? '' : '.'}`;
}

/** What came of a question, or why there is nothing to see. */
export function Told<T>({
  asked: { state, last, problem, again },
  isEmpty,
  nothing,
  children,
}: {
  readonly asked: Asked<T>;
  readonly isEmpty: (value: T) => boolean;
  /** What is said of an empty answer. */
  readonly nothing: string;
  readonly children: (value: T) => ComponentChildren;
}) {
  if (problem !== undefined) return <Failed problem={problem} onAgain={again} />;
  if (last === undefined) return <Spinner />;
  return (
    <div class={flow.stack} aria-busy={state === 'waiting'}>
      {last.isIncomplete && <Incomplete />}
      {isEmpty(last.value) ? <p class={typography.soft}>{nothing}</p> : children(last.value)}
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
  const text = t(
    'Some files of this time cannot be read, or a hub has not answered: what they recorded is missing here.',
  );
  return <Notice tone="warn">{text}</Notice>;
}
