import { Link } from '../controls/link.tsx';
import { Empty, Spinner } from '../controls/notice.tsx';
import pageStyles from '../controls/page.module.css';
import { Page } from '../controls/page.tsx';
import { type Kind, SINGULAR } from '../hub/kinds.ts';
import type { NoEditorState } from './use_editor.ts';

/** What stands where there is no draft to be edited. */
export function NoEditor({ kind, state }: { readonly kind: Kind; readonly state: NoEditorState }) {
  if (state === 'waiting') {
    return (
      <div class={pageStyles.page}>
        <Spinner />
      </div>
    );
  }
  if (state === 'forbidden') {
    return (
      <Page title={`New ${SINGULAR[kind]}`}>
        <Empty icon="lock" title={`You are not allowed to create a ${SINGULAR[kind]}`}>
          <Link href={`/${kind}`}>{`All ${kind}`}</Link>
        </Empty>
      </Page>
    );
  }
  return (
    <Page title={`No such ${SINGULAR[kind]}`}>
      <Empty icon="search" title={`There is no such ${SINGULAR[kind]}`}>
        <p>It may have been deleted.</p>
        <Link href={`/${kind}`}>{`All ${kind}`}</Link>
      </Empty>
    </Page>
  );
}
