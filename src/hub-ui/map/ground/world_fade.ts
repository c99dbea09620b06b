import { mapX } from '../plane/plane.ts';

/** Circumference of the earth at the equator, in Mercator meters. */
export const EARTH_WIDTH = mapX(360);

/** Zoom from which the world is hidden: its coarse lines would be off by more than their width. */
const HIDDEN_ZOOM = 9.5;
/** Zoom at which the world starts to fade. */
const FADING_ZOOM = 7;

/** Zoom level as OpenLayers counts it: at 0, the earth is 256 pixels wide. */
export function zoomOf(resolution: number): number {
  return Math.log2(EARTH_WIDTH / 256 / resolution);
}

/** Opacity of the world, from 0 (hidden) to 1. */
export function worldOpacity(resolution: number): number {
  const share = (HIDDEN_ZOOM - zoomOf(resolution)) / (HIDDEN_ZOOM - FADING_ZOOM);
  return Math.min(1, Math.max(0, share));
}
