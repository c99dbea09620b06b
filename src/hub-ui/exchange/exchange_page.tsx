import type { ComponentChildren, ComponentProps } from 'preact';
import { useLocation } from 'wouter-preact';
import { Button } from '../controls/button.tsx';
import { confirm } from '../controls/dialog.tsx';
import { Link } from '../controls/link.tsx';
import { Spinner } from '../controls/notice.tsx';
import { Page } from '../controls/page.tsx';
import { toast, toastError } from '../controls/toasts.tsx';
import { setUrlParams } from '../controls/url_state.ts';
import { can } from '../hub/access.ts';
import { request } from '../hub/rest.ts';
import { t } from '../languages/language.ts';
import { ProblemNotice } from '../operations/polled.tsx';
import styles from './exchange.module.css';

interface ExchangePageProps {
  /** Name of the item; undefined until it is loaded. */
  readonly name: string | undefined;
  /** Title until then. */
  readonly kind: string;
  readonly list: { readonly path: string; readonly label: string };
  readonly problem: ComponentProps<typeof ProblemNotice>['problem'];
  readonly actions?: ComponentChildren;
  readonly children?: ComponentChildren;
}

/** Frame of the page of one sink or link. */
export function ExchangePage({ name, kind, list, problem, actions, children }: ExchangePageProps) {
  const lead = <Link href={list.path}>{list.label}</Link>;
  if (name === undefined) {
    return (
      <Page title={kind} lead={lead}>
        {problem === undefined ? <Spinner /> : <ProblemNotice problem={problem} />}
      </Page>
    );
  }
  return (
    <Page title={name} lead={lead} actions={actions}>
      <ProblemNotice problem={problem} />
      {children}
    </Page>
  );
}

/** Cards side by side. */
export function Columns({ children }: { readonly children: ComponentChildren }) {
  return <div class={styles.columns}>{children}</div>;
}

/** Buttons that edit and delete an item, for users who may. */
export function EditAndDelete({
  name,
  path,
  listPath,
  question,
}: {
  readonly name: string;
  /** API path of the item, without the version. */
  readonly path: string;
  /** Page of the list, which is shown after a deletion. */
  readonly listPath: string;
  readonly question: Parameters<typeof confirm>[0];
}) {
  const [, go] = useLocation();
  const remove = async (): Promise<void> => {
    if (!(await confirm(question))) return;
    try {
      await request('DELETE', path);
      toast(t('{name} is deleted', { name }));
      go(listPath);
    } catch (error) {
      toastError(error);
    }
  };
  return (
    <>
      {can('UPDATE', path) && (
        <Button icon="edit" onClick={() => setUrlParams({ edit: 1 })}>
          {t('Edit')}
        </Button>
      )}
      {can('DELETE', path) && (
        <Button kind="quiet" icon="trash" onClick={() => void remove()}>
          {t('Delete')}
        </Button>
      )}
    </>
  );
}
