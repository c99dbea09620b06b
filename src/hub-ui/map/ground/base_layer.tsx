import { useEffect } from 'preact/hooks';
import { CanvasLayer } from '../canvas_layer.ts';
import { useMap } from '../map_view.tsx';
import { palette } from '../palette.ts';
import { Z } from '../vector_layer.ts';
import { drawGrid } from './grid.ts';
import { worldOpacity, zoomOf } from './world_fade.ts';

/**
 * What lies below everything: the world from far away, a grid in meters where one is near; map tiles above these where
 * the configuration names some.
 */
export function BaseLayer() {
  useGrid();
  useWorld();
  return null;
}

/** A plain grid, which the world takes the place of. */
function useGrid(): void {
  const { map, plane } = useMap();
  const colors = palette();
  useEffect(() => {
    const layer = new CanvasLayer((frame) => {
      frame.context.globalAlpha = plane.kind === 'earth' ? 1 - worldOpacity(frame.resolution) : 1;
      if (frame.context.globalAlpha > 0) drawGrid(frame, plane, colors);
      frame.context.globalAlpha = 1;
    }, Z.base);
    map.addLayer(layer);
    return () => {
      map.removeLayer(layer);
    };
  }, [map, plane, colors]);
}

type Pictures = typeof import('./world_pictures.ts');

let pictures: Pictures | undefined;

/** The earth with its coasts, borders and cities. Neither code nor data is fetched before so much of it is in sight. */
function useWorld(): void {
  const { map, plane, ground } = useMap();
  const colors = palette();
  const isSettled = ground.isSettled.value;
  useEffect(() => {
    if (plane.kind !== 'earth' || !isSettled) return;
    const layer = new CanvasLayer((frame) => {
      const isInSight = worldOpacity(frame.resolution) > 0;
      if (isInSight && pictures === undefined) void loadPictures().then(redraw, () => undefined);
      const picture = isInSight ? pictures?.pictureAt(zoomOf(frame.resolution), redraw) : undefined;
      picture?.draw(frame, colors);
      ground.isWorld.value = picture !== undefined;
    }, Z.world);
    const redraw = (): void => layer.redraw();
    map.addLayer(layer);
    return () => {
      map.removeLayer(layer);
      ground.isWorld.value = false;
    };
  }, [map, plane, ground, colors, isSettled]);
}

/** After the first paint: the page is there before its background. */
async function loadPictures(): Promise<void> {
  await new Promise((painted) => requestAnimationFrame(() => setTimeout(painted)));
  pictures = await import('./world_pictures.ts');
}
