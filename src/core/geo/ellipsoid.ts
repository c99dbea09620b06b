// Not exported, so that the engine folds them into hot code.
const EQUATOR = 6_378_137;
const FLATTENING = 1 / 298.257223563;
const E2 = FLATTENING * (2 - FLATTENING);

/** WGS 84 ellipsoid: equatorial radius in meters, and square of the eccentricity. */
export const EQUATOR_RADIUS = EQUATOR;
export const ECCENTRICITY_SQUARED = E2;

/** Least radius of curvature of the ellipsoid, in meters: along the meridian at the equator. */
export const LEAST_RADIUS = EQUATOR_RADIUS * (1 - ECCENTRICITY_SQUARED);

/** Radius in meters of the sphere that approximates the ellipsoid: the mean of its axes. */
export const MEAN_RADIUS = 6_371_008.8;

/** Radians per degree. */
export const RADIANS = Math.PI / 180;

/** Upper bound of the degrees of latitude per meter anywhere; divided by cos(lat), also of longitude. */
export const DEGREES_PER_METER = 1 / (LEAST_RADIUS * RADIANS);

/** Returns the radius of curvature across the meridian, in meters, for the sine of a latitude. */
// hot
export function primeVerticalRadius(sinLat: number): number {
  return EQUATOR / Math.sqrt(1 - E2 * sinLat * sinLat);
}

/** Returns meters per degree of longitude, along the parallel, at a latitude in degrees. */
export function metersPerLongitude(lat: number): number {
  const sin = Math.sin(lat * RADIANS);
  return (Math.cos(lat * RADIANS) * RADIANS * EQUATOR_RADIUS) / Math.sqrt(1 - ECCENTRICITY_SQUARED * sin * sin);
}

/** Returns meters per degree of latitude, along the meridian, at a latitude in degrees. */
export function metersPerLatitude(lat: number): number {
  const sin = Math.sin(lat * RADIANS);
  const w = 1 - ECCENTRICITY_SQUARED * sin * sin;
  return (RADIANS * EQUATOR_RADIUS * (1 - ECCENTRICITY_SQUARED)) / (w * Math.sqrt(w));
}
