/**
 * Moves positions between a zone's own plane and the earth. Made once per zone by core/zone/zone_transform.ts.
 * Positions are written into `out` to spare allocations: x, y.
 */
export interface PlaneTransform {
  /** Zone coordinates (metres) to longitude and latitude (degrees, EPSG:4326). */
  toWgs84(x: number, y: number, out: [number, number]): void;
  /** Longitude and latitude to zone coordinates. */
  fromWgs84(lon: number, lat: number, out: [number, number]): void;
  /** Whether the position lies where the zone's projection is defined, so that toWgs84 gives a place on the earth. */
  covers(x: number, y: number): boolean;
}
