/**
 * Expected fence events of a track, computed by brute force with independent formulas: every fence is tested for every
 * location, circles by Vincenty's inverse formula on the WGS 84 ellipsoid, polygons by counting crossings.
 */

export interface OracleFence {
  readonly id: string;
  readonly region:
    | { readonly type: 'Point'; readonly coordinates: readonly number[] }
    | { readonly type: 'Polygon'; readonly coordinates: readonly (readonly (readonly number[])[])[] };
  readonly radius?: number;
}

export interface OracleLocation {
  readonly provider_id: string;
  readonly timestamp_generated: string;
  readonly position: { readonly coordinates: readonly number[] };
}

export interface Expectation {
  /** Entries and exits of each `fence provider`, as `region_entry time`, in order. */
  readonly crossings: ReadonlyMap<string, readonly string[]>;
  /** Number of locations that are older than their provider's last one. */
  readonly outdated: number;
}

export function expectationOf(fences: readonly OracleFence[], locations: readonly OracleLocation[]): Expectation {
  const crossings = new Map<string, string[]>();
  const latest = new Map<string, number>();
  let outdated = 0;
  for (const { provider_id: provider, timestamp_generated: time, position } of locations) {
    const timeMs = Date.parse(time);
    if (timeMs < (latest.get(provider) ?? Number.NEGATIVE_INFINITY)) {
      outdated++;
      continue;
    }
    latest.set(provider, timeMs);
    const [lon = Number.NaN, lat = Number.NaN] = position.coordinates;
    for (const fence of fences) {
      const key = `${fence.id} ${provider}`;
      const list = crossings.get(key) ?? [];
      const wasInside = list.length % 2 === 1;
      const isInside = contains(fence, lon, lat);
      if (wasInside !== isInside) list.push(`region_${isInside ? 'entry' : 'exit'} ${timeMs}`);
      if (list.length > 0) crossings.set(key, list);
    }
  }
  return { crossings, outdated };
}

function contains({ region, radius = 0 }: OracleFence, lon: number, lat: number): boolean {
  if (region.type === 'Point') {
    const [centreLon = Number.NaN, centreLat = Number.NaN] = region.coordinates;
    return metersBetween(centreLon, centreLat, lon, lat) <= radius;
  }
  const [ring = [], ...holes] = region.coordinates;
  if (holes.length > 0) throw new Error('The oracle does not support holes');
  let inside = false;
  for (let i = 1; i < ring.length; i++) {
    const [ax = 0, ay = 0] = ring[i - 1] ?? [];
    const [bx = 0, by = 0] = ring[i] ?? [];
    const side = (bx - ax) * (lat - ay) - (by - ay) * (lon - ax);
    const isBetween =
      Math.min(ax, bx) <= lon && lon <= Math.max(ax, bx) && Math.min(ay, by) <= lat && lat <= Math.max(ay, by);
    if (side === 0 && isBetween) return true;
    if (ay > lat !== by > lat && lon < ax + ((lat - ay) / (by - ay)) * (bx - ax)) inside = !inside;
  }
  return inside;
}

/** T. Vincenty, Direct and inverse solutions of geodesics on the ellipsoid, Survey Review 23 (1975). Within 1 mm. */
function metersBetween(lon1: number, lat1: number, lon2: number, lat2: number): number {
  const a = 6_378_137;
  const f = 1 / 298.257223563;
  const b = a * (1 - f);
  const radians = Math.PI / 180;
  const L = (lon2 - lon1) * radians;
  const u1 = Math.atan((1 - f) * Math.tan(lat1 * radians));
  const u2 = Math.atan((1 - f) * Math.tan(lat2 * radians));
  const [sin1, cos1, sin2, cos2] = [Math.sin(u1), Math.cos(u1), Math.sin(u2), Math.cos(u2)];
  let lambda = L;
  for (let round = 0; round < 100; round++) {
    const [sinL, cosL] = [Math.sin(lambda), Math.cos(lambda)];
    const sinSigma = Math.hypot(cos2 * sinL, cos1 * sin2 - sin1 * cos2 * cosL);
    if (sinSigma === 0) return 0;
    const cosSigma = sin1 * sin2 + cos1 * cos2 * cosL;
    const sigma = Math.atan2(sinSigma, cosSigma);
    const sinAlpha = (cos1 * cos2 * sinL) / sinSigma;
    const cosSquared = 1 - sinAlpha * sinAlpha;
    const cosMiddle = cosSquared === 0 ? 0 : cosSigma - (2 * sin1 * sin2) / cosSquared;
    const c = (f / 16) * cosSquared * (4 + f * (4 - 3 * cosSquared));
    const before = lambda;
    const series = sigma + c * sinSigma * (cosMiddle + c * cosSigma * (2 * cosMiddle ** 2 - 1));
    lambda = L + (1 - c) * f * sinAlpha * series;
    if (Math.abs(lambda - before) > 1e-12) continue;
    const k = (cosSquared * (a * a - b * b)) / (b * b);
    const big = 1 + (k / 16384) * (4096 + k * (-768 + k * (320 - 175 * k)));
    const small = (k / 1024) * (256 + k * (-128 + k * (74 - 47 * k)));
    const inner = cosSigma * (2 * cosMiddle ** 2 - 1);
    const outer = (small / 6) * cosMiddle * (4 * sinSigma ** 2 - 3) * (4 * cosMiddle ** 2 - 3);
    return b * big * (sigma - small * sinSigma * (cosMiddle + (small / 4) * (inner - outer)));
  }
  throw new Error('The distance cannot be computed: the points are nearly antipodal');
}
