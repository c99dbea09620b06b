import { useLocation } from 'wouter-preact';
import { writableCopies, undoing, undoNote } from '../../bulk/undo_deletion.ts';
import { Button } from '../../controls/button.tsx';
import { confirm } from '../../controls/dialog.tsx';
import { toast, toastError } from '../../controls/toasts.tsx';
import { nameOf } from '../../drafts/entity_draft.ts';
import { isUndecided } from '../../drafts/member_changes.ts';
import { can } from '../../hub/access.ts';
import { EraseHistory } from './erase_history.tsx';
import { type Kind, kindText, labelOf } from '../../hub/entity_kinds.ts';
import { mirrorOf } from '../../hub/mirrors.ts';
import { editorPath } from '../../hub/page_paths.ts';
import { deleteEntity, entityPath, OtherPlaneError } from '../../hub/rest.ts';
import { t } from '../../languages/language.ts';
import { pathLabel } from '../../problems/sentences.ts';
import layoutStyles from './setup_layout.module.css';
import { type Editor, forgetDraft, moveDraft, readAgain } from './use_editor.ts';

/** Buttons of the editor: save and delete. */
export function EditorFoot<K extends Kind>({
  kind,
  editor,
  name,
}: {
  readonly kind: K;
  readonly editor: Editor<K>;
  readonly name: string;
}) {
  const { draft, mayChange } = editor;
  const [, go] = useLocation();
  const saved = draft.saved.value;
  const value = draft.value.value as { readonly crs?: string | null };
  const path = saved === undefined ? `/${kind}` : entityPath(kind, saved.id);
  const save = async (): Promise<void> => {
    const read = saved === undefined ? undefined : () => readAgain(kind, saved);
    let id = await draft.save({ ...(read && { read }) });
    const problem = draft.error.peek();
    if (problem instanceof OtherPlaneError && (await mayChangePlane(kind, problem.stored, value.crs))) {
      id = await draft.save({ alsoPlane: true, ...(read && { read }) });
    }
    if (id === undefined) {
      focusProblem();
      return;
    }
    toast(t('{name} is saved', { name: labelOf({ id, name: nameOf(draft.value.peek()) }) }));
    if (saved !== undefined) return;
    moveDraft(kind, id);
    go(`${editorPath(kind, id)}${location.search}`, { replace: true });
  };
  const remove = async (): Promise<void> => {
    if (saved === undefined) return;
    const text = t('This deletes {name} and notifies all subscribers. {undo}', { name, undo: undoNote(kind) });
    if (!(await confirm({ title: t('Delete this {kind}?', { kind: kindText(kind) }), text, action: t('Delete') })))
      return;
    try {
      const before = await writableCopies(kind, [saved]);
      await deleteEntity(kind, saved.id);
      forgetDraft(kind, saved.id);
      toast(t('{name} is deleted', { name }), 'ok', undoing(kind, before));
      go(`/${kind}`);
    } catch (error) {
      toastError(error);
    }
  };
  const why = whyNot(editor);
  return (
    <footer class={layoutStyles.foot}>
      {saved !== undefined && mirrorOf(saved) === undefined && can('DELETE', path) && (
        <Button kind="quiet" icon="trash" onClick={() => void remove()}>
          {t('Delete')}
        </Button>
      )}
      {saved !== undefined && (kind === 'trackables' || kind === 'providers') && (
        <EraseHistory kind={kind === 'trackables' ? 'trackable' : 'provider'} id={saved.id} name={name} />
      )}
      <p class={layoutStyles.why} id={WHY_ID} role="status">
        {mayChange ? why : t('You can view this, but not change it')}
      </p>
      {mayChange && (
        <Button
          kind="main"
          data-save
          disabled={why !== undefined}
          {...(why !== undefined && { 'aria-describedby': WHY_ID })}
          onClick={() => void save()}
        >
          {saved === undefined ? t('Create {kind}', { kind: kindText(kind) }) : t('Save')}
        </Button>
      )}
    </footer>
  );
}

const WHY_ID = 'why-not-saved';

/** Reason why saving is disabled; undefined if it is possible. */
function whyNot<K extends Kind>({ draft, stored, overtakenBy: theirs }: Editor<K>): string | undefined {
  const saved = draft.saved.value;
  if (draft.isSaving.value) return t('Saving …');
  if (saved !== undefined && stored === undefined) return t('This has been deleted');
  const wrong = new Set([...draft.problems.value.keys(), ...draft.found.value.keys()].map(pathLabel));
  if (wrong.size > 0) return t('Not saved yet. Please check: {places}', { places: [...wrong].join('; ') });
  if (theirs !== undefined && draft.changesOf(theirs).some(isUndecided)) return t('Choose whose values to keep');
  if (draft.isAwaited.value) return t('Waiting for the hub to place it');
  return saved !== undefined && !draft.isChanged.value ? t('No changes to save') : undefined;
}

/** Confirms a change of the plane in which the hub stores a region. */
function mayChangePlane(kind: Kind, saved: string, crs: string | null | undefined): Promise<boolean> {
  const drawn = crs === 'local' ? t('the meters of its zone') : t('longitude and latitude');
  return confirm({
    title: t('Change the coordinate system?'),
    text: t('This {kind} is stored in {stored}, but was drawn in {drawn}. Saving stores it in {drawn}.', {
      kind: kindText(kind),
      stored: saved === 'local' ? t('the meters of a zone') : saved,
      drawn,
    }),
    action: t('Save and change'),
    kind: 'main',
  });
}

/** Scrolls to the first field with a problem and focuses it. */
function focusProblem(): void {
  requestAnimationFrame(() => {
    const field = document.querySelector<HTMLElement>('[data-editor] [aria-invalid="true"]');
    const shown = field ?? document.querySelector<HTMLElement>('[data-editor] [role="alert"]');
    field?.focus({ preventScroll: true });
    shown?.scrollIntoView({ block: 'center' });
  });
}
