// Not exported themselves, so that the engine folds them into hot code.
const EQUATOR = 6_378_137;
const FLATTENING = 1 / 298.257223563;
const E2 = FLATTENING * (2 - FLATTENING);

/** The WGS 84 ellipsoid: radius of the equator in metres, and square of the eccentricity. */
export const EQUATOR_RADIUS = EQUATOR;
export const ECCENTRICITY_SQUARED = E2;

/** The least radius of curvature on the ellipsoid, in metres: along the meridian at the equator. */
export const LEAST_RADIUS = EQUATOR_RADIUS * (1 - ECCENTRICITY_SQUARED);

/** Radius in metres of the sphere that stands for the ellipsoid where that is exact enough: the mean of its axes. */
export const MEAN_RADIUS = 6_371_008.8;

/** Radians per degree. */
export const RADIANS = Math.PI / 180;

/** An upper bound of the degrees of latitude that a metre spans anywhere; by 1/cos(lat) also of longitude. */
export const DEGREES_PER_METRE = 1 / (LEAST_RADIUS * RADIANS);

/** Radius of curvature across the meridian, in metres, at a latitude whose sine is given. */
// hot
export function primeVerticalRadius(sinLat: number): number {
  return EQUATOR / Math.sqrt(1 - E2 * sinLat * sinLat);
}

/** Metres per degree of longitude at a latitude in degrees: along the parallel. */
export function metresPerLongitude(lat: number): number {
  const sin = Math.sin(lat * RADIANS);
  return (Math.cos(lat * RADIANS) * RADIANS * EQUATOR_RADIUS) / Math.sqrt(1 - ECCENTRICITY_SQUARED * sin * sin);
}

/** Metres per degree of latitude at a latitude in degrees: along the meridian. */
export function metresPerLatitude(lat: number): number {
  const sin = Math.sin(lat * RADIANS);
  const w = 1 - ECCENTRICITY_SQUARED * sin * sin;
  return (RADIANS * EQUATOR_RADIUS * (1 - ECCENTRICITY_SQUARED)) / (w * Math.sqrt(w));
}
