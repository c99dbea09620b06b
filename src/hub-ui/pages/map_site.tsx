import type MapBrowserEvent from 'ol/MapBrowserEvent.js';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { labelOf } from '../hub/kinds.ts';
import { storeOf, useEntities } from '../hub/stores.ts';
import { useFencesInPlane } from '../map/fences_in_plane.ts';
import { fitEverything, fitExtent } from '../map/first_look.ts';
import { BaseLayer } from '../map/grid_layer.tsx';
import { useColliding, useGlows } from '../map/happenings.ts';
import { LayerMenu } from '../map/layer_menu.tsx';
import { FloorSwitch, ScaleBar, ZoomButtons } from '../map/map_tools.tsx';
import { type LayerName, layersToUrl, type Selection } from '../map/map_url.ts';
import { useMap } from '../map/map_view.tsx';
import { Measure } from '../map/measure.tsx';
import { type Moving, MovingLayer, objectAt, useSeen } from '../map/moving_layer.tsx';
import { PlanLayer } from '../map/plan_layer.tsx';
import type { Plane } from '../map/plane.ts';
import { SearchBox } from '../map/search_box.tsx';
import { SelectionPanel } from '../map/selection_panel.tsx';
import { drawnBy, fenceFeature, zoneFeature } from '../map/shapes.ts';
import { FenceLayer, ZoneLayer } from '../map/site_layers.tsx';
import { IconButton } from '../parts/button.tsx';
import { toast } from '../parts/toasts.tsx';
import { setUrlParams } from '../shell/url_state.ts';

interface SiteProps {
  readonly plane: Plane;
  readonly floor: number | undefined;
  readonly layers: ReadonlySet<LayerName>;
  readonly selection: Selection | undefined;
  readonly isFollowing: boolean;
  /** Whether the address says where to look. */
  readonly hasLook: boolean;
  readonly onPlane: (zoneId: string | undefined) => void;
  readonly onSelect: (selection: Selection | undefined) => void;
}

/** Everything on the live map, and the tools around it. */
export function Site(props: SiteProps) {
  const { plane, floor, layers, selection, isFollowing, onPlane, onSelect } = props;
  const { map } = useMap();
  const allZones = useEntities('zones');
  const allFences = useFencesInPlane(plane);
  const zones = useMemo(() => [...allZones.values()].filter((zone) => isOn(floor, zone.floor ?? 0)), [allZones, floor]);
  const fences = useMemo(() => allFences.filter((fence) => isOn(floor, fence.floor)), [allFences, floor]);
  const trackables = useRef<Moving>();
  const providers = useRef<Moving>();
  const trackablesSeen = useSeen();
  const providersSeen = useSeen();
  const [isMeasuring, setMeasuring] = useState(false);
  const stopMeasuring = useCallback(() => setMeasuring(false), []);
  const colliding = useColliding();
  const glows = useGlows();
  const fit = useCallback(
    () =>
      fitEverything(map, plane, { zones, fences, objects: [trackables.current?.objects, providers.current?.objects] }),
    [map, plane, zones, fences],
  );
  const firstFit = useFirstLook(props, fit);
  const goTo = useGoTo(plane, { trackables, providers });
  useClicks(!isMeasuring, { trackables, providers, onSelect });

  const isSelected = (kind: Selection['kind']): string | undefined =>
    selection?.kind === kind ? selection.id : undefined;
  const moved = (kind: 'trackables' | 'providers', { objects }: Moving): void => {
    firstFit();
    const id = isSelected(kind);
    const index = isFollowing && id !== undefined ? objects.indexOf(id) : undefined;
    if (index !== undefined) map.getView().setCenter([objects.x[index] ?? 0, objects.y[index] ?? 0]);
  };
  const look = {
    labels: layers.has('labels'),
    tails: layers.has('tails'),
    accuracy: layers.has('accuracy'),
    clusters: layers.has('clusters'),
    floor,
  };
  return (
    <>
      <BaseLayer />
      {layers.has('plans') && <PlanLayer zones={zones} />}
      {layers.has('zones') && <ZoneLayer zones={zones} selectedId={isSelected('zones')} labels={look.labels} />}
      {layers.has('fences') && (
        <FenceLayer fences={fences} selectedId={isSelected('fences')} glows={glows} labels={look.labels} />
      )}
      {layers.has('providers') && (
        <MovingLayer
          {...look}
          symbol="provider"
          selectedId={isSelected('providers')}
          colliding={NONE}
          holder={providers}
          seen={providersSeen}
          onMoved={(moving) => moved('providers', moving)}
          onRefused={refused}
        />
      )}
      {layers.has('trackables') && (
        <MovingLayer
          {...look}
          symbol="trackable"
          selectedId={isSelected('trackables')}
          colliding={colliding}
          holder={trackables}
          seen={trackablesSeen}
          onMoved={(moving) => moved('trackables', moving)}
          onRefused={refused}
        />
      )}
      <div class="map-top">
        <SearchBox
          onFound={(found) => {
            onSelect(found);
            goTo(found);
          }}
        />
        <div class="map-buttons map-bar">
          <PlaneSelect plane={plane} onPlane={onPlane} />
          <LayerMenu layers={layers} onChange={layersToUrl} />
          <IconButton
            icon="ruler"
            label="Measure"
            aria-pressed={isMeasuring}
            onClick={() => setMeasuring(!isMeasuring)}
          />
        </div>
      </div>
      {isMeasuring && <Measure onClose={stopMeasuring} />}
      <div class="map-side">
        <FloorSwitch
          floors={floorsOf([...allZones.values(), ...allFences])}
          floor={floor}
          onChange={(next) => setUrlParams({ floor: next }, { replace: false })}
        />
        <ZoomButtons onFit={fit} />
      </div>
      <ScaleBar>
        <span role="status" class="map-counts">
          {countText(trackablesSeen.value, 'trackable')}
          {layers.has('providers') && ` · ${countText(providersSeen.value, 'provider')}`}
        </span>
      </ScaleBar>
      {selection !== undefined && (
        <SelectionPanel
          key={`${selection.kind} ${selection.id}`}
          selection={selection}
          isFollowed={isFollowing}
          onFollow={(on) => setUrlParams({ follow: on ? 1 : undefined })}
          onGoTo={() => goTo(selection)}
          onLocalView={(zone) => onPlane(zone.id)}
        />
      )}
    </>
  );
}

