import { CliError } from '../command_error.ts';
import type { RecordedFrame } from './recording.ts';
import { generatedMs } from './recording.ts';

type Location = RecordedFrame['location'];

/** Samples of a provider by time, and the state of their emission. */
interface Track {
  readonly samples: readonly Sample[];
  readonly count: number;
  /** The window of the first emission, and the offset of emissions within a window. */
  readonly window: number;
  readonly offsetMs: number;
  /** Index of the last sample at or before the last emission. */
  at: number;
}

interface Sample {
  readonly line: number;
  readonly ms: number;
  readonly location: Location;
}

/** Resamples a recording at a fixed rate per provider, with straight lines between its samples. */
export interface Resampled {
  readonly count: number;
  locations(): Generator<RecordedFrame>;
}

/**
 * Resamples a recording to `hz` locations per second and provider, from the first to the last sample of each provider.
 * The other members are those of the previous sample. Samples that differ in source, crs or floor are not interpolated:
 * the earlier one is repeated until the later one. Throws a CliError for a location without provider or time.
 */
export function resample(recorded: readonly RecordedFrame[], { hz, path }: { hz: number; path: string }): Resampled {
  const stepMs = 1000 / hz;
  const tracks = tracksOf(recorded, { stepMs, path });
  const count = tracks.reduce((sum, track) => sum + track.count, 0);
  return { count, locations: () => emissions(tracks, stepMs) };
}

/**
 * Time is divided into windows of one step. Each provider emits once per window, from its first window on, always at
 * the same offset. The order of providers is therefore the same in all windows.
 */
function* emissions(tracks: readonly Track[], stepMs: number): Generator<RecordedFrame> {
  const waiting = tracks.map((track) => ({ ...track })).sort((a, b) => b.window - a.window);
  let moving: Track[] = [];
  for (let window = 0; waiting.length > 0 || moving.length > 0; window++) {
    const before = moving.length;
    while (waiting.at(-1)?.window === window) moving.push(waiting.pop() as Track);
    if (moving.length > before) moving.sort((a, b) => a.offsetMs - b.offsetMs);
    for (const track of moving) yield emission(track, (track.samples[0]?.ms ?? 0) + (window - track.window) * stepMs);
    moving = moving.filter((track) => window - track.window + 1 < track.count);
  }
}

function emission(track: Track, atMs: number): RecordedFrame {
  while ((track.samples[track.at + 1]?.ms ?? Number.POSITIVE_INFINITY) <= atMs) track.at += 1;
  const from = track.samples[track.at] as Sample;
  const to = track.samples[track.at + 1];
  const part = to === undefined ? 0 : (atMs - from.ms) / (to.ms - from.ms);
  const position = to === undefined ? from.location['position'] : between(from.location, to.location, part);
  const location = { ...from.location, position, timestamp_generated: new Date(atMs).toISOString() };
  return { line: from.line, atMs, location };
}

/** The position on the straight line between two locations. */
function between(from: Location, to: Location, part: number): unknown {
  const a = coordinatesOf(from);
  const b = coordinatesOf(to);
  if (a === undefined || b === undefined || !sameGround(from, to)) return from['position'];
  const coordinates = a.map((value, axis) => {
    const way = (b[axis] ?? value) - value;
    // Degrees of longitude: the short way round, which may cross the antimeridian.
    if (axis === 0 && from['crs'] === 'EPSG:4326' && Math.abs(way) > 180) {
      return wrap(value + (way - Math.sign(way) * 360) * part);
    }
    return value + way * part;
  });
  return { type: 'Point', coordinates };
}

function wrap(longitude: number): number {
  if (longitude > 180) return longitude - 360;
  return longitude < -180 ? longitude + 360 : longitude;
}

function sameGround(from: Location, to: Location): boolean {
  return from['source'] === to['source'] && from['crs'] === to['crs'] && from['floor'] === to['floor'];
}

function coordinatesOf({ position }: Location): readonly number[] | undefined {
  if (typeof position !== 'object' || position === null || !('coordinates' in position)) return undefined;
  const { coordinates } = position;
  return Array.isArray(coordinates) && coordinates.every(Number.isFinite) ? coordinates : undefined;
}

function tracksOf(recorded: readonly RecordedFrame[], { stepMs, path }: { stepMs: number; path: string }): Track[] {
  const byProvider = new Map<string, Sample[]>();
  let startMs = Number.POSITIVE_INFINITY;
  for (const { line, location } of recorded) {
    const ms = generatedMs(location);
    const provider = location['provider_id'];
    if (typeof provider !== 'string') throw new CliError(`${path}:${line}: provider_id: is needed to interpolate`);
    if (ms === undefined) throw new CliError(`${path}:${line}: timestamp_generated: is needed to interpolate`);
    startMs = Math.min(startMs, ms);
    const samples = byProvider.get(provider);
    if (samples === undefined) byProvider.set(provider, [{ line, ms, location }]);
    else samples.push({ line, ms, location });
  }
  return [...byProvider.values()].map((samples) => {
    const sorted = samples.toSorted((a, b) => a.ms - b.ms);
    // Of several samples at one time the last counts.
    const distinct = sorted.filter(({ ms }, index) => sorted[index + 1]?.ms !== ms);
    const lateMs = (distinct[0]?.ms ?? startMs) - startMs;
    const lastsMs = (distinct.at(-1)?.ms ?? startMs) - startMs - lateMs;
    const window = Math.floor(lateMs / stepMs);
    return {
      samples: distinct,
      count: Math.floor(lastsMs / stepMs) + 1,
      window,
      offsetMs: lateMs - window * stepMs,
      at: 0,
    };
  });
}
