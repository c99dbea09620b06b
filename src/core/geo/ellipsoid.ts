/** The WGS 84 ellipsoid: radius of the equator in metres, flattening, square of the eccentricity. */
export const EQUATOR_RADIUS = 6378137;
export const FLATTENING = 1 / 298.257223563;
export const ECCENTRICITY_SQUARED = FLATTENING * (2 - FLATTENING);

/** The least radius of curvature on the ellipsoid: along the meridian at the equator. */
export const LEAST_RADIUS = EQUATOR_RADIUS * (1 - ECCENTRICITY_SQUARED);

export const RADIANS = Math.PI / 180;

/** Metres per degree of longitude at a latitude in degrees (the prime vertical radius). */
export function metresPerLongitude(lat: number): number {
  const sin = Math.sin(lat * RADIANS);
  return (Math.cos(lat * RADIANS) * RADIANS * EQUATOR_RADIUS) / Math.sqrt(1 - ECCENTRICITY_SQUARED * sin * sin);
}

/** Metres per degree of latitude at a latitude in degrees (the meridian radius). */
export function metresPerLatitude(lat: number): number {
  const sin = Math.sin(lat * RADIANS);
  const w = 1 - ECCENTRICITY_SQUARED * sin * sin;
  return (RADIANS * EQUATOR_RADIUS * (1 - ECCENTRICITY_SQUARED)) / (w * Math.sqrt(w));
}
