import { formatTime, parseTime } from '../model/time.ts';
import { REACH_METERS, type WalkPoint, type WalkResult, type WalkTest } from '../model/walk_test.ts';
import { geodesicMeters } from './geo/geodesic.ts';

/**
 * Figures of a walk test: errors of the positions of a tag that was carried past surveyed points.
 *
 * Source: ISO/IEC 18305:2016, Test and evaluation of localization and tracking systems. The CE and VE figures are
 * percentiles by the nearest rank.
 */

/** A recorded position of the tag. */
export interface WalkFix {
  /** Times of measurement and of receipt, in milliseconds since 1970. */
  readonly timeMs: number;
  readonly receivedMs: number;
  readonly longitude: number;
  readonly latitude: number;
  /** Height in meters. */
  readonly z?: number | undefined;
  readonly floor?: number | undefined;
  readonly source?: string | undefined;
}

/** Maximum time between a pass and the position that is compared, and maximum age of an available position. */
const FIX_MAX_MS = 2000;

/** The test, the fixes of its tag by time, and the end of the test or the current time. */
export interface WalkData {
  readonly test: WalkTest;
  readonly fixes: readonly WalkFix[];
  readonly fromMs: number;
  readonly toMs: number;
}

/** Returns the figures of a walk test, lengths in meters. Figures without data are null. */
export function walkFigures({ test, fixes, fromMs, toMs }: WalkData): WalkResult {
  const points = new Map((test.points ?? []).map((point) => [point.id, point]));
  const passes = passesOf(test, points, fixes);
  const horizontal = numbers(passes.map(({ horizontal_error: error }) => error));
  const vertical = numbers(passes.map(({ vertical_error: error }) => error));
  const floors = passes.flatMap(({ floor_hit: hit }) => (hit === null ? [] : [hit]));
  const passed = new Set(passes.map(({ point_id: id }) => id));
  const zones = availabilityOf(fixes, toMs);
  const seconds = zones.reduce((sum, zone) => sum + zone.seconds, 0);
  const available = zones.reduce((sum, zone) => sum + zone.seconds * zone.availability, 0);
  const span = fixes.length < 2 ? 0 : ((fixes.at(-1) as WalkFix).timeMs - (fixes[0] as WalkFix).timeMs) / 1000;
  return {
    id: test.id,
    from: formatTime(fromMs),
    to: formatTime(toMs),
    positions: fixes.length,
    mean: rounded(mean(horizontal)),
    rmse: rounded(rootOf(mean(horizontal.map((error) => error ** 2)))),
    ce50: rounded(percentile(horizontal, 0.5)),
    ce95: rounded(percentile(horizontal, 0.95)),
    ve95: rounded(percentile(vertical, 0.95)),
    floor_hit_rate: floors.length === 0 ? null : rounded(floors.filter(Boolean).length / floors.length),
    latency_p95: percentile(
      fixes.map(({ timeMs, receivedMs }) => receivedMs - timeMs),
      0.95,
    ),
    update_rate: span > 0 ? rounded((fixes.length - 1) / span) : null,
    availability: seconds > 0 ? rounded(available / seconds) : null,
    zones: zones.map((zone) => ({ ...zone, availability: rounded(zone.availability) as number })),
    passes,
    missed: [...points.keys()].filter((id) => !passed.has(id)),
  };
}

type MeasuredPass = WalkResult['passes'][number];

