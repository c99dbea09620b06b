import type { Footprint } from '../core/fence/fence_index.ts';
import type { Place } from '../core/geo/ecef.ts';

/** The exact tests of a region against a footprint, whose position `place` is. */
export interface Shape {
  touches(footprint: Footprint, place: Place): boolean;
  distanceMetres(footprint: Footprint, place: Place): number;
  depthMetres(footprint: Footprint, place: Place): number;
  destroy(): void;
}
