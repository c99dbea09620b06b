import type MapBrowserEvent from 'ol/MapBrowserEvent.js';
import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Fence } from '../../model/fence.ts';
import { lazyPart } from '../controls/lazy.tsx';
import { floorsOf, isOnFloor } from '../hub/floors.ts';
import { hasHistory } from '../hub/settings.ts';
import { storeOf, useEntities } from '../hub/stores.ts';
import { loadPageTexts } from '../languages/language.ts';
import {
  type MovingLayers,
  useInitialView,
  useGoTo,
  useGoToStoredPosition,
  useRoomForPanel,
} from '../map/navigation/go_to.ts';
import { fitEverything, goIntoCluster } from '../map/navigation/initial_view.ts';
import { clusterAt, extentOf } from '../map/objects/clusters.ts';
import { type MovingLayerState, objectAt, useSeenCounts } from '../map/objects/moving_layer.tsx';
import type { Plane } from '../map/plane/plane.ts';
import { drawnBy, explainedBy } from '../map/site/features.ts';
import { useFencesInPlane } from '../map/site/fences_in_plane.ts';
import { useAnchors } from '../map/site/use_anchors.ts';
import {
  isStackFromUrl,
  isWallFromUrl,
  type LayerName,
  layerOf,
  layersToUrl,
  pastFromUrl,
  type MapSelection,
} from '../map/view/map_url.ts';
import { useMap } from '../map/view/map_view.tsx';
import { FollowChip, follow, isMovable, useFollow } from './follow.tsx';
import { LiveLayers } from './layers/live_layers.tsx';
import { selectedEntities, clearSelected, toggleSelected } from './multi_select/multi_selection.ts';
import { SelectionPanel } from './panel/selection_panel.tsx';
import { type MapTool, Toolbar } from './tools/toolbar.tsx';

interface LiveMapProps {
  readonly plane: Plane;
  readonly floor: number | undefined;
  readonly layers: ReadonlySet<LayerName>;
  readonly selection: MapSelection | undefined;
  readonly isFollowing: boolean;
  /** Whether the URL has a view. */
  readonly hasView: boolean;
  readonly onPlane: (zoneId: string | undefined) => void;
  readonly onSelect: (selection: MapSelection | undefined) => void;
}

const WallView = lazyPart(async () => (await import('./wall/wall_view.tsx')).WallView);
const MultiSelectTool = lazyPart(async () => (await import('./multi_select/multi_select.tsx')).MultiSelect);
const FindTool = lazyPart(async () => {
  await loadPageTexts();
  return (await import('./find/find_tool.tsx')).FindTool;
});
const FilterLayer = lazyPart(async () => {
  await loadPageTexts();
  return (await import('./filter/filter_layer.tsx')).FilterLayer;
});
const GateCounts = lazyPart(async () => (await import('./layers/gate_counts.tsx')).GateCounts);
const FloorStack = lazyPart(async () => {
  await loadPageTexts();
  return (await import('./stack/floor_stack.tsx')).FloorStack;
});
const HistoryOnMap = lazyPart(async () => (await import('./history_on_map.tsx')).HistoryOnMap);

const NO_FENCES: readonly Fence[] = [];

