import Feature from 'ol/Feature.js';
import { boundingExtent, containsExtent, getWidth } from 'ol/extent.js';
import Point from 'ol/geom/Point.js';
import Polygon from 'ol/geom/Polygon.js';
import Pointer from 'ol/interaction/Pointer.js';
import type MapBrowserEvent from 'ol/MapBrowserEvent.js';
import CircleStyle from 'ol/style/Circle.js';
import Fill from 'ol/style/Fill.js';
import RegularShape from 'ol/style/RegularShape.js';
import Stroke from 'ol/style/Stroke.js';
import Style, { type StyleFunction } from 'ol/style/Style.js';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { fitExtent } from '../../map/navigation/initial_view.ts';
import { apply, concat, type Matrix } from '../../map/plane/georeference.ts';
import type { MapPoint } from '../../map/plane/plane.ts';
import { drawPlan } from '../../map/site/plan_layer.tsx';
import { CanvasLayer } from '../../map/view/canvas_layer.ts';
import { useMap } from '../../map/view/map_view.tsx';
import { palette } from '../../map/view/palette.ts';
import { useLayer, useVectorLayer, Z } from '../../map/view/vector_layer.ts';
import type { PlanImage } from './image_layer.tsx';
import { cornersOf, moveBy, turnAround, UNMOVED } from './plan_move.ts';

/** The map stays visible through a plan that is being placed. */
const OPACITY = 0.5;
const HIT_PIXELS = 12;
/** Distance of the handle that turns the plan from its top, as a share of the plan's height. */
const STALK = 0.12;
/** A plan that fills less of the map's width than this is too small for its handles. */
const WIDTH_MIN_SHARE = 0.1;

type Handle = 'move' | 'scale' | 'turn';

const CURSORS: Readonly<Record<Handle, string>> = { move: 'move', scale: 'nesw-resize', turn: 'grab' };

interface PlanByHandProps {
  readonly image: PlanImage;
  /** From pixels of the image to the map. */
  readonly placement: Matrix;
  /** Called with a movement in map coordinates, at the end of a drag. */
  readonly onMove: (movement: Matrix) => void;
  /** Whether the handles are visible. */
  readonly hasHandles: boolean;
}

/**
 * A floor plan, half transparent, that the user moves by its area, scales by its corners, and turns by the handle above its
 * top. Corners and handle scale and turn around its center.
 */
export function PlanByHand({ image, placement, onMove, hasHandles }: PlanByHandProps) {
  const { map } = useMap();
  const [movement, setMovement] = useState<Matrix>(UNMOVED);
  const matrix = useMemo(() => concat(movement, placement), [movement, placement]);
  const shape = useMemo(() => shapeOf(matrix, image), [matrix, image]);
  usePlanImageLayer(image.url, matrix);
  const style = usePlanStyle();
  useVectorLayer(
    useMemo(() => featuresOf(shape, hasHandles), [shape, hasHandles]),
    style,
    Z.edit,
  );
  const latest = useRef({ shape, onMove });
  latest.current = { shape, onMove };
  // A plan that is out of sight cannot be moved.
  useEffect(() => {
    const extent = boundingExtent(latest.current.shape.corners);
    const visible = map.getView().calculateExtent();
    if (!containsExtent(visible, extent) || getWidth(extent) < WIDTH_MIN_SHARE * getWidth(visible)) {
      fitExtent(map, extent);
    }
  }, [map, image.url]);
  useLayoutEffect(() => {
    if (!hasHandles) return;
    const setCursor = (cursor: string): void => {
      const viewport = map.getViewport();
      if (viewport !== undefined) viewport.style.cursor = cursor;
    };
    let drag: { readonly handle: Handle; readonly from: MapPoint; readonly center: MapPoint } | undefined;
    let dragged: Matrix = UNMOVED;
    const handleAt = ({ pixel, coordinate }: MapBrowserEvent): Handle | undefined => {
      const { corners, turn } = latest.current.shape;
      const isNear = (point: MapPoint): boolean => {
        const [x = 0, y = 0] = map.getPixelFromCoordinate(point) ?? [];
        return Math.hypot(x - (pixel[0] ?? 0), y - (pixel[1] ?? 0)) <= HIT_PIXELS;
      };
      if (isNear(turn)) return 'turn';
      if (corners.some(isNear)) return 'scale';
      return new Polygon([corners]).intersectsCoordinate(coordinate) ? 'move' : undefined;
    };
    const pointer = new Pointer({
      handleDownEvent: (event) => {
        const handle = handleAt(event);
        if (handle === undefined) return false;
        drag = { handle, from: pointOf(event), center: latest.current.shape.center };
        return true;
      },
      handleDragEvent: (event) => {
        if (drag === undefined) return;
        dragged = movementOf(drag, pointOf(event));
        setMovement(dragged);
      },
      handleUpEvent: () => {
        setMovement(UNMOVED);
        if (dragged !== UNMOVED) latest.current.onMove(dragged);
        dragged = UNMOVED;
        drag = undefined;
        return false;
      },
      handleMoveEvent: (event) => {
        const handle = handleAt(event);
        setCursor(handle === undefined ? '' : CURSORS[handle]);
      },
    });
    map.addInteraction(pointer);
    return () => {
      map.removeInteraction(pointer);
      setCursor('');
    };
  }, [map, hasHandles]);
  return null;
}

