import { signal } from '@preact/signals';
import type { MapView } from '../../../model/view.ts';
import { setQuery } from '../../controls/url_state.ts';
import { can } from '../../hub/access.ts';
import { get, request } from '../../hub/rest.ts';

const PATH = '/views';

/** Saved views of the map, shared by all users; undefined until loaded. */
export const views = signal<readonly MapView[] | undefined>(undefined);

/** Number of opened views; each one recreates the map. */
export const opened = signal(0);

export function mayReadViews(): boolean {
  return can('READ', PATH);
}

export function maySaveViews(): boolean {
  return can('CREATE', PATH);
}

export async function loadViews(): Promise<readonly MapView[]> {
  const found = await get<readonly MapView[]>(PATH);
  views.value = found;
  return found;
}

/** Opens a saved view. */
export function openView({ address }: Pick<MapView, 'address'>, options?: { readonly replace: boolean }): void {
  setQuery(address, options);
  opened.value++;
}

/** Saves the current view under a name; overwrites an existing view of that name. */
export async function saveView(name: string): Promise<void> {
  const address = location.search || '?z=2';
  const before = views.peek()?.find((view) => view.name === name);
  if (before === undefined) await request('POST', PATH, { body: { name, address } });
  else await request('PUT', pathOf(before), { body: { ...before, address } });
  await loadViews();
}

/** Sets or clears a view as the start view of the map. */
export async function setStart(view: MapView, isStart: boolean): Promise<void> {
  await request('PUT', pathOf(view), { body: { ...view, is_start: isStart } });
  await loadViews();
}

export async function deleteView(view: MapView): Promise<void> {
  await request('DELETE', pathOf(view));
  await loadViews();
}

function pathOf({ id }: MapView): string {
  return `${PATH}/${encodeURIComponent(id)}`;
}
