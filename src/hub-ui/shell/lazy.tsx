import type { ComponentType, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Empty, Spinner } from '../controls/notice.tsx';

/** A page whose code is fetched when it is first shown. */
export function lazyPage(load: () => Promise<ComponentType>): () => JSX.Element {
  let known: ComponentType | undefined;
  return function LazyPage() {
    const [Page, setPage] = useState(() => known);
    const [problem, setProblem] = useState<string>();
    useEffect(() => {
      if (known !== undefined) return;
      load().then(
        (loaded) => {
          known = loaded;
          setPage(() => loaded);
        },
        (error: unknown) => setProblem(String(error)),
      );
    }, []);
    if (Page !== undefined) return <Page />;
    if (problem === undefined) {
      return (
        <div class="page">
          <Spinner />
        </div>
      );
    }
    return (
      <Empty icon="warning" title="This page could not be loaded">
        <p>The hub may have been updated meanwhile. Load the page again.</p>
        <p class="faint">{problem}</p>
        <button type="button" class="button" onClick={() => location.reload()}>
          Load again
        </button>
      </Empty>
    );
  };
}
