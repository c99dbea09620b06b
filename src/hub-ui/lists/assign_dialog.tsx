import { useMemo, useState } from 'preact/hooks';
import type { LocationProvider } from '../../model/provider.ts';
import type { Trackable } from '../../model/trackable.ts';
import { Button } from '../controls/button.tsx';
import { Dialog } from '../controls/dialog.tsx';
import { TextField } from '../controls/field.tsx';
import { Icon } from '../controls/icons.tsx';
import { toast, toastError, undoBy } from '../controls/toasts.tsx';
import typography from '../controls/typography.module.css';
import { can } from '../hub/access.ts';
import { labelOf } from '../hub/entity_kinds.ts';
import { searchEntities } from '../hub/entity_search.ts';
import { createEntity, deleteEntity, entityPath, patchEntity, request } from '../hub/rest.ts';
import { useEntities } from '../hub/stores.ts';
import { t } from '../languages/language.ts';
import styles from './assign_dialog.module.css';

const OFFERED_MAX = 8;

/** Dialog that assigns a provider to an existing or a new trackable; either takes one click. */
export function AssignDialog({
  provider,
  onClose,
}: {
  readonly provider: LocationProvider;
  readonly onClose: () => void;
}) {
  const [text, setText] = useState('');
  const trackables = useEntities('trackables');
  const offered = useMemo(() => offeredFor(trackables, text), [trackables, text]);
  const name = text.trim() || labelOf(provider);
  const done = (work: Promise<void>): void => {
    void work;
    onClose();
  };
  return (
    <Dialog title={t('Assign {name}', { name: labelOf(provider) })} onClose={onClose}>
      <TextField
        label={t('Trackable')}
        help={t('Search for an existing trackable, or enter the name of a new one.')}
        value={text}
        onInput={setText}
      />
      {can('CREATE', '/trackables') && (
        <Button kind="main" icon="plus" onClick={() => done(assignToNew(provider.id, name))}>
          {t('Create “{name}” and assign it', { name })}
        </Button>
      )}
      {offered.length > 0 ? (
        <ul class={styles.offered} aria-label={t('Trackables')}>
          {offered.map((trackable) => (
            <li key={trackable.id}>
              <button type="button" onClick={() => done(assign(provider.id, trackable))}>
                <Icon name="trackable" />
                <span class={typography.cut}>{labelOf(trackable)}</span>
                <span class={typography.faint}>{carriesText(trackable)}</span>
              </button>
            </li>
          ))}
        </ul>
      ) : (
        <p class={typography.faint}>{t('No trackable with this name that you may change')}</p>
      )}
    </Dialog>
  );
}

/** Trackables that match the search. Without a search, trackables without providers come first. */
function offeredFor(trackables: ReadonlyMap<string, Trackable>, text: string): readonly Trackable[] {
  const found =
    text.trim() === ''
      ? [...trackables.values()].sort((a, b) => providerCount(a) - providerCount(b))
      : searchEntities({ trackables }, text, 10 * OFFERED_MAX).map(({ entity }) => entity as Trackable);
  return found.filter(({ id }) => can('UPDATE', entityPath('trackables', id))).slice(0, OFFERED_MAX);
}

function providerCount({ location_providers: ids }: Trackable): number {
  return ids?.length ?? 0;
}

function carriesText(trackable: Trackable): string {
  const count = providerCount(trackable);
  if (count === 0) return t('no provider yet');
  return count === 1 ? (trackable.location_providers?.[0] ?? '') : t('{count} providers', { count });
}

/** Assigns a provider to a trackable; the toast offers undo. */
async function assign(providerId: string, trackable: Trackable): Promise<void> {
  const before = trackable.location_providers;
  // Append, so that concurrent changes to the list survive.
  const add =
    before == null || before.length === 0
      ? { op: 'add', path: '/location_providers', value: [providerId] }
      : { op: 'add', path: '/location_providers/-', value: providerId };
  try {
    await request('PATCH', entityPath('trackables', trackable.id), { body: [add] });
  } catch (error) {
    toastError(error);
    return;
  }
  const after = [...(before ?? []), providerId];
  const change = { before: { location_providers: after }, after: { location_providers: [...(before ?? [])] } };
  const undo = undoBy(() => patchEntity('trackables', trackable.id, change).catch(toastError));
  toast(t('{provider} is assigned to {name}', { provider: providerId, name: labelOf(trackable) }), 'ok', undo);
}

/** Creates a trackable and assigns the provider to it; the toast offers undo. */
async function assignToNew(providerId: string, name: string): Promise<void> {
  try {
    const { id } = await createEntity('trackables', { type: 'omlox', name, location_providers: [providerId] });
    const undo = undoBy(() => deleteEntity('trackables', id).catch(toastError));
    toast(t('{provider} is assigned to the new trackable {name}', { provider: providerId, name }), 'ok', undo);
  } catch (error) {
    toastError(error);
  }
}
