import { mapX } from '../plane/plane.ts';

/** Around the equator, in Mercator's meters. */
export const EARTH_WIDTH = mapX(360);

/** Nearer than this the coarse lines of the world would be wrong by more than their width: it has faded away. */
const HIDDEN_ZOOM = 9.5;
/** Zoom at which it begins to fade. */
const FADING_ZOOM = 7;

/** Levels of zoom as OpenLayers counts them: 0 shows the earth on 256 pixels. */
export function zoomOf(resolution: number): number {
  return Math.log2(EARTH_WIDTH / 256 / resolution);
}

/** How much of the world is to be seen, from 0 where it is gone to 1. */
export function worldOpacity(resolution: number): number {
  const share = (HIDDEN_ZOOM - zoomOf(resolution)) / (HIDDEN_ZOOM - FADING_ZOOM);
  return Math.min(1, Math.max(0, share));
}
