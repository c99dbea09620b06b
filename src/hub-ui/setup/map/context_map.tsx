import { signal } from '@preact/signals';
import type { Extent } from 'ol/extent';
import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { Fence } from '../../../model/fence.ts';
import type { Zone } from '../../../model/zone.ts';
import { labelOf } from '../../hub/entity_kinds.ts';
import { isOnFloor } from '../../hub/floors.ts';
import { storeOf, useEntities } from '../../hub/stores.ts';
import { BaseLayer } from '../../map/ground/base_layer.tsx';
import { useInitialView } from '../../map/navigation/go_to.ts';
import { fitEverything } from '../../map/navigation/initial_view.ts';
import type { Plane } from '../../map/plane/plane.ts';
import { AnchorLayer } from '../../map/site/anchor_layer.tsx';
import { FenceLayer, ZoneLayer } from '../../map/site/area_layers.tsx';
import { fenceFeature, zoneFeature } from '../../map/site/features.ts';
import { useFencesInPlane } from '../../map/site/fences_in_plane.ts';
import { PlanLayer } from '../../map/site/plan_layer.tsx';
import { useAnchors } from '../../map/site/use_anchors.ts';
import toolStyles from '../../map/view/map_tools.module.css';
import { ScaleBar, ZoomButtons } from '../../map/view/map_tools.tsx';
import { type ViewState, MapView, useMap } from '../../map/view/map_view.tsx';
import { GoToPlace } from './go_to_position.tsx';

const NONE: readonly Fence[] = [];

/** Zoom levels between the edited entity and the initial view, which also shows its surroundings. */
const ROOM_AROUND = 0.5;

/** Smallest zoom at which a view counts as a chosen location; farther out, the map shows half a continent. */
const PLACE_ZOOM_MIN = 8;

/**
 * Last view of a geographic map. The maps of the setup pages start there, so that changing the tool keeps the location.
 * Undefined until the user has moved to one.
 */
export const lastView = signal<ViewState | undefined>(undefined);

interface ContextMapProps {
  readonly plane: Plane;
  readonly label: string;
  /** Whether the initial view shows all entities instead of the last view. */
  readonly isOverview?: boolean;
  /** Edited zone: the initial view shows it, and the children draw it instead of the layer of zones. */
  readonly zone?: Zone | undefined;
  readonly fence?: Fence | undefined;
  /** Floor to show; undefined for all floors. */
  readonly floor?: number | undefined;
  readonly selected?: {
    readonly zones?: string | undefined;
    readonly fences?: string | undefined;
    readonly anchors?: string | undefined;
  };
  readonly children?: ComponentChildren;
}

/** Map of the site around the edited entity. */
export function ContextMap({ plane, label, children, ...rest }: ContextMapProps) {
  const isEarth = plane.kind === 'earth';
  const remember = (look: ViewState): void => {
    if (isEarth && look.zoom >= PLACE_ZOOM_MIN) lastView.value = look;
  };
  return (
    <MapView plane={plane} label={label} look={isEarth ? lastView.peek() : undefined} onView={remember}>
      <Surroundings {...rest} plane={plane} />
      {children}
    </MapView>
  );
}

/** Whether an entity has this name, ignoring case and surrounding spaces. */
function isNamed(entity: Zone | Fence, name: string): boolean {
  return labelOf(entity).toLowerCase() === name.trim().toLowerCase();
}

function Surroundings({ plane, isOverview = false, zone, fence, floor, selected }: Omit<ContextMapProps, 'label'>) {
  const { map } = useMap();
  const [hasLastView] = useState(() => plane.kind === 'earth' && lastView.peek() !== undefined);
  const allZones = useEntities('zones');
  const fencesInPlane = useFencesInPlane(plane);
  const allFences = fencesInPlane ?? NONE;
  const isWaiting = fencesInPlane === undefined || storeOf('zones').state.value === 'waiting';
  const zones = useMemo(() => {
    const others = [...allZones.values()].filter(
      (other) => other.id !== zone?.id && isOnFloor(floor, other.floor ?? 0),
    );
    return zone === undefined ? others : [...others, zone];
  }, [allZones, zone, floor]);
  const fences = useMemo(
    () => allFences.filter((other) => other.id !== fence?.id && isOnFloor(floor, other.floor)),
    [allFences, fence?.id, floor],
  );
  const { anchors, zoneOf } = useAnchors(floor);
  const fitOwn = (): boolean => {
    const own = { zones: zone === undefined ? [] : [zone], fences: fence === undefined ? [] : [fence], objects: [] };
    if (!fitEverything(map, plane, own)) return false;
    const view = map.getView();
    view.setZoom((view.getZoom() ?? 0) - ROOM_AROUND);
    return true;
  };
  const fit = (): boolean => fitOwn() || fitEverything(map, plane, { zones, fences, objects: [] });
  const fitFirst = (): boolean | undefined => fit() || (isWaiting ? undefined : false);
  const extentNamed = (name: string): Extent | undefined => {
    const zoneNamed = zones.find((each) => isNamed(each, name));
    const fenceNamed = fences.find((each) => isNamed(each, name));
    const feature = zoneNamed ? zoneFeature(zoneNamed, plane) : fenceNamed && fenceFeature(fenceNamed, plane);
    return feature?.getGeometry()?.getExtent();
  };
  useInitialView(false, hasLastView && !isOverview ? () => fitOwn() || true : fitFirst);
  return (
    <>
      <BaseLayer />
      <PlanLayer zones={zones} opacity={0.75} />
      <ZoneLayer zones={zones} selectedId={selected?.zones ?? zone?.id} />
      <FenceLayer fences={fences} selectedId={selected?.fences} />
      <AnchorLayer anchors={anchors} zoneOf={zoneOf} selectedId={selected?.anchors} />
      <div class={toolStyles.side}>
        <ZoomButtons onFit={fit} />
      </div>
      <ScaleBar />
      {plane.kind === 'earth' && <GoToPlace extentNamed={extentNamed} />}
    </>
  );
}
