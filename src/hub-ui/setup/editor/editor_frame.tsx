import type { ComponentChildren } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import { IconButton } from '../../controls/button.tsx';
import { Link } from '../../controls/link.tsx';
import { Notice } from '../../controls/notice.tsx';
import { useTitle } from '../../controls/page.tsx';
import typography from '../../controls/typography.module.css';
import { nameOf } from '../../drafts/entity_draft.ts';
import { type Kind, kindsText, kindText, labelOf } from '../../hub/entity_kinds.ts';
import { errorAt, RequestError } from '../../hub/rest.ts';
import { t } from '../../languages/language.ts';
import { errorText } from '../../problems/sentences.ts';
import { EditorFoot } from './editor_foot.tsx';
import styles from './editor_frame.module.css';
import { MirrorNotice, OfferedNotice, OvertakenNotice } from './editor_notices.tsx';
import layoutStyles from './setup_layout.module.css';
import { SetupLayout } from './setup_layout.tsx';
import type { Editor } from './use_editor.ts';

interface EditorFrameProps<K extends Kind> {
  readonly kind: K;
  readonly editor: Editor<K>;
  /** Fields that display their own errors; errors of other fields appear at the top. */
  readonly fields: readonly string[];
  /** Map next to the form; undefined for entities without a position. */
  readonly map?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** Frame of an editor: title, undo and redo, notices, form, and buttons. */
export function EditorFrame<K extends Kind>({ kind, editor, fields, map, children }: EditorFrameProps<K>) {
  const { draft, overtakenBy, stored, mayChange } = editor;
  const saved = draft.saved.value;
  const value = draft.value.value;
  const isNew = saved === undefined;
  const name = nameOf(value) || (saved === undefined ? t('New {kind}', { kind: kindText(kind) }) : labelOf(saved));
  useTitle(name);
  useShortcuts(editor);
  return (
    <SetupLayout label={name} map={map}>
      <header class={layoutStyles.head}>
        <Link href={`/${kind}`} class={styles.back}>
          {t('All {kind}', { kind: kindsText(kind) })}
        </Link>
        <div class={layoutStyles.title}>
          <h1 class={typography.cut}>{name}</h1>
          <span class={styles.state} role="status">
            {draft.isChanged.value ? t('Not saved') : ''}
          </span>
          {mayChange && (
            <>
              <IconButton icon="undo" label={t('Undo')} disabled={!draft.canUndo.value} onClick={() => draft.undo()} />
              <IconButton icon="redo" label={t('Redo')} disabled={!draft.canRedo.value} onClick={() => draft.redo()} />
            </>
          )}
        </div>
      </header>
      {/* Outside the scrolling part, so that it stays visible. */}
      {overtakenBy !== undefined && <OvertakenNotice kind={kind} draft={draft} theirs={overtakenBy} />}
      {!isNew && stored === undefined && (
        <div class={layoutStyles.news}>
          <Notice tone="warn">
            {t('This {kind} has been deleted. It can no longer be saved.', { kind: kindText(kind) })}
          </Notice>
        </div>
      )}
      <MirrorNotice kind={kind} entity={stored} />
      {draft.offered.value !== undefined && (
        <OfferedNotice
          offered={draft.offered.value}
          onRestore={() => draft.takeOffer()}
          onDiscard={() => draft.takeOffer({ isDiscarded: true })}
        />
      )}
      <div class={layoutStyles.form} data-editor>
        <OtherError error={draft.error.value} fields={fields} />
        <fieldset class={layoutStyles.fieldset} disabled={!mayChange}>
          {children}
        </fieldset>
      </div>
      <EditorFoot kind={kind} editor={editor} name={name} />
    </SetupLayout>
  );
}

/** Error that no field displays. */
function OtherError({ error, fields }: { readonly error: unknown; readonly fields: readonly string[] }) {
  if (error === undefined || fields.some((field) => errorAt(error, field) !== undefined)) return null;
  const isLost = error instanceof RequestError && error.status === 0;
  return (
    <Notice tone="danger">
      <p>{errorText(error)}</p>
      {isLost && <p>{t('This browser stores your changes until you save them.')}</p>}
    </Notice>
  );
}

/** Keyboard shortcuts: save everywhere, undo and redo outside of text inputs. */
function useShortcuts<K extends Kind>({ draft }: Editor<K>): void {
  // Before paint, so that shortcuts work as soon as the form is visible.
  useLayoutEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
      const key = event.key.toLowerCase();
      if (key === 's') {
        event.preventDefault();
        document.querySelector<HTMLButtonElement>('[data-save]')?.click();
        return;
      }
      const target = event.target as HTMLElement;
      if (target.matches('textarea, input:not([type=checkbox], [type=range])')) return;
      if (key !== 'z' && key !== 'y') return;
      event.preventDefault();
      if (key === 'y' || event.shiftKey) draft.redo();
      else draft.undo();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [draft]);
}
