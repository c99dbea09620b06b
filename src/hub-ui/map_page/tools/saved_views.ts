import { signal } from '@preact/signals';
import type { MapView } from '../../../model/view.ts';
import { setQuery } from '../../controls/url_state.ts';
import { can } from '../../hub/access.ts';
import { get, request } from '../../hub/rest.ts';

const PATH = '/views';

/** The views that the hub keeps for all who use the page; undefined until they were asked for. */
export const views = signal<readonly MapView[] | undefined>(undefined);

/** Number of opened views: each one creates the map again. */
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

/** Shows the map as the view has it. */
export function openView({ address }: Pick<MapView, 'address'>, options?: { readonly replace: boolean }): void {
  setQuery(address, options);
  opened.value++;
}

/** Keeps what is shown now under a name: a view of that name becomes what is shown. */
export async function saveView(name: string): Promise<void> {
  const address = location.search || '?z=2';
  const before = views.peek()?.find((view) => view.name === name);
  if (before === undefined) await request('POST', PATH, { body: { name, address } });
  else await request('PUT', pathOf(before), { body: { ...before, address } });
  await loadViews();
}

/** Makes it the view that the map opens with, or takes that back. */
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
