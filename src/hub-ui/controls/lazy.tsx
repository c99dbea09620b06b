import type { ComponentType, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { loadSettings } from '../hub/settings.ts';
import { t } from '../languages/language.ts';
import { Button } from './button.tsx';
import { Empty, Notice, Spinner } from './notice.tsx';
import pageStyles from './page.module.css';
import typography from './typography.module.css';

/** Component that loads its code on first use and is empty until then. */
export function lazyPart<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let cached: ComponentType<Props> | undefined;
  return function LazyPart(props: Props) {
    const [Part, setPart] = useState(() => cached);
    const [isLost, setLost] = useState(false);
    useEffect(() => {
      load().then(
        (loaded) => {
          cached = loaded;
          setPart(() => loaded);
        },
        () => setLost(true),
      );
    }, []);
    if (Part !== undefined) return <Part {...props} />;
    return isLost ? (
      <Notice tone="warn">{t('A part of this page could not be loaded: load the page again.')}</Notice>
    ) : null;
  };
}

/** Page that loads its code on first use. After a failure it retries once when a hub responds. */
export function lazyPage(load: () => Promise<ComponentType>): () => JSX.Element {
  let cached: ComponentType | undefined;
  return function LazyPage() {
    const [Page, setPage] = useState(() => cached);
    const [problem, setProblem] = useState<string>();
    useEffect(() => {
      if (cached !== undefined) return;
      const retry = async (): Promise<ComponentType> => {
        await loadSettings();
        return load();
      };
      load()
        .catch(retry)
        .then(
          (loaded) => {
            cached = loaded;
            setPage(() => loaded);
          },
          (error: unknown) => setProblem(String(error)),
        );
    }, []);
    if (Page !== undefined) return <Page />;
    if (problem === undefined) {
      return (
        <div class={pageStyles.page}>
          <Spinner />
        </div>
      );
    }
    return (
      <Empty icon="warning" title={t('This page could not be loaded')}>
        <p>{t('The hub may have been updated in the meantime. Reload the page.')}</p>
        <p class={typography.faint}>{problem}</p>
        <Button onClick={() => location.reload()}>{t('Load again')}</Button>
      </Empty>
    );
  };
}
