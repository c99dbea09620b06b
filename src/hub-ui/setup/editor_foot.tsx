import { useLocation } from 'wouter-preact';
import { Button } from '../controls/button.tsx';
import { confirm } from '../controls/dialog.tsx';
import flow from '../controls/flow.module.css';
import { toast, toastError } from '../controls/toasts.tsx';
import typography from '../controls/typography.module.css';
import { can } from '../hub/access.ts';
import { type Kind, labelOf, SINGULAR } from '../hub/kinds.ts';
import { deleteEntity, entityPath, OtherPlaneError } from '../hub/rest.ts';
import { nameOf } from './draft.ts';
import layoutStyles from './setup_layout.module.css';
import { type Editor, editorPath, forgetDraft, moveDraft } from './use_editor.ts';

/** What saves an entity, and what deletes it. */
export function EditorFoot<K extends Kind>({
  kind,
  editor,
  name,
}: {
  readonly kind: K;
  readonly editor: Editor<K>;
  readonly name: string;
}) {
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
          disabled={draft.isSaving.value || draft.isAwaited.value || isBlocked || isDone}
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
