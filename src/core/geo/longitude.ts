/** Returns an arbitrary longitude wrapped to -180 to 180, both included. */
// hot
export function wrapLongitude(lon: number): number {
  return lon >= -180 && lon <= 180 ? lon : lon - 360 * Math.floor((lon + 180) / 360);
}

/**
 * Returns the degrees to subtract from an edge's step in longitude. An edge longer than 180° crosses the antimeridian,
 * unless it goes around the world along a parallel, from a meridian to the same one.
 */
export function edgeTurn(lonStep: number, isAlongParallel: boolean): number {
  if (Math.abs(lonStep) <= 180 || (lonStep % 360 === 0 && isAlongParallel)) return 0;
  return 360 * Math.round(lonStep / 360);
}

/** Returns a difference of longitudes the shorter way around: from -180 to below 180. */
export function shorterTurn(degrees: number): number {
  return degrees - 360 * Math.round(degrees / 360);
}
