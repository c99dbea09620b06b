import { useEffect, useMemo } from 'preact/hooks';
import { useRoute } from 'wouter-preact';
import { can } from '../hub/access.ts';
import type { Entities, Kind } from '../hub/kinds.ts';
import { type Draft, entityPath } from '../hub/rest.ts';
import { storeOf, useEntities } from '../hub/stores.ts';
import { equal } from '../json/equal.ts';
import { EntityDraft } from './draft.ts';

/** Drafts that were left unsaved, by kind and id: whoever comes back finds them. */
const drafts = new Map<string, EntityDraft<Kind>>();

/** What the address of a set-up page means. */
export type Asked = { readonly at: 'index' } | { readonly at: 'new' } | { readonly at: 'one'; readonly id: string };

/** Reads `/zones`, `/zones/new` and `/zones/<id>`. */
export function useAsked(kind: Kind): Asked {
  const [, params] = useRoute(`/${kind}/:id`);
  const items = useEntities(kind);
  const raw = params?.['id'];
  if (raw === undefined) return { at: 'index' };
  const id = decoded(raw);
  return id === 'new' && !items.has(id) ? { at: 'new' } : { at: 'one', id };
}

/** Address of the page that edits an entity. */
export function editorPath(kind: Kind, id: string): string {
  return `/${kind}/${encodeURIComponent(id)}`;
}

/** Why there is no draft to be edited. */
export type NoEditorState = 'waiting' | 'missing' | 'forbidden';

export interface Editor<K extends Kind> {
  readonly draft: EntityDraft<K>;
  /** What the hub has now; undefined for what is new. */
  readonly stored: Entities[K] | undefined;
  /** Whether somebody else has changed or deleted it since the draft began. */
  readonly isOvertaken: boolean;
  /** Whether the user may create it, or change it. */
  readonly mayChange: boolean;
}

/** The entity as the hub has it now; undefined when it has none, or has not said yet. */
export function useStored<K extends Kind>(kind: K, id: string | undefined): Entities[K] | undefined {
  return useEntities(kind).get(id ?? '');
}

/**
 * The draft of an entity, or of a new one where `id` is undefined. `stored` is the entity as the hub has it now. Returns
 * `waiting` until the entities are known, `missing` where there is none of the id, and `forbidden` where the user may
 * not create one.
 */
export function useEditor<K extends Kind>(
  kind: K,
  {
    id,
    stored,
    first,
  }: { readonly id: string | undefined; readonly stored: Entities[K] | undefined; readonly first: Draft<K> },
): Editor<K> | NoEditorState {
  const { state, items } = storeOf(kind);
  const key = `${kind} ${id ?? ''}`;
  const isKnown = id === undefined || stored !== undefined || drafts.has(key);
  const draft = useMemo(() => {
    if (!isKnown) return undefined;
    const left = drafts.get(key) as unknown as EntityDraft<K> | undefined;
    const found = left ?? new EntityDraft(kind, id === undefined ? { first } : { kept: stored });
    drafts.set(key, found as unknown as EntityDraft<Kind>);
    return found;
  }, [key, isKnown]);
  useEffect(() => {
    return () => {
      // What was not changed is begun anew the next time.
      if (draft !== undefined && drafts.get(key) === draft && !draft.isChanged.peek()) drafts.delete(key);
    };
  }, [key, draft]);
  // What others change is taken over, unless it would undo what is being done here.
  if (draft !== undefined && stored !== undefined) draft.latest = stored;
  const isChanged = draft?.isChanged.value === true;
  const isSaving = draft?.isSaving.value === true;
  const isNewer = draft !== undefined && stored !== undefined && !isSaving && stored !== draft.seen;
  useEffect(() => {
    // Asked anew: somebody may have begun to write since this was drawn.
    if (isNewer && !draft.isChanged.peek()) draft.follow(stored);
  }, [isNewer, isChanged, stored, draft]);
  useUnsavedWarning(isChanged);
  const isNew = draft?.kept.value === undefined;
  const mayChange = isNew ? can('CREATE', `/${kind}`) : can('UPDATE', entityPath(kind, id ?? ''));
  const isThere = items.value.has(id ?? '');
  if (draft === undefined) return state.value === 'waiting' || isThere ? 'waiting' : 'missing';
  if (isNew && !mayChange) return 'forbidden';
  return { draft, stored, isOvertaken: isNewer && isChanged && !equal(stored, draft.kept.value), mayChange };
}

/** Forgets the draft of what is deleted. */
export function forgetDraft(kind: Kind, id: string): void {
  drafts.delete(`${kind} ${id}`);
}

/** What was new has its id by now, and is edited on. */
export function moveDraft(kind: Kind, id: string): void {
  const draft = drafts.get(`${kind} `);
  drafts.delete(`${kind} `);
  if (draft !== undefined) drafts.set(`${kind} ${id}`, draft);
}

function useUnsavedWarning(isOn: boolean): void {
  useEffect(() => {
    if (!isOn) return;
    const warn = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener('beforeunload', warn);
    return () => removeEventListener('beforeunload', warn);
  }, [isOn]);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // The router has decoded it already, and there was a percent sign in it.
    return text;
  }
}
