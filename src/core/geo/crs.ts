import proj4 from 'proj4';
import { RADIANS } from './ellipsoid.ts';
import { wrapLongitude } from './longitude.ts';

/**
 * Moves positions between a plane, in metres, and the earth: that of a projection, or of a zone.
 * Positions are written into `out` to spare allocations: x, y.
 */
export interface PlaneTransform {
  /** Coordinates of the plane (metres) to longitude and latitude (degrees, EPSG:4326). */
  toWgs84(x: number, y: number, out: [number, number]): void;
  /** Longitude and latitude to coordinates of the plane. */
  fromWgs84(lon: number, lat: number, out: [number, number]): void;
  /** Whether the position lies where the projection is defined, so that toWgs84 gives a place on the earth. */
  covers(x: number, y: number): boolean;
}

/** From a plane to longitude and latitude. */
export type ToWgs84 = PlaneTransform['toWgs84'];

/**
 * The coordinate reference systems that clients may name: `local` (a zone's own plane), EPSG:4326 (longitude and
 * latitude), the UTM zones of WGS 84 and the two UPS planes around the poles. x is the easting and y the northing in
 * all of them, whatever axis order EPSG registers.
 */
const PLANE_CODE = /^EPSG:32([67])(0[1-9]|[1-5]\d|6[01])$/;

/** What a message says when a crs is none of these. */
export const CRS_CHOICES =
  'local, EPSG:4326, EPSG:32601 to EPSG:32660, EPSG:32701 to EPSG:32760, EPSG:32661 or EPSG:32761';

// Of this module itself: the engine folds its own constants into hot code, and reads imported ones each time.
const DEGREE = RADIANS;

/**
 * proj4's transverse Mercator diverges towards two points on the equator, 90 degrees either side of the central
 * meridian. Up to 60 degrees from the meridian, measured across it, positions come back to within 0.1 mm; the plane is
 * cut off a little before that.
 */
const UTM_SAFE_DEGREES = 60;
const UTM_SAFE_SINE = Math.sin(UTM_SAFE_DEGREES * DEGREE);
const UTM_REACH_METRES = 8_000_000;
/** From the equator across a pole to the equator on the other side. */
const UTM_NORTHING_METRES = 20_000_000;
/** As far as 26 degrees into the other hemisphere. */
const UPS_REACH_METRES = 20_000_000;

/** Whether clients may name it as a crs. */
export function isCrs(text: string): boolean {
  return text === 'local' || text === 'EPSG:4326' || PLANE_CODE.test(text);
}

/** EPSG:4326 as a plane: positions stay as they are. */
export const WGS84: PlaneTransform = {
  toWgs84: keep,
  fromWgs84: keep,
  covers: (x, y) => Math.abs(x) <= 180 && Math.abs(y) <= 90,
};

const planes = new Map<string, PlaneTransform>([['EPSG:4326', WGS84]]);

/**
 * The plane of a crs; undefined for `local` and for what is no crs. fromWgs84 writes NaN for a place that the
 * projection does not reach; what it writes otherwise is covered.
 */
export function projection(crs: string): PlaneTransform | undefined {
  const known = planes.get(crs);
  if (known !== undefined) return known;
  const [, series, digits] = PLANE_CODE.exec(crs) ?? [];
  if (digits === undefined) return undefined;
  const south = series === '7';
  const made = digits === '61' ? polarPlane(south) : utmPlane(Number(digits), south);
  planes.set(crs, made);
  return made;
}

/** Degrees of longitude from the central meridian of a UTM zone within which positions are shown in it. */
const UTM_SHOWN_DEGREES = 12;
/** Least latitude, north or south, of positions that are shown in the UPS grid of that pole. */
const UPS_SHOWN_DEGREES = 60;

/** The range of positions that are shown in a projection, along one axis. */
interface ShownRange {
  readonly axis: 'longitude' | 'latitude';
  /** In degrees. From a greater `first` to `last` the range crosses the antimeridian. */
  readonly first: number;
  readonly last: number;
}

const shownPlanes = new Map<string, PlaneTransform>([['EPSG:4326', WGS84]]);

/**
 * The plane of a crs in which answers and events are shown: as `projection` has it, but its fromWgs84 writes NaN for
 * positions outside the range that clients can rely on.
 */
