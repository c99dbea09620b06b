import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { t } from '../languages/language.ts';
import flow from './flow.module.css';
import styles from './page.module.css';

/** Frame of a page that is not a map: title, introduction, actions and content. */
export function Page({
  title,
  lead,
  actions,
  children,
}: {
  readonly title: string;
  readonly lead?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children?: ComponentChildren;
}) {
  useTitle(title);
  return (
    <div class={styles.page}>
      <header class={styles.head}>
        <div>
          <h1>{title}</h1>
          {lead !== undefined && <p class={styles.lead}>{lead}</p>}
        </div>
        {actions !== undefined && <div class={flow.row}>{actions}</div>}
      </header>
      {children}
    </div>
  );
}

/** Sets the title of the browser tab. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = t('{title} · Location hub', { title });
  }, [title]);
}
