/** The longitude within -180 to 180, of one that is at most one turn off. */
export function wrapLongitude(lon: number): number {
  if (lon > 180) return lon - 360;
  return lon < -180 ? lon + 360 : lon;
}
