import type OlMap from 'ol/Map.js';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import type { Anchor } from '../../../model/anchor.ts';
import type { Fence } from '../../../model/fence.ts';
import type { Location } from '../../../model/location.ts';
import type { Zone } from '../../../model/zone.ts';
import { toast } from '../../controls/toasts.tsx';
import { setUrlParams } from '../../controls/url_state.ts';
import { entityPath, get } from '../../hub/rest.ts';
import { t } from '../../languages/language.ts';
import type { MovingLayerState } from '../objects/moving_layer.tsx';
import { anchorPosition } from '../plane/anchor_position.ts';
import { toMap, viewParams } from '../plane/plane.ts';
import { fenceFeature, zoneFeature } from '../site/features.ts';
import { pastFromUrl, type MapSelection } from '../view/map_url.ts';
import { useMap } from '../view/map_view.tsx';
import { fitExtent } from './initial_view.ts';
import { moveView } from '../view/move_view.ts';

/** The layers of moving objects. */
export interface MovingLayers {
  readonly trackables: { readonly current: MovingLayerState | undefined };
  readonly providers: { readonly current: MovingLayerState | undefined };
}

interface SiteEntities extends MovingLayers {
  /** Fences with regions in the coordinates of the plane. */
  readonly fences: readonly Fence[];
  readonly zones: ReadonlyMap<string, Zone>;
  readonly anchors: readonly Anchor[];
  readonly zoneOf: (anchor: Anchor) => Zone | undefined;
}

/** Resolution for a single object, in map units per pixel. */
const NEAR = 0.15;

/**
 * Moves the map to an entity in the next frame, after its panel has taken its space. Returns false if the entity is not on the
 * map.
 */
export function useGoTo(site: SiteEntities): (selection: MapSelection) => boolean {
  const { map, plane } = useMap();
  const { trackables, providers, fences, zones } = site;
  const near = (center: number[]): true => {
    const view = map.getView();
    const resolution = Math.min(view.getResolution() ?? 1, NEAR);
    requestAnimationFrame(() => moveView(view, { center, resolution }));
    return true;
  };
  return ({ kind, id }) => {
    if (kind === 'trackables' || kind === 'providers') {
      const place = (kind === 'trackables' ? trackables : providers).current?.objects.positionOf(id);
      return place !== undefined && near(place);
    }
    if (kind === 'anchors') {
      const anchor = site.anchors.find((each) => each.id === id);
      const at = anchor && anchorPosition(anchor, site.zoneOf(anchor), plane);
      return at !== undefined && near(at);
    }
    const zone = zones.get(id);
    const fence = fences.find((each) => each.id === id);
    const feature =
      kind === 'zones' ? zone && zoneFeature(zone, plane) : kind === 'fences' && fence && fenceFeature(fence, plane);
    const extent = feature ? feature.getGeometry()?.getExtent() : undefined;
    if (extent === undefined) return false;
    requestAnimationFrame(() => fitExtent(map, extent));
    return true;
  };
}

/**
 * Asks the hub for the position of an entity that the map does not show: on another floor, in a hidden layer, or not yet
 * received.
 */
export function useGoToStoredPosition(): (selection: MapSelection) => Promise<void> {
  const { map, plane } = useMap();
  return async ({ kind, id }) => {
    if (pastFromUrl() !== undefined && kind !== 'fences') {
      toast(t('It was not on this map at this time'), 'danger');
      return;
    }
    try {
      if (kind === 'fences') {
        const fence = await get<Fence>(entityPath(kind, id), viewParams(plane));
        fitExtent(map, fenceFeature(fence, plane)?.getGeometry()?.getExtent() ?? []);
      } else {
        const { position } = await get<Location>(`${entityPath(kind, id)}/location`, viewParams(plane));
        moveView(map.getView(), { center: toMap(plane, position.coordinates) });
      }
      setUrlParams({ floor: undefined });
    } catch {
      toast(t('Its position in this view is not known'), 'danger');
    }
  };
}

/**
 * Sets the initial view of a plane once its content has arrived, unless the URL has a view. `lookAt` returns false if there is
 * nothing to show, and undefined if that is not known yet. Call the returned function after new content has arrived.
 */
export function useInitialView(hasView: boolean, lookAt: () => boolean | undefined): () => void {
  const { map, plane, ground } = useMap();
  const shownPlane = useRef(hasView ? plane.id : undefined);
  const showOnce = (): void => {
    if (shownPlane.current !== plane.id && map.getSize() !== undefined) {
      const hasShown = lookAt();
      if (hasShown === undefined) return;
      if (hasShown) shownPlane.current = plane.id;
    }
    ground.isSettled.value = true;
  };
  useEffect(() => {
    showOnce();
    map.on('change:size', showOnce);
    return () => {
      map.un('change:size', showOnce);
    };
  });
  return showOnce;
}

/** Width of the panel next to the map on wide screens, with its margins and the buttons next to it. */
const PANEL_PIXELS = 392;

/**
 * Pads the view by the panel, so that the target is centered in the visible part: above the panel on narrow screens, else
 * next to it.
 */
export function useRoomForPanel(isOpen: boolean, isPast: boolean): void {
  const { map } = useMap();
  const opened = useRef<OlMap>();
  useLayoutEffect(() => {
    const [width = 0, height = 0] = map.getSize() ?? [];
    const view = map.getView();
    const center = view.getCenter();
    if (isOpen && width < 720) view.padding = [90, 0, isPast ? height * 0.42 + 164 : height / 2, 0];
    else if (isOpen) view.padding = [0, PANEL_PIXELS, 0, 0];
    else if (view.padding !== undefined) view.padding = [0, 0, 0, 0];
    // The URL has the center of the visible part. Later, an opened panel does not move the map.
    if (opened.current !== map && center !== undefined) view.setCenter(center);
    opened.current = map;
  }, [map, isOpen, isPast]);
}
