/** Coordinates in a zone, in meters: x, y. */
export type Meters = readonly [x: number, y: number];

/** Frame of a zone's coordinates in the warehouse: origin and rotation. */
export interface SiteFrame {
  readonly x: number;
  readonly y: number;
  /** Degrees counter-clockwise. */
  readonly turn: number;
}

export type FloorName = 'hall' | 'upper';

/** The ground floor's coordinates are the warehouse's: x east, y north. */
export const HALL: SiteFrame = { x: 0, y: 0, turn: 0 };

/** The upper floor was measured along its own walls, which are at an angle. */
export const UPPER: SiteFrame = { x: 30, y: 15, turn: 30 };

const LONGITUDE = 8.6;
const LATITUDE = 50.05;

/** Longitude and latitude of a position in a frame, rounded to a tenth of a millimeter. */
export function onEarth(frame: SiteFrame, [x, y]: Meters): [longitude: number, latitude: number] {
  const [east, north] = inHall(frame, [x, y]);
  return [round(LONGITUDE + east / METERS_PER_DEGREE.longitude), round(LATITUDE + north / METERS_PER_DEGREE.latitude)];
}

/** A position in a frame, in meters of the hall. */
export function inHall({ x: left, y: bottom, turn }: SiteFrame, [x, y]: Meters): Meters {
  const cos = Math.cos((turn * Math.PI) / 180);
  const sin = Math.sin((turn * Math.PI) / 180);
  return [left + x * cos - y * sin, bottom + x * sin + y * cos];
}

/** The length of a degree on the WGS 84 ellipsoid, by its radii of curvature at the latitude. */
const METERS_PER_DEGREE = (() => {
  const equator = 6378137;
  const eccentricity2 = 0.00669437999014;
  const phi = (LATITUDE * Math.PI) / 180;
  const w2 = 1 - eccentricity2 * Math.sin(phi) ** 2;
  const perRadian = {
    longitude: (equator / Math.sqrt(w2)) * Math.cos(phi),
    latitude: (equator * (1 - eccentricity2)) / w2 ** 1.5,
  };
  return { longitude: (perRadian.longitude * Math.PI) / 180, latitude: (perRadian.latitude * Math.PI) / 180 };
})();

function round(degrees: number): number {
  return Math.round(degrees * 1e9) / 1e9;
}
