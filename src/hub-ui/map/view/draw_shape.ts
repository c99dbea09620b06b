import Feature from 'ol/Feature.js';
import Polygon from 'ol/geom/Polygon.js';
import PointerInteraction from 'ol/interaction/Pointer.js';
import VectorLayer from 'ol/layer/Vector.js';
import type MapBrowserEvent from 'ol/MapBrowserEvent.js';
import VectorSource from 'ol/source/Vector.js';
import Fill from 'ol/style/Fill.js';
import Stroke from 'ol/style/Stroke.js';
import Style from 'ol/style/Style.js';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useMap } from './map_view.tsx';
import { type Palette, palette } from './palette.ts';
import { Z } from './vector_layer.ts';

export type DrawnShape = 'lasso' | 'rectangle';

/** Pointer movement below this distance is a click. */
const DRAG_MIN_PIXELS = 6;
/** Distance between the points of a lasso. */
const STEP_PIXELS = 4;

/** Draws an area by dragging the pointer, and calls `onDrawn` with it. Without a shape, dragging moves the map. */
export function useDrawnShape(shape: DrawnShape | undefined, onDrawn: (area: Polygon) => void): void {
  const { map } = useMap();
  const report = useRef(onDrawn);
  report.current = onDrawn;
  const colors = palette();
  // Runs before the hint is painted, because the user may draw at once.
  useLayoutEffect(() => {
    if (shape === undefined) return;
    const feature = new Feature<Polygon>();
    const source = new VectorSource({ features: [feature] });
    const layer = new VectorLayer({ source, zIndex: Z.edit, style: drawnAreaStyle(colors) });
    let pixels: number[][] = [];
    const outline = (): Polygon => {
      const [first = [0, 0], last = first] = [pixels[0], pixels.at(-1)];
      const [[left = 0, top = 0], [right = 0, bottom = 0]] = [first, last];
      const corners = [first, [right, top], last, [left, bottom]];
      const points = shape === 'lasso' ? pixels : corners;
      return new Polygon([[...points, points[0] ?? first].map((pixel) => map.getCoordinateFromPixel(pixel))]);
    };
    const isDrag = (): boolean => pixels.some((pixel) => distance(pixel, pixels[0]) >= DRAG_MIN_PIXELS);
    const tool = new PointerInteraction({
      handleDownEvent({ pixel, originalEvent }: MapBrowserEvent) {
        if (originalEvent instanceof PointerEvent && originalEvent.button !== 0) return false;
        pixels = [pixel];
        return true;
      },
      handleDragEvent({ pixel }: MapBrowserEvent) {
        if (distance(pixel, pixels.at(-1)) < STEP_PIXELS) return;
        pixels.push(pixel);
        feature.setGeometry(outline());
      },
      handleUpEvent() {
        if (isDrag()) report.current(outline());
        feature.setGeometry(undefined);
        return false;
      },
    });
    map.addLayer(layer);
    map.addInteraction(tool);
    return () => {
      map.removeInteraction(tool);
      map.removeLayer(layer);
    };
  }, [map, shape, colors]);
}

/** Style of an area that the user has drawn. */
export function drawnAreaStyle({ selected, halo }: Palette): Style[] {
  return [
    new Style({ stroke: new Stroke({ color: halo, width: 5 }), fill: new Fill({ color: `${selected}1f` }) }),
    new Style({ stroke: new Stroke({ color: selected, width: 2, lineDash: [6, 4] }) }),
  ];
}

function distance([x = 0, y = 0]: readonly number[], [otherX = 0, otherY = 0]: readonly number[] = []): number {
  return Math.hypot(x - otherX, y - otherY);
}
