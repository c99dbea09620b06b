import { setUrlParams, urlParam } from '../../controls/url_state.ts';
import type { Kind } from '../../hub/entity_kinds.ts';
import { can } from '../../hub/access.ts';
import { hasHistory } from '../../hub/settings.ts';
import { type ColorBy, colorByFrom } from './color_by.ts';
import type { ViewState } from './map_view.tsx';

/**
 * State of the map in the URL: `at` (x,y of the plane), `z` (zoom), `floor`, `zone` (whose local meters are the plane), `sel`
 * (kind:id), `follow`, `layers`, `labels`, `color`, `fences_by`, `wall`, `stack` with `building` (the
 * floors of a building), and `t` (the playback time).
 */
export interface MapSelection {
  readonly kind: Kind;
  readonly id: string;
}

export const LAYERS = [
  'trackables',
  'providers',
  'unassigned',
  'buildings',
  'zones',
  'fences',
  'anchors',
  'plans',
  'labels',
  'tails',
  'accuracy',
  'clusters',
  'heat',
  'filter',
  'gates',
] as const;
export type LayerName = (typeof LAYERS)[number];

const USUAL: readonly LayerName[] = ['trackables', 'fences', 'anchors', 'plans', 'labels', 'tails', 'clusters'];

/** Returns the view of the map in the URL, if any. */
export function viewFromUrl(): ViewState | undefined {
  const [x, y] = (urlParam('at') ?? '').split(',').map(Number);
  const zoom = Number(urlParam('z') ?? Number.NaN);
  if (x === undefined || y === undefined || ![x, y, zoom].every(Number.isFinite)) return undefined;
  return { center: [x, y], zoom };
}

export function viewToUrl({ center: [x = 0, y = 0], zoom }: ViewState): void {
  const digits = Math.abs(x) > 180 || Math.abs(y) > 180 ? 2 : 7;
  setUrlParams({ at: `${round(x, digits)},${round(y, digits)}`, z: round(zoom, 2) });
}

/** The selected floor; undefined for all. */
export function floorFromUrl(): number | undefined {
  const floor = urlParam('floor');
  return floor === undefined || !Number.isFinite(Number(floor)) ? undefined : Number(floor);
}

/** Playback time in milliseconds; undefined in the live view. */
export function pastFromUrl(): number | undefined {
  const atMs = hasHistory() ? Date.parse(urlParam('t') ?? '') : Number.NaN;
  return Number.isFinite(atMs) ? atMs : undefined;
}

export function selectionFromUrl(): MapSelection | undefined {
  const [kind = '', ...id] = (urlParam('sel') ?? '').split(':');
  const kinds: readonly Kind[] = ['zones', 'fences', 'anchors', 'trackables', 'providers'];
  const found = kinds.find((name) => name === kind);
  return found === undefined || id.length === 0 ? undefined : { kind: found, id: id.join(':') };
}

export function select(selection: MapSelection | undefined): void {
  setUrlParams({ sel: selection && `${selection.kind}:${selection.id}`, follow: undefined }, { replace: false });
}

/**
 * Visible layers. By default, providers are visible only if there are no trackables, or if one of them is selected. Users who
 * set up zones see their outlines; others see buildings instead.
 */
export function layersFromUrl(hasTrackables: boolean): ReadonlySet<LayerName> {
  const requested = urlParam('layers');
  if (requested === undefined) {
    const withProviders = !hasTrackables || selectionFromUrl()?.kind === 'providers';
    const areas: LayerName = can('CREATE', '/zones') || can('UPDATE', '/zones/any') ? 'zones' : 'buildings';
    return new Set<LayerName>(withProviders ? [...USUAL, areas, 'providers'] : [...USUAL, areas]);
  }
  const names = requested.split(',');
  return new Set(LAYERS.filter((name) => names.includes(name)));
}

/** Display of labels: none, those that have room, or all that fit. */
export type NameDisplay = 'off' | 'auto' | 'all';

export function namesFromUrl(layers: ReadonlySet<LayerName>): NameDisplay {
  if (!layers.has('labels')) return 'off';
  return urlParam('labels') === 'all' ? 'all' : 'auto';
}

/** Returns the attribute in the URL that sets the colors of objects. */
export function colorByFromUrl(): ColorBy {
  return colorByFrom(urlParam('color'));
}

/** Returns the name of the property in the URL that sets the colors of fences; undefined for one color. */
export function fencesByFromUrl(): string | undefined {
  return urlParam('fences_by');
}

/** Whether the map is in the wall view, for large displays. */
export function isWallFromUrl(): boolean {
  return urlParam('wall') !== undefined;
}

/** Whether the floors of a building are shown one above the other, instead of the map. */
export function isStackFromUrl(): boolean {
  return urlParam('stack') !== undefined && !isWallFromUrl();
}

/** The layer that shows an entity. */
export function layerOf({ kind }: MapSelection): LayerName {
  return kind;
}

export function layersToUrl(layers: ReadonlySet<LayerName>): void {
  setUrlParams({ layers: LAYERS.filter((name) => layers.has(name)).join(',') || 'none' });
}

function round(value: number, digits: number): number {
  return Number(value.toFixed(digits));
}
