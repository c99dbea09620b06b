/** The longitude between -180 and 180, both included, of one that may be any number of turns off. */
// hot
export function wrapLongitude(lon: number): number {
  return lon >= -180 && lon <= 180 ? lon : lon - 360 * Math.floor((lon + 180) / 360);
}

/**
 * Degrees to take from the step in longitude of an edge, so that it goes the way that is meant: an edge longer than 180°
 * crosses the antimeridian, unless it goes around the world, along a parallel from a meridian to the same one.
 */
export function edgeTurn(lonStep: number, isAlongParallel: boolean): number {
  if (Math.abs(lonStep) <= 180 || (lonStep % 360 === 0 && isAlongParallel)) return 0;
  return 360 * Math.round(lonStep / 360);
}

/** A difference of longitudes, the shorter way around: from -180 to below 180. */
export function shorterTurn(degrees: number): number {
  return degrees - 360 * Math.round(degrees / 360);
}