/** Live map with all layers and tools. */
export function LiveMap(props: LiveMapProps) {
  const { plane, floor, layers, selection, isFollowing, onPlane, onSelect } = props;
  const { map } = useMap();
  const allZones = useEntities('zones');
  const shownFences = useFencesInPlane(plane);
  const allFences = shownFences ?? NO_FENCES;
  // Zones without a floor are on floor 0; fences without a floor are on all floors.
  const siteZones = useMemo(() => [...allZones.values()], [allZones]);
  const zones = useMemo(() => siteZones.filter((zone) => isOnFloor(floor, zone.floor ?? 0)), [siteZones, floor]);
  const fences = useMemo(() => allFences.filter((fence) => isOnFloor(floor, fence.floor)), [allFences, floor]);
  const { anchors, zoneOf } = useAnchors(floor);
  const trackables = useRef<MovingLayerState>();
  const providers = useRef<MovingLayerState>();
  const movables = {
    trackables: { layer: trackables, seen: useSeenCounts() },
    providers: { layer: providers, seen: useSeenCounts() },
  };
  const labels = useRef<{ redraw(): void }>();
  const stack = useRef<{ redraw(): void }>();
  const [tool, setTool] = useState<MapTool>();
  const stopTool = useCallback(() => setTool(undefined), []);
  const isSelecting = tool === 'select';
  const fit = useCallback(
    () =>
      fitEverything(map, plane, { zones, fences, objects: [trackables.current?.objects, providers.current?.objects] }),
    [map, plane, zones, fences],
  );
  const isWall = isWallFromUrl();
  const isStack = isStackFromUrl() && plane.kind === 'earth';
  // The wall view is always live.
  const isPast = pastFromUrl() !== undefined && !isWall;
  // A search finds the current positions.
  const isFinding = tool === 'find' && !isWall && !isPast;
  useRoomForPanel((selection !== undefined && !isWall) || isFinding, isPast);
  const goTo = useGoTo({ trackables, providers, fences: allFences, zones: allZones, anchors, zoneOf });
  const goToStoredPosition = useGoToStoredPosition();
  const isWaiting = shownFences === undefined || storeOf('zones').state.value === 'waiting';
  const firstFit = useInitialView(props.hasView, () =>
    isWaiting ? undefined : (selection !== undefined && goTo(selection)) || fit(),
  );
  const isFollowed = isFollowing && isMovable(selection);
  useFollow(selection, { isFollowed, hasEscape: tool === undefined && !isWall && !isStack });
  useSelectOnClick(tool !== 'measure' && !isFinding, { trackables, providers, onSelect, isSelecting });
  useEffect(() => clearSelected, [plane]);

  const moved = (kind: 'trackables' | 'providers', { objects }: MovingLayerState): void => {
    labels.current?.redraw();
    stack.current?.redraw();
    firstFit();
    const place = isFollowing && selection?.kind === kind ? objects.positionOf(selection.id) : undefined;
    // Centering would interrupt a zoom animation.
    if (place !== undefined && !map.getView().getAnimating()) map.getView().setCenter(place);
  };
  const show = (found: MapSelection): void => {
    onSelect(found);
    const needed = layerOf(found);
    if (!layers.has(needed)) layersToUrl(new Set([...layers, needed]));
    if (!goTo(found)) void goToStoredPosition(found);
  };
  return (
    <>
      <LiveLayers
        {...{ layers, floor, selection, isFollowing, zones, fences, anchors, zoneOf, labels, isPast }}
        {...movables}
        onMoved={moved}
      />
      {isWall ? (
        <WallView layers={layers} fences={fences} {...movables} />
      ) : isStack ? (
        <FloorStack zones={siteZones} fences={allFences} {...movables} holder={stack} />
      ) : (
        <Toolbar
          {...{ plane, floor, layers, tool, onPlane }}
          {...movables}
          floors={floorsOf([...siteZones, ...allFences])}
          onTool={setTool}
          onFound={show}
          onFit={fit}
        />
      )}
      {(isSelecting || selectedEntities.value.size > 0) && !isWall && (
        <MultiSelectTool {...{ layers, floor, isSelecting, trackables, providers }} onClose={stopTool} />
      )}
      {isFinding && <FindTool floor={floor} onFound={show} onClose={stopTool} />}
      {hasHistory() && !isWall && (
        <HistoryOnMap {...{ layers, floor, selection, isFollowing, isPast }} {...movables} onMoved={moved} />
      )}
      {layers.has('filter') && isMovable(selection) && !isPast && !isWall && (
        <FilterLayer key={`${selection.kind} ${selection.id}`} selection={selection} />
      )}
      {layers.has('gates') && !isPast && <GateCounts fences={fences} />}
      {isFollowed && <FollowChip selection={selection} />}
      {selection !== undefined && !isWall && (
        <SelectionPanel
          key={`${selection.kind} ${selection.id}`}
          selection={selection}
          isFollowed={isFollowing}
          onFollow={follow}
          onGoTo={() => goTo(selection) || goToStoredPosition(selection)}
          onLocalView={(zone) => onPlane(zone.id)}
        />
      )}
    </>
  );
}

/**
 * Selects the nearest object on a click: moving objects before fences, fences before zones. A click on a cluster zooms in. With
 * Shift, or in multiple selection, a click toggles the object.
 */
function useSelectOnClick(
  isOn: boolean,
  {
    trackables,
    providers,
    onSelect,
    isSelecting,
  }: MovingLayers & { readonly onSelect: (selection: MapSelection | undefined) => void; readonly isSelecting: boolean },
): void {
  const { map } = useMap();
  // Runs before the first paint, because the user may click at once.
  useLayoutEffect(() => {
    if (!isOn) return;
    const click = ({ pixel, originalEvent }: MapBrowserEvent): void => {
      const isMany = isSelecting || (originalEvent as { readonly shiftKey?: boolean }).shiftKey === true;
      if (map.forEachFeatureAtPixel(pixel, explainedBy, { hitTolerance: 6 }) !== undefined) return;
      const pick = (found: MapSelection | undefined): void => {
        if (!isMany) onSelect(found);
        else if (found !== undefined) toggleSelected(found);
      };
      for (const { current } of [trackables, providers]) {
        const cluster = clusterAt(current?.screen.clusters ?? [], pixel);
        if (current === undefined || cluster === undefined) continue;
        goIntoCluster(map, extentOf(cluster, current.objects));
        return;
      }
      for (const [kind, { current }] of [['trackables', trackables] as const, ['providers', providers] as const]) {
        const id = current && objectAt(current, pixel);
        if (id === undefined) continue;
        pick({ kind, id });
        return;
      }
      pick(map.forEachFeatureAtPixel(pixel, drawnBy, { hitTolerance: 4 }));
    };
    map.on('singleclick', click);
    return () => {
      map.un('singleclick', click);
    };
  }, [map, isOn, isSelecting, trackables, providers, onSelect]);
}
