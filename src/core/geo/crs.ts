import proj4 from 'proj4';
import { RADIANS } from './ellipsoid.ts';
import { wrapLongitude } from './longitude.ts';

/**
 * Converts positions between a plane in meters, of a projection or a zone, and the earth. Results are written into
 * `out` as x, y to avoid allocations.
 */
export interface PlaneTransform {
  /** Converts coordinates of the plane (meters) to longitude and latitude (degrees, EPSG:4326). */
  toWgs84(x: number, y: number, out: [number, number]): void;
  /** Converts longitude and latitude to coordinates of the plane. */
  fromWgs84(lon: number, lat: number, out: [number, number]): void;
  /** Whether the projection is defined at the position, so that toWgs84 returns a position on the earth. */
  covers(x: number, y: number): boolean;
}

/** Converts plane coordinates to longitude and latitude. */
export type ToWgs84 = PlaneTransform['toWgs84'];

/**
 * Coordinate reference systems that clients may use: `local` (a zone's plane), EPSG:4326 (longitude and latitude), the
 * UTM zones of WGS 84 and the two polar UPS planes. x is the easting and y the northing in all of them, whatever axis
 * order EPSG registers.
 */
const PLANE_CODE = /^EPSG:32([67])(0[1-9]|[1-5]\d|6[01])$/;

/** Supported reference systems, for error messages. */
export const CRS_CHOICES =
  'local, EPSG:4326, EPSG:32601 to EPSG:32660, EPSG:32701 to EPSG:32760, EPSG:32661 or EPSG:32761';

// Copied into this module: the engine folds a module's own constants into hot code, but reads imported ones each time.
const DEGREE = RADIANS;

/**
 * proj4's transverse Mercator diverges towards two points on the equator, 90 degrees either side of the central
 * meridian. Up to 60 degrees from the meridian, measured across it, positions round-trip to within 0.1 mm; the plane is
 * cut off slightly before that.
 */
const UTM_SAFE_DEGREES = 60;
const UTM_SAFE_SINE = Math.sin(UTM_SAFE_DEGREES * DEGREE);
const UTM_REACH_METERS = 8_000_000;
/** Maximum northing: from the equator across a pole to the equator on the other side. */
const UTM_NORTHING_METERS = 20_000_000;
/** Reach of a UPS plane, which extends 26 degrees into the other hemisphere. */
const UPS_REACH_METERS = 20_000_000;

/** Whether clients may use the name as a crs. */
export function isCrs(text: string): boolean {
  return text === 'local' || text === 'EPSG:4326' || PLANE_CODE.test(text);
}

/** EPSG:4326 as a plane: the identity. */
export const WGS84: PlaneTransform = {
  toWgs84: identity,
  fromWgs84: identity,
  covers: (x, y) => Math.abs(x) <= 180 && Math.abs(y) <= 90,
};

const planes = new Map<string, PlaneTransform>([['EPSG:4326', WGS84]]);

/**
 * Returns the plane of a crs; undefined for `local` and for an unknown crs. fromWgs84 writes NaN for a position that
 * the projection does not reach; every other result is covered.
 */
export function projection(crs: string): PlaneTransform | undefined {
  const cached = planes.get(crs);
  if (cached !== undefined) return cached;
  const [, series, digits] = PLANE_CODE.exec(crs) ?? [];
  if (digits === undefined) return undefined;
  const south = series === '7';
  const made = digits === '61' ? polarPlane(south) : utmPlane(Number(digits), south);
  planes.set(crs, made);
  return made;
}

/** Positions within this many degrees of longitude from the central meridian of a UTM zone are converted to it. */
const UTM_DISPLAY_DEGREES = 12;
/** Positions are converted to the UPS plane of a pole from this latitude on, north or south. */
const UPS_DISPLAY_DEGREES = 60;

/** Range of positions that are converted to a projection, along one axis. */
interface DisplayRange {
  readonly axis: 'longitude' | 'latitude';
  /** In degrees. If `first` is greater than `last`, the range crosses the antimeridian. */
  readonly first: number;
  readonly last: number;
}

const displayPlanes = new Map<string, PlaneTransform>([['EPSG:4326', WGS84]]);

/**
 * Returns the plane of a crs for responses and events: like `projection`, but fromWgs84 writes NaN for positions
 * outside the range that clients can rely on.
 */
export function displayProjection(crs: string): PlaneTransform | undefined {
  const cached = displayPlanes.get(crs);
  if (cached !== undefined) return cached;
  const plane = projection(crs);
  if (plane === undefined) return undefined;
  const fromWgs84 = (lon: number, lat: number, out: [number, number]): void => {
    if (isInDisplayRange(crs, lon, lat)) plane.fromWgs84(lon, lat, out);
    else writeNowhere(out);
  };
  const shown = { ...plane, fromWgs84 };
  displayPlanes.set(crs, shown);
  return shown;
}

/** Axis, range and value of a position out of range of a crs: the parameters of the reason `out_of_crs_range`. */
export interface OutOfRange {
  readonly axis: 'longitude' | 'latitude';
  readonly minimum: number;
  readonly maximum: number;
  readonly found: string;
}

/** Returns how a position is out of range of a crs; undefined if it is in range. */
export function rangeProblem(crs: string, lon: number, lat: number): OutOfRange | undefined {
  const range = displayRange(crs);
  if (range === undefined || isInDisplayRange(crs, lon, lat)) return undefined;
  const { axis, first, last } = range;
  return { axis, minimum: first, maximum: last, found: String(axis === 'longitude' ? lon : lat) };
}

