import type { ComponentChildren } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { Button, IconButton } from '../controls/button.tsx';
import { confirm } from '../controls/dialog.tsx';
import flow from '../controls/flow.module.css';
import { Link } from '../controls/link.tsx';
import { Empty, Notice, Spinner } from '../controls/notice.tsx';
import pageStyles from '../controls/page.module.css';
import { Page, useTitle } from '../controls/page.tsx';
import { toast, toastError } from '../controls/toasts.tsx';
import typography from '../controls/typography.module.css';
import { can } from '../hub/access.ts';
import { type Kind, labelOf, SINGULAR } from '../hub/kinds.ts';
import { deleteEntity, entityPath, errorAt, OtherPlaneError } from '../hub/rest.ts';
import styles from './editor_frame.module.css';
import layoutStyles from './setup_layout.module.css';
import { SetupLayout } from './setup_layout.tsx';
import { type Editor, editorPath, forgetDraft, moveDraft, type NoEditorState } from './use_editor.ts';

interface EditorFrameProps<K extends Kind> {
  readonly kind: K;
  readonly editor: Editor<K>;
  /** Fields with a place for their message; a message about any other stands at the top. */
  readonly fields: readonly string[];
  /** Beside the form; nothing for an entity without a place. */
  readonly map?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** The editor of an entity: what it is called, the ways back, the form, and what saves it. */
export function EditorFrame<K extends Kind>({ kind, editor, fields, map, children }: EditorFrameProps<K>) {
  const { draft, isOvertaken, stored, mayChange } = editor;
  const kept = draft.kept.value;
  const value = draft.value.value;
  const isNew = kept === undefined;
  const name = nameOf(value) || (kept === undefined ? `New ${SINGULAR[kind]}` : labelOf(kept));
  useTitle(name);
  useShortcuts(editor);
  return (
    <SetupLayout label={name} map={map}>
      <header class={layoutStyles.head}>
        <Link href={`/${kind}`} class={styles.back}>
          {`All ${kind}`}
        </Link>
        <div class={layoutStyles.title}>
          <h1 class={typography.cut}>{name}</h1>
          <span class={styles.state} role="status">
            {draft.isChanged.value ? 'Not saved' : ''}
          </span>
          {mayChange && (
            <>
              <IconButton icon="undo" label="Undo" disabled={!draft.canUndo.value} onClick={() => draft.undo()} />
              <IconButton icon="redo" label="Redo" disabled={!draft.canRedo.value} onClick={() => draft.redo()} />
            </>
          )}
        </div>
      </header>
      <div class={layoutStyles.form} data-editor>
        <OtherError error={draft.error.value} fields={fields} />
        {isOvertaken && stored !== undefined && (
          <Notice tone="warn">
            <p>
              Somebody else has changed this {SINGULAR[kind]} meanwhile. Saving changes what you have changed, and
              nothing else.
            </p>
            <Button onClick={() => draft.follow(stored)}>Take theirs</Button>
          </Notice>
        )}
        {!isNew && stored === undefined && (
          <Notice tone="warn">This {SINGULAR[kind]} has been deleted. It cannot be saved any more.</Notice>
        )}
        <fieldset class={layoutStyles.fieldset} disabled={!mayChange}>
          {children}
        </fieldset>
      </div>
      <EditorFoot kind={kind} editor={editor} name={name} />
    </SetupLayout>
  );
}

function nameOf(value: object): string | null {
  return (value as { readonly name?: string | null }).name ?? null;
}

/** A message that no field shows. */
function OtherError({ error, fields }: { readonly error: unknown; readonly fields: readonly string[] }) {
  if (error === undefined || fields.some((field) => errorAt(error, field) !== undefined)) return null;
  return <Notice tone="danger">{error instanceof Error ? error.message : String(error)}</Notice>;
}

function EditorFoot<K extends Kind>({
  kind,
  editor,
  name,
}: Pick<EditorFrameProps<K>, 'kind' | 'editor'> & { readonly name: string }) {
  const { draft, stored, mayChange } = editor;
  const [, go] = useLocation();
  const kept = draft.kept.value;
  const value = draft.value.value as { readonly crs?: string | null };
  const path = kept === undefined ? `/${kind}` : entityPath(kind, kept.id);
  const save = async (): Promise<void> => {
    let id = await draft.save();
    const problem = draft.error.peek();
    if (problem instanceof OtherPlaneError && (await mayChangePlane(kind, problem.kept, value.crs))) {
      id = await draft.save({ alsoPlane: true });
    }
    if (id === undefined) {
      focusProblem();
      return;
    }
    toast(`${labelOf({ id, name: nameOf(draft.value.peek()) })} is saved`);
    if (kept !== undefined) return;
    moveDraft(kind, id);
    go(`${editorPath(kind, id)}${location.search}`, { replace: true });
  };
  const remove = async (): Promise<void> => {
    if (kept === undefined) return;
    const text = `${name} is deleted for good, and everybody who listens is told.`;
    if (!(await confirm({ title: `Delete this ${SINGULAR[kind]}?`, text, action: 'Delete' }))) return;
    try {
      await deleteEntity(kind, kept.id);
      forgetDraft(kind, kept.id);
      toast(`${name} is deleted`);
      go(`/${kind}`);
    } catch (error) {
      toastError(error);
    }
  };
  const isBlocked = draft.problems.value.size > 0 || (kept !== undefined && stored === undefined);
  const isDone = kept !== undefined && !draft.isChanged.value;
  return (
    <footer class={layoutStyles.foot}>
      {kept !== undefined && can('DELETE', path) && (
        <Button kind="quiet" icon="trash" onClick={() => void remove()}>
          Delete
        </Button>
      )}
      <span class={flow.space} />
      {!mayChange && <span class={typography.faint}>You may look, but not change it</span>}
      {mayChange && (
        <Button
          kind="main"
          data-save
          disabled={draft.isSaving.value || isBlocked || isDone}
          onClick={() => void save()}
        >
          {kept === undefined ? `Create ${SINGULAR[kind]}` : 'Save'}
        </Button>
      )}
    </footer>
  );
}

/** Nobody sees in which plane a region is kept until it is to be changed. */
function mayChangePlane(kind: Kind, kept: string, crs: string | null | undefined): Promise<boolean> {
  const drawn = crs === 'local' ? 'the meters of its zone' : 'longitude and latitude';
  return confirm({
    title: 'Keep it in another plane?',
    text: `This ${SINGULAR[kind]} was given in ${kept === 'local' ? 'the meters of a zone' : kept}, and has been drawn in ${drawn}. Saved so, it stays in ${drawn}.`,
    action: 'Save it so',
    kind: 'main',
  });
}

/** Brings the field that the hub complained of into sight. */
function focusProblem(): void {
  requestAnimationFrame(() => {
    const field = document.querySelector<HTMLElement>('[data-editor] [aria-invalid="true"]');
    const shown = field ?? document.querySelector<HTMLElement>('[data-editor] [role="alert"]');
    field?.focus({ preventScroll: true });
    shown?.scrollIntoView({ block: 'center' });
  });
}

/** Undo and redo wherever no text is being written, and saving from everywhere. */
function useShortcuts<K extends Kind>({ draft }: Editor<K>): void {
  // Before the form is seen: whoever sees it may save it at once.
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
        <Empty icon="lock" title={`You may not create a ${SINGULAR[kind]}`}>
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
