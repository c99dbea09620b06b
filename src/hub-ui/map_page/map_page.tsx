import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import pageStyles from '../controls/page.module.css';
import { useTitle } from '../controls/page.tsx';
import typography from '../controls/typography.module.css';
import { setUrlParams, urlParam } from '../controls/url_state.ts';
import { can } from '../hub/access.ts';
import { storeOf, useEntities } from '../hub/stores.ts';
import { t } from '../languages/language.ts';
import { EARTH, type Plane, planeOfZone } from '../map/plane/plane.ts';
import { leaveDroppedPlan, usePlanDrop } from '../map/site/dropped_plan.ts';
import {
  floorFromUrl,
  isWallFromUrl,
  layersFromUrl,
  viewFromUrl,
  viewToUrl,
  select,
  selectionFromUrl,
} from '../map/view/map_url.ts';
import mapStyles from '../map/view/map_view.module.css';
import { MapView } from '../map/view/map_view.tsx';
import { DemoNote } from './demo_note.tsx';
import { FirstRun } from './first_run.tsx';
import { LiveMap } from './live_map.tsx';
import { loadViews, mayReadViews, opened, openView } from './tools/saved_views.ts';

/** Time limit for loading the start view. */
const START_MS = 1_500;

/** Opens the start view unless the URL has parameters. Returns true until that is decided. */
function useStart(): boolean {
  const [isStarting, setStarting] = useState(() => location.search === '' && mayReadViews());
  useEffect(() => {
    if (!isStarting) return;
    const timer = setTimeout(() => setStarting(false), START_MS);
    loadViews().then(
      (found) => {
        const start = found.find(({ is_start: isStart }) => isStart === true);
        if (start !== undefined && location.search === '') openView(start, { replace: true });
        setStarting(false);
      },
      () => setStarting(false),
    );
    return () => clearTimeout(timer);
  }, []);
  return isStarting;
}

/** Page with the live map. The URL has the view, the layers and the selection. */
export function MapPage() {
  useTitle(t('Map'));
  return (
    <div class={`${pageStyles.full} ${mapStyles.page}`}>
      <h1 class={typography.hidden}>{t('Live map')}</h1>
      <DemoNote />
      <MapArea />
    </div>
  );
}

/** The live map with its tools, in the height that the bars above it leave. */
export function MapArea() {
  const zones = useEntities('zones');
  useEntities('providers');
  const trackables = useEntities('trackables');
  const isStarting = useStart();
  const zoneId = urlParam('zone');
  const zone = zoneId === undefined ? undefined : zones.get(zoneId);
  const plane = useMemo(() => (zone === undefined ? EARTH : planeOfZone(zone)), [zone]);
  // Until the zone has loaded, its plane is unknown.
  const isWaiting = zoneId !== undefined && storeOf('zones').state.value === 'waiting';
  // Read once per plane: the browser's back button restores the URL, and with it the view of the previous plane.
  const look = useMemo(() => ({ at: viewFromUrl(), on: plane.id }), [plane.id, opened.value, isStarting]);
  const changePlane = useCallback((id: string | undefined) => {
    setUrlParams({ zone: id, at: undefined, z: undefined, floor: undefined }, { replace: false });
  }, []);
  const hasTrackables = trackables.size > 0 || storeOf('trackables').state.value === 'waiting';
  return (
    <div class={mapStyles.area}>
      {isWaiting || isStarting ? (
        <div class={mapStyles.map} />
      ) : (
        <MapView key={opened.value} plane={plane} look={look.at} onView={viewToUrl} label={t('Live map')}>
          <LiveMap
            plane={plane}
            floor={floorFromUrl()}
            layers={layersFromUrl(hasTrackables)}
            selection={selectionFromUrl()}
            isFollowing={urlParam('follow') !== undefined}
            hasView={look.at !== undefined}
            onPlane={changePlane}
            onSelect={select}
          />
          <PlanDrop plane={plane} />
        </MapView>
      )}
      <FirstRun />
    </div>
  );
}

/** Opens the form of a new zone for a floor plan that the user drops on the map. */
function PlanDrop({ plane }: { readonly plane: Plane }) {
  const [, navigate] = useLocation();
  usePlanDrop(plane.kind === 'earth' && can('CREATE', '/zones') && !isWallFromUrl(), (dropped) => {
    leaveDroppedPlan(dropped);
    navigate('/zones/new?start=plan');
  });
  return null;
}