function pointOf({ coordinate: [x = 0, y = 0] }: MapBrowserEvent): MapPoint {
  return [x, y];
}

function movementOf(
  { handle, from, center }: { readonly handle: Handle; readonly from: MapPoint; readonly center: MapPoint },
  to: MapPoint,
): Matrix {
  if (handle === 'move') return moveBy([to[0] - from[0], to[1] - from[1]]);
  const [before, after] = [from, to].map(([x, y]) => [x - center[0], y - center[1]] as const) as [MapPoint, MapPoint];
  if (handle === 'turn') {
    return turnAround(center, { angle: Math.atan2(after[1], after[0]) - Math.atan2(before[1], before[0]) });
  }
  const factor = Math.hypot(...after) / Math.hypot(...before);
  return factor > 0 ? turnAround(center, { factor }) : UNMOVED;
}

interface PlanShape {
  readonly corners: MapPoint[];
  readonly center: MapPoint;
  readonly top: MapPoint;
  readonly turn: MapPoint;
}

function shapeOf(matrix: Matrix, image: PlanImage): PlanShape {
  const middle = image.width / 2;
  return {
    corners: cornersOf(image).map((corner) => apply(matrix, corner)),
    center: apply(matrix, [middle, image.height / 2]),
    top: apply(matrix, [middle, 0]),
    turn: apply(matrix, [middle, -STALK * image.height]),
  };
}

function featuresOf({ corners, top, turn }: PlanShape, hasHandles: boolean): Feature[] {
  const ring = [...corners, corners[0] ?? [0, 0]];
  const outline = new Feature({ geometry: new Polygon([ring]), is: 'outline' });
  if (!hasHandles) return [outline];
  return [
    outline,
    new Feature({ geometry: new Polygon([[top, turn, top]]), is: 'outline' }),
    ...corners.map((corner) => new Feature({ geometry: new Point([...corner]), is: 'scale' })),
    new Feature({ geometry: new Point(turn), is: 'turn' }),
  ];
}

function usePlanStyle(): StyleFunction {
  const { selected, halo } = palette();
  return useMemo<StyleFunction>(() => {
    const fill = new Fill({ color: selected });
    const stroke = new Stroke({ color: halo, width: 2 });
    const styles: Readonly<Record<string, Style>> = {
      outline: new Style({ stroke: new Stroke({ color: selected, width: 2, lineDash: [6, 4] }) }),
      scale: new Style({ image: new RegularShape({ points: 4, radius: 10, angle: Math.PI / 4, fill, stroke }) }),
      turn: new Style({ image: new CircleStyle({ radius: 9, fill, stroke }) }),
    };
    return (feature) => styles[String(feature.get('is'))];
  }, [selected, halo]);
}

/** Shows an image half transparent, transformed to the map by `matrix`. */
function usePlanImageLayer(url: string, matrix: Matrix): void {
  const latest = useRef(matrix);
  latest.current = matrix;
  const layer = useMemo(() => {
    const image = new Image();
    const made = new CanvasLayer((frame) => drawPlan(frame, { image, matrix: latest.current }, OPACITY), {
      zIndex: Z.heat,
    });
    image.onload = () => made.redraw();
    image.src = url;
    return made;
  }, [url]);
  useLayer(layer);
  useEffect(() => layer.redrawSoon(), [layer, matrix]);
}
