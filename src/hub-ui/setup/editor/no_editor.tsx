import { Link } from '../../controls/link.tsx';
import { Empty, Spinner } from '../../controls/notice.tsx';
import pageStyles from '../../controls/page.module.css';
import { Page } from '../../controls/page.tsx';
import { type Kind, kindsText, kindText } from '../../hub/entity_kinds.ts';
import { t } from '../../languages/language.ts';
import type { NoEditorState } from './use_editor.ts';

/** Replaces the editor while loading, and if the entity is missing or creation is forbidden. */
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
      <Page title={t('New {kind}', { kind: kindText(kind) })}>
        <Empty icon="lock" title={t('You are not allowed to create a {kind}', { kind: kindText(kind) })}>
          <Link href={`/${kind}`}>{t('All {kind}', { kind: kindsText(kind) })}</Link>
        </Empty>
      </Page>
    );
  }
  return (
    <Page title={t('No such {kind}', { kind: kindText(kind) })}>
      <Empty icon="search" title={t('There is no such {kind}', { kind: kindText(kind) })}>
        <p>{t('It may have been deleted.')}</p>
        <Link href={`/${kind}`}>{t('All {kind}', { kind: kindsText(kind) })}</Link>
      </Empty>
    </Page>
  );
}
