import type MapBrowserEvent from 'ol/MapBrowserEvent.js';
import { useCallback, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Fence } from '../../model/fence.ts';
import { IconButton } from '../controls/button.tsx';
import { toast } from '../controls/toasts.tsx';
import { labelOf } from '../hub/kinds.ts';
import { useEntities } from '../hub/stores.ts';
import { setUrlParams } from '../shell/url_state.ts';
import { AnchorLayer } from './anchor_layer.tsx';
import { clusterAt } from './clusters.ts';
import { useFencesInPlane } from './fences_in_plane.ts';
import { fitEverything } from './first_look.ts';
import { type Movers, useFirstLook, useGoTo, useGoWhereItIs, useRoomForPanel } from './go_to.ts';
import { BaseLayer } from './grid_layer.tsx';
import { useColliding, useGlows } from './happenings.ts';
import { LayerMenu } from './layer_menu.tsx';
import { FloorSwitch, ScaleBar, ZoomButtons } from './map_tools.tsx';
import { type LayerName, layerOf, layersToUrl, type Selection } from './map_url.ts';
import { useMap } from './map_view.tsx';
import { Measure } from './measure.tsx';
import { type Moving, MovingLayer, objectAt, useSeen } from './moving_layer.tsx';
import { PlanLayer } from './plan_layer.tsx';
import type { Plane } from './plane.ts';
import { SearchBox } from './search_box.tsx';
import { SelectionPanel } from './selection_panel.tsx';
import { drawnBy } from './shapes.ts';
import { FenceLayer, ZoneLayer } from './site_layers.tsx';
import { useAnchors } from './use_anchors.ts';

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
  const shownFences = useFencesInPlane(plane);
  const allFences = shownFences ?? NO_FENCES;
  const zones = useMemo(() => [...allZones.values()].filter((zone) => isOn(floor, zone.floor ?? 0)), [allZones, floor]);
  const fences = useMemo(() => allFences.filter((fence) => isOn(floor, fence.floor)), [allFences, floor]);
  const { anchors, zoneOf } = useAnchors(floor);
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
  useRoomForPanel(selection !== undefined);
  const goTo = useGoTo({ trackables, providers, fences: allFences, zones: allZones, anchors, zoneOf });
  const firstFit = useFirstLook(
    props.hasLook,
    () => shownFences !== undefined && ((selection !== undefined && goTo(selection)) || fit()),
  );
  useClicks(!isMeasuring, { trackables, providers, onSelect });

  const goWhereItIs = useGoWhereItIs();
  const isSelected = (kind: Selection['kind']): string | undefined =>
    selection?.kind === kind ? selection.id : undefined;
  const moved = (kind: 'trackables' | 'providers', { objects }: Moving): void => {
    firstFit();
    const id = isSelected(kind);
    const index = isFollowing && id !== undefined ? objects.indexOf(id) : undefined;
    // It would end a zoom that is under way.
    if (index === undefined || map.getView().getAnimating()) return;
    map.getView().setCenter([objects.x[index] ?? 0, objects.y[index] ?? 0]);
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
      {layers.has('anchors') && (
        <AnchorLayer anchors={anchors} zoneOf={zoneOf} selectedId={isSelected('anchors')} labels={look.labels} />
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
            const needed = layerOf(found);
            if (!layers.has(needed)) layersToUrl(new Set([...layers, needed]));
            if (!goTo(found)) void goWhereItIs(found);
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
          onGoTo={() => goTo(selection) || goWhereItIs(selection)}
          onLocalView={(zone) => onPlane(zone.id)}
        />
      )}
    </>
  );
}

const NONE: ReadonlySet<string> = new Set();
const NO_FENCES: readonly Fence[] = [];

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

/** The earth, or the meters of one of the zones that have their own. */
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
          {labelOf(zone)}, in meters
        </option>
      ))}
    </select>
  );
}

/** A click opens a cluster, or selects what is nearest: what moves goes before fences, these before zones. */
function useClicks(
  isOn: boolean,
  { trackables, providers, onSelect }: Movers & { readonly onSelect: SiteProps['onSelect'] },
): void {
  const { map } = useMap();
  // Before the map is seen: whoever sees it may click at once.
  useLayoutEffect(() => {
    if (!isOn) return;
    const click = ({ pixel, coordinate }: MapBrowserEvent): void => {
      const clusters = [trackables, providers].flatMap(({ current }) => current?.screen.clusters ?? []);
      if (clusterAt(clusters, pixel) !== undefined) {
        const view = map.getView();
        view.animate({ center: coordinate, zoom: (view.getZoom() ?? 0) + 2, duration: 250 });
        return;
      }
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
