import { type Signal, signal } from '@preact/signals';
import { defaults as defaultInteractions } from 'ol/interaction/defaults.js';
import OlMap from 'ol/Map.js';
import View from 'ol/View.js';
import type { ComponentChildren } from 'preact';
import { createContext } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import 'ol/ol.css';
import { EARTH, fromMap, mapX, mapY, type Plane, type Position, projectionOf, toMap } from '../plane/plane.ts';
import styles from './map_view.module.css';

/** View of the map: center on the plane, and zoom. */
export interface ViewState {
  readonly center: Position;
  readonly zoom: number;
}

/** State of the base layer of the map. */
export interface Ground {
  /** Whether the initial view is set; before that, the visible area has no meaning. */
  readonly isSettled: Signal<boolean>;
  /** Whether the world is visible. */
  readonly isWorld: Signal<boolean>;
  /** Attribution of the map tiles, if any. */
  readonly tileCredit: Signal<string>;
}

export interface MapContext {
  readonly map: OlMap;
  readonly plane: Plane;
  readonly ground: Ground;
}

function newGround(): Ground {
  return { isSettled: signal(false), isWorld: signal(false), tileCredit: signal('') };
}

const Context = createContext<MapContext | undefined>(undefined);

/** Returns the map around a component. Components add layers and interactions to `map`, in coordinates of `plane`. */
export function useMap(): MapContext {
  const context = useContext(Context);
  if (context === undefined) throw new Error('Cannot use a map: there is no MapView around this component');
  return context;
}

/**
 * An empty map with panning and zooming. Its children add all content through `useMap`. A change of the plane creates a new
 * map.
 */
export function MapView({
  plane = EARTH,
  look,
  onView,
  label,
  children,
}: {
  readonly plane?: Plane;
  /** Initial view; later changes have no effect. Undefined shows the whole plane. */
  readonly look?: ViewState | undefined;
  readonly onView?: (look: ViewState) => void;
  readonly label: string;
  readonly children?: ComponentChildren;
}) {
  const target = useRef<HTMLDivElement>(null);
  const [context, setContext] = useState<MapContext>();
  const reported = useRef(onView);
  reported.current = onView;
  useEffect(() => {
    if (target.current === null) return;
    const map = new OlMap({
      target: target.current,
      controls: [],
      interactions: defaultInteractions({ altShiftDragRotate: true, pinchRotate: false }),
      view: viewOf(plane, look),
      keyboardEventTarget: target.current,
    });
    map.on('moveend', () => {
      const view = map.getView();
      const center = view.getCenter();
      if (center !== undefined) reported.current?.({ center: fromMap(plane, center), zoom: view.getZoom() ?? 0 });
    });
    setContext({ map, plane, ground: newGround() });
    return () => {
      setContext(undefined);
      map.setTarget();
    };
  }, [plane.id]);
  return (
    <div class={styles.map} data-map>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the arrow keys move the map */}
      <section class={styles.surface} ref={target} tabIndex={0} aria-label={label} />
      {context?.plane.id === plane.id && <Context.Provider value={context}>{children}</Context.Provider>}
    </div>
  );
}

/** Center of an empty map of the earth: most of the land is north of the equator. */
const MOST_OF_THE_LAND = [mapX(10), mapY(24)];

function viewOf(plane: Plane, look: ViewState | undefined): View {
  return new View({
    projection: projectionOf(plane),
    center: look === undefined ? (plane.kind === 'earth' ? MOST_OF_THE_LAND : [0, 0]) : toMap(plane, look.center),
    zoom: look?.zoom ?? 2,
    ...(plane.kind === 'earth'
      ? { minZoom: 1, maxZoom: 26 }
      : { minResolution: 0.001, maxResolution: 500, constrainResolution: false }),
    enableRotation: true,
    showFullExtent: true,
  });
}