const NONE: ReadonlySet<string> = new Set();

function refused(description: string): void {
  toast(description, 'danger');
}

/** Zones without a floor are on floor 0, fences without one are on all. */
function isOn(shown: number | undefined, floor: number | null | undefined): boolean {
  return shown === undefined || floor == null || floor === shown;
}

function floorsOf(entities: readonly { readonly floor?: number | null }[]): number[] {
  return [...new Set(entities.flatMap(({ floor }) => floor ?? []))];
}

function countText({ seen, stale }: { readonly seen: number; readonly stale: number }, name: string): string {
  const things = `${seen} ${name}${seen === 1 ? '' : 's'}`;
  return stale === 0 ? things : `${things}, ${stale} silent`;
}

/** The earth, or the metres of one of the zones that have their own. */
function PlaneSelect({ plane, onPlane }: Pick<SiteProps, 'plane' | 'onPlane'>) {
  const zones = [...useEntities('zones').values()].filter((zone) => zone.ground_control_points != null);
  if (zones.length === 0) return null;
  return (
    <select
      class="input map-plane"
      aria-label="View"
      value={plane.id}
      onChange={(event) => onPlane(event.currentTarget.value === 'earth' ? undefined : event.currentTarget.value)}
    >
      <option value="earth">Geographic</option>
      {zones.map((zone) => (
        <option key={zone.id} value={zone.id}>
          {labelOf(zone)}, in metres
        </option>
      ))}
    </select>
  );
}

/** Shows everything once, as soon as there is something, unless the address says where to look. */
function useFirstLook({ hasLook, plane }: SiteProps, fit: () => boolean): () => void {
  const { map } = useMap();
  const looked = useRef(hasLook ? plane.id : undefined);
  const first = useCallback(() => {
    if (looked.current !== plane.id && fit()) looked.current = plane.id;
  }, [plane, fit]);
  useEffect(() => {
    first();
    map.on('change:size', first);
    return () => {
      map.un('change:size', first);
    };
  }, [map, first]);
  return first;
}

interface Movers {
  readonly trackables: { readonly current: Moving | undefined };
  readonly providers: { readonly current: Moving | undefined };
}

/** Moves the map to an entity. */
function useGoTo(plane: Plane, movers: Movers): (selection: Selection) => void {
  const { map } = useMap();
  return ({ kind, id }) => {
    if (kind === 'trackables' || kind === 'providers') {
      const objects = movers[kind].current?.objects;
      const index = objects?.indexOf(id);
      if (objects === undefined || index === undefined) return;
      const view = map.getView();
      const resolution = Math.min(view.getResolution() ?? 1, 0.15);
      view.animate({ center: [objects.x[index] ?? 0, objects.y[index] ?? 0], resolution, duration: 250 });
      return;
    }
    const feature = featureOf({ kind, id }, plane);
    const extent = feature?.getGeometry()?.getExtent();
    if (extent !== undefined) fitExtent(map, extent);
  };
}

function featureOf({ kind, id }: Selection, plane: Plane) {
  if (kind === 'zones') {
    const zone = storeOf('zones').items.value.get(id);
    return zone && zoneFeature(zone, plane);
  }
  const fence = storeOf('fences').items.value.get(id);
  return fence && fenceFeature(fence, plane);
}

/** A click selects what is nearest: what moves goes before fences, these before zones. */
function useClicks(
  isOn: boolean,
  { trackables, providers, onSelect }: Movers & { readonly onSelect: SiteProps['onSelect'] },
): void {
  const { map } = useMap();
  useEffect(() => {
    if (!isOn) return;
    const click = ({ pixel }: MapBrowserEvent): void => {
      for (const [kind, { current }] of [['trackables', trackables] as const, ['providers', providers] as const]) {
        const id = current && objectAt(current, pixel);
        if (id === undefined) continue;
        onSelect({ kind, id });
        return;
      }
      onSelect(map.forEachFeatureAtPixel(pixel, drawnBy, { hitTolerance: 4 }));
    };
    map.on('singleclick', click);
    return () => {
      map.un('singleclick', click);
    };
  }, [map, isOn, trackables, providers, onSelect]);
}
