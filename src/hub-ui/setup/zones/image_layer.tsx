import { boundingExtent, buffer, getHeight, getWidth } from 'ol/extent.js';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { fitExtent } from '../../map/navigation/initial_view.ts';
import type { Position } from '../../map/plane/plane.ts';
import { CanvasLayer } from '../../map/view/canvas_layer.ts';
import toolStyles from '../../map/view/map_tools.module.css';
import { ZoomButtons } from '../../map/view/map_tools.tsx';
import { useMap } from '../../map/view/map_view.tsx';
import { useLayer, Z } from '../../map/view/vector_layer.ts';

/** Floor plan with its size in pixels. */
export interface PlanImage {
  /** Data URL. */
  readonly url: string;
  readonly width: number;
  readonly height: number;
}

/** Layer of an image in its pixel plane: columns to the right, rows down from zero. */
export function ImageLayer({ image: { url } }: { readonly image: PlanImage }) {
  const layer = useMemo(() => {
    const image = new Image();
    const made = new CanvasLayer(
      ({ context, toPixel, pixelRatio }) => {
        if (!image.complete || image.naturalWidth === 0) return;
        const [a, b, c, d, e, f] = toPixel;
        context.save();
        context.setTransform(pixelRatio, 0, 0, pixelRatio, 0, 0);
        context.transform(a, b, c, d, e, f);
        context.scale(1, -1);
        context.imageSmoothingQuality = 'high';
        context.fillStyle = '#fff';
        context.fillRect(0, 0, image.naturalWidth, image.naturalHeight);
        context.drawImage(image, 0, 0);
        context.restore();
      },
      { zIndex: Z.base, isStill: true },
    );
    image.onload = () => made.redraw();
    image.src = url;
    return made;
  }, [url]);
  useLayer(layer);
  return null;
}

/** Extent of points with a margin, or a default extent without points. */
export function extentAround(points: readonly Position[]): readonly number[] {
  if (points.length === 0) return [-5, -5, 55, 35];
  const extent = boundingExtent(points as number[][]);
  return buffer(extent, Math.max(1, 0.1 * Math.max(getWidth(extent), getHeight(extent))));
}

/** Fits an extent as soon as the map has a size, and adds buttons to zoom and to fit it again. */
export function FitExtent({ extent }: { readonly extent: readonly number[] }) {
  const fit = useFitExtent(extent);
  return (
    <div class={toolStyles.side}>
      <ZoomButtons onFit={fit} />
    </div>
  );
}

/** Fits an extent as soon as the map has a size; returns a function that fits it again. */
function useFitExtent(extent: readonly number[]): () => void {
  const { map } = useMap();
  const latest = useRef(extent);
  latest.current = extent;
  const fit = (): boolean => fitExtent(map, [...latest.current]);
  useEffect(() => {
    if (fit()) return;
    map.once('change:size', fit);
    return () => map.un('change:size', fit);
  }, [map]);
  return fit;
}
