import Circle from 'ol/geom/Circle.js';
import LineString from 'ol/geom/LineString.js';
import type Polygon from 'ol/geom/Polygon.js';
import Draw from 'ol/interaction/Draw.js';
import Snap from 'ol/interaction/Snap.js';
import VectorSource from 'ol/source/Vector.js';
import CircleStyle from 'ol/style/Circle.js';
import Fill from 'ol/style/Fill.js';
import Stroke from 'ol/style/Stroke.js';
import Style from 'ol/style/Style.js';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { Fence } from '../../../model/fence.ts';
import { useEntities } from '../../hub/stores.ts';
import type { MapPoint } from '../../map/plane/plane.ts';
import { fenceFeature, zoneFeature } from '../../map/site/features.ts';
import { useFencesInPlane } from '../../map/site/fences_in_plane.ts';
import { useMap } from '../../map/view/map_view.tsx';
import { palette } from '../../map/view/palette.ts';

const NONE: readonly Fence[] = [];

const DRAWN_TYPES = { polygon: 'Polygon', circle: 'Circle', line: 'LineString' } as const;

/** Shape that the user has drawn. */
export type DrawnShape =
  | { readonly kind: 'polygon' | 'line'; readonly corners: readonly MapPoint[] }
  | { readonly kind: 'circle'; readonly center: MapPoint; readonly edge: MapPoint };

/** Drawing tool: polygons and lines corner by corner, circles from the center. Escape removes the last corner. */
export function DrawArea({
  kind,
  onDrawn,
}: {
  readonly kind: DrawnShape['kind'];
  readonly onDrawn: (shape: DrawnShape) => void;
}) {
  const { map } = useMap();
  const { selected, halo } = palette();
  const onDrawnRef = useRef(onDrawn);
  onDrawnRef.current = onDrawn;
  // Before paint, so that the tool works as soon as it is visible.
  useLayoutEffect(() => {
    const style = [
      new Style({ stroke: new Stroke({ color: halo, width: 6 }), fill: new Fill({ color: `${selected}22` }) }),
      new Style({
        stroke: new Stroke({ color: selected, width: 2.5 }),
        image: new CircleStyle({ radius: 5, fill: new Fill({ color: selected }) }),
      }),
    ];
    const draw = new Draw({ source: new VectorSource(), type: DRAWN_TYPES[kind], style });
    draw.on('drawend', ({ feature }) => {
      const geometry = feature.getGeometry();
      if (geometry instanceof Circle) {
        const [[x = 0, y = 0], [edgeX = 0, edgeY = 0]] = [geometry.getCenter(), geometry.getLastCoordinate()];
        onDrawnRef.current({ kind: 'circle', center: [x, y], edge: [edgeX, edgeY] });
        return;
      }
      if (geometry instanceof LineString) {
        const corners = geometry.getCoordinates().map(([x = 0, y = 0]): MapPoint => [x, y]);
        onDrawnRef.current({ kind: 'line', corners });
        return;
      }
      const ring = (geometry as Polygon).getCoordinates()[0] ?? [];
      onDrawnRef.current({ kind: 'polygon', corners: ring.slice(0, -1).map(([x = 0, y = 0]) => [x, y]) });
    });
    const keys = (event: KeyboardEvent): void => {
      if (event.key === 'Escape') draw.removeLastPoint();
    };
    map.addInteraction(draw);
    addEventListener('keydown', keys);
    return () => {
      removeEventListener('keydown', keys);
      map.removeInteraction(draw);
    };
  }, [map, kind, selected, halo]);
  return null;
}

/** Snaps drawing and dragging to corners and edges of zones and other fences while mounted. */
export function SnapToSite({
  exceptFence,
  exceptZone,
}: {
  readonly exceptFence?: string;
  readonly exceptZone?: string;
}) {
  const { map, plane } = useMap();
  const zones = useEntities('zones');
  const fences = useFencesInPlane(plane) ?? NONE;
  const source = useMemo(() => new VectorSource(), []);
  useEffect(() => {
    source.clear(true);
    source.addFeatures([
      ...[...zones.values()].flatMap((zone) => (zone.id === exceptZone ? [] : (zoneFeature(zone, plane) ?? []))),
      ...fences.flatMap((fence) => (fence.id === exceptFence ? [] : (fenceFeature(fence, plane) ?? []))),
    ]);
  }, [source, zones, fences, plane, exceptFence, exceptZone]);
  useEffect(() => {
    const snap = new Snap({ source, pixelTolerance: 10 });
    map.addInteraction(snap);
    // OpenLayers offers events to the last interaction first: snapping must stay after tools that are added later.
    const interactions = map.getInteractions();
    const keepLast = (): void => {
      if (interactions.item(interactions.getLength() - 1) === snap) return;
      queueMicrotask(() => {
        if (!interactions.getArray().includes(snap)) return;
        interactions.un('add', keepLast);
        interactions.remove(snap);
        interactions.push(snap);
        interactions.on('add', keepLast);
      });
    };
    interactions.on('add', keepLast);
    return () => {
      interactions.un('add', keepLast);
      map.removeInteraction(snap);
    };
  }, [map, source]);
  return null;
}