function isInDisplayRange(crs: string, lon: number, lat: number): boolean {
  const range = displayRange(crs);
  if (range === undefined) return true;
  const { axis, first, last } = range;
  if (axis === 'latitude') return lat >= first && lat <= last;
  return Math.abs(wrapLongitude(lon - wrapLongitude(first + UTM_DISPLAY_DEGREES))) <= UTM_DISPLAY_DEGREES;
}

const displayRanges = new Map<string, DisplayRange | undefined>();

/** Returns undefined for a crs without a limited range. */
function displayRange(crs: string): DisplayRange | undefined {
  if (displayRanges.has(crs)) return displayRanges.get(crs);
  const [, series, digits] = PLANE_CODE.exec(crs) ?? [];
  const range = digits === undefined ? undefined : rangeOf(Number(digits), series === '7');
  displayRanges.set(crs, range);
  return range;
}

function rangeOf(zone: number, south: boolean): DisplayRange {
  if (zone === 61) {
    return south
      ? { axis: 'latitude', first: -90, last: -UPS_DISPLAY_DEGREES }
      : { axis: 'latitude', first: UPS_DISPLAY_DEGREES, last: 90 };
  }
  const meridian = meridianOf(zone);
  const first = wrapLongitude(meridian - UTM_DISPLAY_DEGREES);
  return { axis: 'longitude', first, last: wrapLongitude(meridian + UTM_DISPLAY_DEGREES) };
}

function meridianOf(zone: number): number {
  return zone * 6 - 183;
}

/** Returns the plane with the least distortion around a position: its UTM zone, or UPS above 84° and below -80°. */
export function planeAround(lon: number, lat: number): PlaneTransform {
  return projection(crsAround(lon, lat)) as PlaneTransform;
}

function crsAround(lon: number, lat: number): string {
  if (lat > 84) return 'EPSG:32661';
  if (lat < -80) return 'EPSG:32761';
  const zone = 1 + (Math.floor((wrapLongitude(lon) + 180) / 6) % 60);
  return `EPSG:32${lat < 0 ? 7 : 6}${String(zone).padStart(2, '0')}`;
}

function identity(x: number, y: number, out: [number, number]): void {
  out[0] = x;
  out[1] = y;
}

// hot: calls proj4's projections directly, on one reused point and in radians. This takes 0.2 µs per position; proj4's
// own forward and inverse take 0.5 µs with the points they allocate.
const point = { x: 0, y: 0 };

function utmPlane(zone: number, south: boolean): PlaneTransform {
  const utm = new proj4.Proj(`+proj=utm +zone=${zone} ${south ? '+south ' : ''}+datum=WGS84 +units=m`);
  const meridian = meridianOf(zone);
  const equatorNorthing = south ? 10_000_000 : 0;
  const covers = (x: number, y: number): boolean =>
    Math.abs(x - 500_000) <= UTM_REACH_METERS && Math.abs(y - equatorNorthing) <= UTM_NORTHING_METERS;
  return planeOf(utm, { covers, takes: (lon, lat) => isSafe(wrapLongitude(lon - meridian), lat) });
}

/** `eastOfMeridian` is within ±180. */
function isSafe(eastOfMeridian: number, lat: number): boolean {
  if (Math.abs(eastOfMeridian) <= UTM_SAFE_DEGREES) return true;
  return Math.abs(Math.cos(lat * DEGREE) * Math.sin(eastOfMeridian * DEGREE)) <= UTM_SAFE_SINE;
}

function polarPlane(south: boolean): PlaneTransform {
  const pole = south ? -90 : 90;
  const ups = new proj4.Proj(
    `+proj=stere +lat_0=${pole} +lon_0=0 +k=0.994 +x_0=2000000 +y_0=2000000 +datum=WGS84 +units=m`,
  );
  const covers = (x: number, y: number): boolean =>
    (x - 2_000_000) ** 2 + (y - 2_000_000) ** 2 <= UPS_REACH_METERS ** 2;
  return planeOf(ups, { covers, takes: () => true });
}

/**
 * Returns the plane of a projection. The projection is evaluated only for positions that `takes` accepts, and a result
 * that is not covered is discarded.
 */
function planeOf(
  proj: InstanceType<typeof proj4.Proj>,
  { covers, takes }: Pick<PlaneTransform, 'covers'> & { readonly takes: (lon: number, lat: number) => boolean },
): PlaneTransform {
  return {
    toWgs84(x, y, out) {
      point.x = x;
      point.y = y;
      proj.inverse(point);
      writeDegrees(out);
    },
    fromWgs84(lon, lat, out) {
      if (!takes(lon, lat)) return writeNowhere(out);
      point.x = lon * DEGREE;
      point.y = lat * DEGREE;
      proj.forward(point);
      if (!covers(point.x, point.y)) return writeNowhere(out);
      out[0] = point.x;
      out[1] = point.y;
    },
    covers,
  };
}

/** Writes the point in degrees, within ±180 and ±90: rounding may carry an angle past these bounds. */
function writeDegrees(out: [number, number]): void {
  out[0] = wrapLongitude(point.x / DEGREE);
  out[1] = Math.max(-90, Math.min(90, point.y / DEGREE));
}

function writeNowhere(out: [number, number]): void {
  out[0] = Number.NaN;
  out[1] = Number.NaN;
}
