import type { Trackable } from '../../model/trackable.ts';
import { toast, toastError } from '../controls/toasts.tsx';
import { labelOf } from '../hub/kinds.ts';
import { createEntity, deleteEntity, entityPath, patchEntity, request } from '../hub/rest.ts';

/** Assigns a provider to a trackable; it can be taken back. */
export async function assign(providerId: string, trackable: Trackable): Promise<void> {
  const before = trackable.location_providers;
  // At the end of whatever others have made of the list meanwhile.
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
  const act = (): void => {
    patchEntity('trackables', trackable.id, {
      before: { location_providers: after },
      after: { location_providers: [...(before ?? [])] },
    }).catch(toastError);
  };
  toast(`${providerId} is assigned to ${labelOf(trackable)}`, 'ok', { label: 'Undo', act });
}

/** Assigns a provider to a new trackable; it can be taken back. */
export async function assignToNew(providerId: string, name: string): Promise<void> {
  try {
    const { id } = await createEntity('trackables', { type: 'omlox', name, location_providers: [providerId] });
    const act = (): void => void deleteEntity('trackables', id).catch(toastError);
    toast(`${providerId} is assigned to ${name}, which is new`, 'ok', { label: 'Undo', act });
  } catch (error) {
    toastError(error);
  }
}