export function shownProjection(crs: string): PlaneTransform | undefined {
  const known = shownPlanes.get(crs);
  if (known !== undefined) return known;
  const plane = projection(crs);
  if (plane === undefined) return undefined;
  const fromWgs84 = (lon: number, lat: number, out: [number, number]): void => {
    if (isShownIn(crs, lon, lat)) plane.fromWgs84(lon, lat, out);
    else writeNowhere(out);
  };
  const shown = { ...plane, fromWgs84 };
  shownPlanes.set(crs, shown);
  return shown;
}

/** Why a position is not shown in a crs, by its longitude or latitude; undefined if it is in range. */
export function rangeProblem(crs: string, lon: number, lat: number): string | undefined {
  const range = shownRange(crs);
  if (range === undefined || isShownIn(crs, lon, lat)) return undefined;
  const { axis, first, last } = range;
  return `${axis} must be from ${first} to ${last}, found ${axis === 'longitude' ? lon : lat}`;
}

function isShownIn(crs: string, lon: number, lat: number): boolean {
  const range = shownRange(crs);
  if (range === undefined) return true;
  const { axis, first, last } = range;
  if (axis === 'latitude') return lat >= first && lat <= last;
  return Math.abs(wrapLongitude(lon - wrapLongitude(first + UTM_SHOWN_DEGREES))) <= UTM_SHOWN_DEGREES;
}

const shownRanges = new Map<string, ShownRange | undefined>();

/** Undefined for crs that show every position. */
function shownRange(crs: string): ShownRange | undefined {
  if (shownRanges.has(crs)) return shownRanges.get(crs);
  const [, series, digits] = PLANE_CODE.exec(crs) ?? [];
  const range = digits === undefined ? undefined : rangeOf(Number(digits), series === '7');
  shownRanges.set(crs, range);
  return range;
}

function rangeOf(zone: number, south: boolean): ShownRange {
  if (zone === 61) {
    return south
      ? { axis: 'latitude', first: -90, last: -UPS_SHOWN_DEGREES }
      : { axis: 'latitude', first: UPS_SHOWN_DEGREES, last: 90 };
  }
  const meridian = meridianOf(zone);
  const first = wrapLongitude(meridian - UTM_SHOWN_DEGREES);
  return { axis: 'longitude', first, last: wrapLongitude(meridian + UTM_SHOWN_DEGREES) };
}

function meridianOf(zone: number): number {
  return zone * 6 - 183;
}

/** The plane with the least distortion around a place: its UTM zone, or UPS above 84° and below -80°. */
export function planeAround(lon: number, lat: number): PlaneTransform {
  return projection(crsAround(lon, lat)) as PlaneTransform;
}

function crsAround(lon: number, lat: number): string {
  if (lat > 84) return 'EPSG:32661';
  if (lat < -80) return 'EPSG:32761';
  const zone = 1 + (Math.floor((wrapLongitude(lon) + 180) / 6) % 60);
  return `EPSG:32${lat < 0 ? 7 : 6}${String(zone).padStart(2, '0')}`;
}

function keep(x: number, y: number, out: [number, number]): void {
  out[0] = x;
  out[1] = y;
}

// hot: proj4's projections are called directly, on one reused point and in radians. That is 0.2 µs per position where
// proj4's own forward and inverse take 0.5 µs with the points they allocate.
const point = { x: 0, y: 0 };

function utmPlane(zone: number, south: boolean): PlaneTransform {
  const utm = new proj4.Proj(`+proj=utm +zone=${zone} ${south ? '+south ' : ''}+datum=WGS84 +units=m`);
  const meridian = meridianOf(zone);
  const equatorNorthing = south ? 10_000_000 : 0;
  const covers = (x: number, y: number): boolean =>
    Math.abs(x - 500_000) <= UTM_REACH_METRES && Math.abs(y - equatorNorthing) <= UTM_NORTHING_METRES;
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
    (x - 2_000_000) ** 2 + (y - 2_000_000) ** 2 <= UPS_REACH_METRES ** 2;
  return planeOf(ups, { covers, takes: () => true });
}

/** The plane of a projection, which is asked for places only that it `takes`, and believed where it covers the result. */
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

/** Rounding may carry an angle past ±180 or ±90. */
function writeDegrees(out: [number, number]): void {
  out[0] = wrapLongitude(point.x / DEGREE);
  out[1] = Math.max(-90, Math.min(90, point.y / DEGREE));
}

function writeNowhere(out: [number, number]): void {
  out[0] = Number.NaN;
  out[1] = Number.NaN;
}