/** Returns the marked passes by time, then the nearest approaches to points without a mark. */
function passesOf(test: WalkTest, points: ReadonlyMap<string, WalkPoint>, fixes: readonly WalkFix[]): MeasuredPass[] {
  const passes: (MeasuredPass & { readonly timeMs: number })[] = [];
  const marked = new Set<string>();
  for (const { point_id: id, time } of test.passes ?? []) {
    const point = points.get(id);
    if (point === undefined || time == null) continue;
    marked.add(id);
    const timeMs = parseTime(time);
    passes.push({ timeMs, ...measured(point, timeMs, nearestInTime(fixes, timeMs)), marked: true });
  }
  passes.sort((a, b) => a.timeMs - b.timeMs);
  for (const point of points.values()) {
    const fix = marked.has(point.id) ? undefined : nearestApproach(fixes, point, test.reach ?? REACH_METERS);
    if (fix !== undefined) passes.push({ timeMs: fix.timeMs, ...measured(point, fix.timeMs, fix), marked: false });
  }
  return passes.map(({ timeMs: _, ...pass }) => pass);
}

function measured(point: WalkPoint, timeMs: number, fix: WalkFix | undefined): Omit<MeasuredPass, 'marked'> {
  const height = point.position.coordinates[2];
  return {
    point_id: point.id,
    time: formatTime(timeMs),
    horizontal_error: fix === undefined ? null : rounded(metersTo(point, fix)),
    vertical_error: fix?.z === undefined || height === undefined ? null : rounded(Math.abs(fix.z - height)),
    floor_hit: fix?.floor === undefined || point.floor == null ? null : fix.floor === point.floor,
  };
}

/** Returns the fix whose time is closest, the earlier one of two; undefined if none is close enough. */
function nearestInTime(fixes: readonly WalkFix[], timeMs: number): WalkFix | undefined {
  let nearest: WalkFix | undefined;
  let least = FIX_MAX_MS;
  for (const fix of fixes) {
    const apart = Math.abs(fix.timeMs - timeMs);
    if (apart > least || (apart === least && nearest !== undefined)) continue;
    nearest = fix;
    least = apart;
  }
  return nearest;
}

/** Returns the fix that is closest to the point and, if both have a floor, on its floor; undefined if none is in reach. */
function nearestApproach(fixes: readonly WalkFix[], point: WalkPoint, reach: number): WalkFix | undefined {
  let nearest: WalkFix | undefined;
  let least = reach;
  for (const fix of fixes) {
    if (point.floor != null && fix.floor !== undefined && fix.floor !== point.floor) continue;
    const meters = metersTo(point, fix);
    if (meters > least || (meters === least && nearest !== undefined)) continue;
    nearest = fix;
    least = meters;
  }
  return nearest;
}

function metersTo({ position }: WalkPoint, { longitude, latitude }: WalkFix): number {
  const [lon, lat] = position.coordinates as [number, number];
  return geodesicMeters(lon, lat, longitude, latitude);
}

/**
 * Returns the time that each source had the last position, and the share in which it was recent enough, in the order of
 * their first positions. The time before the first position has no source.
 */
function availabilityOf(fixes: readonly WalkFix[], toMs: number): WalkResult['zones'] {
  const sources = new Map<string, { all: number; recent: number }>();
  for (const [i, { timeMs, source = '' }] of fixes.entries()) {
    const untilMs = fixes[i + 1]?.timeMs ?? Math.max(toMs, timeMs);
    const sums = sources.get(source) ?? { all: 0, recent: 0 };
    sums.all += untilMs - timeMs;
    sums.recent += Math.min(untilMs - timeMs, FIX_MAX_MS);
    sources.set(source, sums);
  }
  return [...sources].map(([source, { all, recent }]) => {
    return { source, seconds: all / 1000, availability: all === 0 ? 1 : recent / all };
  });
}

/** Returns the smallest value that is not exceeded by the share `p` of the values; null without values. */
function percentile(values: readonly number[], p: number): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(p * sorted.length) - 1)] ?? null;
}

function mean(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function rootOf(value: number | null): number | null {
  return value === null ? null : Math.sqrt(value);
}

function numbers(values: readonly (number | null)[]): readonly number[] {
  return values.filter((value) => value !== null);
}

/** Rounds to 0.1 mm. */
function rounded(value: number | null): number | null {
  return value === null ? null : Math.round(value * 1e4) / 1e4;
}
