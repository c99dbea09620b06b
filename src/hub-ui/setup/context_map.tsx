import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { Fence } from '../../model/fence.ts';
import type { Zone } from '../../model/zone.ts';
import { useEntities } from '../hub/stores.ts';
import { AnchorLayer } from '../map/anchor_layer.tsx';
import { useFencesInPlane } from '../map/fences_in_plane.ts';
import { fitEverything } from '../map/first_look.ts';
import { useFirstLook } from '../map/go_to.ts';
import { BaseLayer } from '../map/grid_layer.tsx';
import { ScaleBar, ZoomButtons } from '../map/map_tools.tsx';
import { MapView, useMap } from '../map/map_view.tsx';
import { PlanLayer } from '../map/plan_layer.tsx';
import { type Plane, toMap } from '../map/plane.ts';
import { FenceLayer, ZoneLayer } from '../map/site_layers.tsx';
import { useAnchors } from '../map/use_anchors.ts';

const NONE: readonly Fence[] = [];

/** Levels of zoom by which one looks at more than what is edited: where it is can be seen by what is around it. */
const ROOM_AROUND = 0.5;

interface ContextMapProps {
  readonly plane: Plane;
  readonly label: string;
  /** What is being edited: it is looked at first, and shown by the children instead of as one among others. */
  readonly zone?: Zone | undefined;
  readonly fence?: Fence | undefined;
  /** What is on other floors is left out; everything is shown when undefined. */
  readonly floor?: number | undefined;
  readonly selected?: {
    readonly zones?: string | undefined;
    readonly fences?: string | undefined;
    readonly anchors?: string | undefined;
  };
  readonly children?: ComponentChildren;
}

/** A map with the site around what is being edited. */
export function ContextMap({ plane, label, children, ...rest }: ContextMapProps) {
  return (
    <MapView plane={plane} label={label}>
      <Surroundings {...rest} plane={plane} />
      {children}
    </MapView>
  );
}

function Surroundings({ plane, zone, fence, floor, selected }: Omit<ContextMapProps, 'label'>) {
  const { map } = useMap();
  const allZones = useEntities('zones');
  const allFences = useFencesInPlane(plane) ?? NONE;
  const zones = useMemo(() => {
    const others = [...allZones.values()].filter((other) => other.id !== zone?.id && isOn(floor, other.floor ?? 0));
    return zone === undefined ? others : [...others, zone];
  }, [allZones, zone, floor]);
  const fences = useMemo(
    () => allFences.filter((other) => other.id !== fence?.id && isOn(floor, other.floor)),
    [allFences, fence?.id, floor],
  );
  const { anchors, zoneOf } = useAnchors(floor);
  const fit = (): boolean => {
    const own = { zones: zone === undefined ? [] : [zone], fences: fence === undefined ? [] : [fence], objects: [] };
    if (!fitEverything(map, plane, own)) return fitEverything(map, plane, { zones, fences, objects: [] });
    const view = map.getView();
    view.setZoom((view.getZoom() ?? 0) - ROOM_AROUND);
    return true;
  };
  useFirstLook(false, fit);
  return (
    <>
      <BaseLayer />
      <PlanLayer zones={zones} opacity={0.75} />
      <ZoneLayer zones={zones} selectedId={selected?.zones ?? zone?.id} />
      <FenceLayer fences={fences} selectedId={selected?.fences} />
      <AnchorLayer anchors={anchors} zoneOf={zoneOf} selectedId={selected?.anchors} />
      <div class="map-side">
        <ZoomButtons onFit={fit} />
      </div>
      <ScaleBar />
      {plane.kind === 'earth' && <GoTo />}
    </>
  );
}

function isOn(shown: number | undefined, floor: number | null | undefined): boolean {
  return shown === undefined || floor == null || floor === shown;
}

/** Goes to a longitude and latitude: on a map without anything on it, there is no other way to find a place. */
function GoTo() {
  const { map, plane } = useMap();
  const [text, setText] = useState('');
  const go = (event: Event): void => {
    event.preventDefault();
    const [longitude, latitude] = text.split(/[,;\s]+/).map(Number);
    if (!Number.isFinite(longitude) || !Number.isFinite(latitude)) return;
    map.getView().animate({ center: toMap(plane, [Number(longitude), Number(latitude)]), zoom: 19, duration: 250 });
  };
  return (
    <form class="setup-goto" onSubmit={go}>
      <input
        class="input"
        aria-label="Go to longitude, latitude"
        placeholder="Go to longitude, latitude"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </form>
  );
}
