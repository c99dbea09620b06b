import { useMemo } from 'preact/hooks';
import type { Zone } from '../../../model/zone.ts';
import { floorPlanOf, georeferencePlan, type Matrix } from '../plane/georeference.ts';
import { CanvasLayer, type CanvasFrame } from '../view/canvas_layer.ts';
import { useMap } from '../view/map_view.tsx';
import { useLayer, Z } from '../view/vector_layer.ts';

interface PlacedPlan {
  readonly image: HTMLImageElement;
  /** From pixels to map coordinates. */
  readonly matrix: Matrix;
}

/** Layer of floor plans, transformed by their ground control points. */
export function PlanLayer({ zones, opacity = 0.9 }: { readonly zones: readonly Zone[]; readonly opacity?: number }) {
  const { plane } = useMap();
  const plans = useMemo(() => {
    const placed: PlacedPlan[] = [];
    const layer = new CanvasLayer(
      (frame) => {
        for (const plan of placed) drawPlan(frame, plan, opacity);
      },
      { zIndex: Z.plans, isStill: true },
    );
    for (const zone of zones) {
      const plan = floorPlanOf(zone);
      const placement = plan && georeferencePlan(zone, plan, plane);
      if (plan === undefined || placement === undefined) continue;
      const image = new Image();
      placed.push({ image, matrix: placement.matrix });
      image.onload = () => layer.redraw();
      image.src = plan.image;
    }
    return placed.length === 0 ? undefined : layer;
  }, [plane, zones, opacity]);
  useLayer(plans);
  return null;
}

/** Draws a floor plan; nothing until its image has loaded. */
export function drawPlan(
  { context, toPixel, pixelRatio }: CanvasFrame,
  { image, matrix }: PlacedPlan,
  opacity: number,
): void {
  if (!image.complete || image.naturalWidth === 0) return;
  const [a, b, c, d, e, f] = toPixel;
  context.save();
  context.setTransform(pixelRatio, 0, 0, pixelRatio, 0, 0);
  context.transform(a, b, c, d, e, f);
  context.transform(...matrix);
  context.globalAlpha = opacity;
  context.imageSmoothingQuality = 'high';
  context.drawImage(image, 0, 0);
  context.restore();
}
