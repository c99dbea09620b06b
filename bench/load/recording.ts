import { readFileSync } from 'node:fs';
import { UNITS_PER_DEGREE } from './movers.ts';
import { COORDINATE_SLOT, STAMP_SLOT } from './slots.ts';

/** Positions of a provider of a recording, by time, and the JSON of its locations. */
export interface Track {
  readonly id: string;
  /** Milliseconds since the recording began, ascending. */
  readonly ms: Float64Array;
  /** In units of 10^-7 degrees. */
  readonly lon: Int32Array;
  readonly lat: Int32Array;
  /** A location with slots for coordinates and time. */
  readonly text: string;
}

interface Sample {
  readonly ms: number;
  readonly lon: number;
  readonly lat: number;
}

interface Line {
  readonly provider_id: string;
  readonly timestamp_generated: string;
  readonly position: { readonly coordinates: readonly number[] };
  readonly [member: string]: unknown;
}

/** Parses a recording: one JSON location per line, each with provider and time, in EPSG:4326. */
export function readRecording(path: URL | string): readonly Track[] {
  const lines = readFileSync(path, 'utf8').split('\n');
  return tracksOf(lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Line));
}

/** Tracks of locations. Of several locations of one provider at one instant, the last counts. */
export function tracksOf(locations: readonly Line[]): readonly Track[] {
  const timeOf = ({ timestamp_generated: time }: Line): number => Date.parse(time);
  const startMs = locations.reduce((least, line) => Math.min(least, timeOf(line)), Number.POSITIVE_INFINITY);
  const texts = new Map<string, string>();
  const samples = new Map<string, Map<number, Sample>>();
  for (const line of locations) {
    const id = line.provider_id;
    const [lon = 0, lat = 0] = line.position.coordinates.map((degrees) => Math.round(degrees * UNITS_PER_DEGREE));
    const ms = timeOf(line) - startMs;
    if (!texts.has(id)) texts.set(id, textOf(line));
    samples.set(id, (samples.get(id) ?? new Map()).set(ms, { ms, lon, lat }));
  }
  return Array.from(samples, ([id, bySecond]) => {
    const sorted = [...bySecond.values()].sort((a, b) => a.ms - b.ms);
    return {
      id,
      ms: Float64Array.from(sorted, ({ ms }) => ms),
      lon: Int32Array.from(sorted, ({ lon }) => lon),
      lat: Int32Array.from(sorted, ({ lat }) => lat),
      text: texts.get(id) ?? '',
    };
  });
}

/** JSON of a location with slots, in the order in which they are found. */
function textOf({ position: _, timestamp_generated: __, ...rest }: Line): string {
  const others = JSON.stringify(rest).slice(1);
  const point = `{"type":"Point","coordinates":[${COORDINATE_SLOT},${COORDINATE_SLOT}]}`;
  return `{"position":${point},"timestamp_generated":"${STAMP_SLOT}",${others}`;
}

/**
 * Start of the part of a recording with the most samples. Some providers repeat old reports, so a recording of five minutes
 * may span fifteen.
 */
export function busiestStart(tracks: readonly Track[], lengthMs: number): number {
  const times = Float64Array.from(tracks.flatMap(({ ms }) => [...ms])).sort();
  let [best, first, most] = [0, 0, 0];
  for (let last = 0; last < times.length; last++) {
    while ((times[last] as number) - (times[first] as number) > lengthMs) first++;
    if (last - first + 1 <= most) continue;
    most = last - first + 1;
    best = times[first] as number;
  }
  return best;
}

/** Position of a provider on its track. The caller advances it. */
export interface Cursor {
  readonly track: Track;
  at: number;
}

/** Coordinates at a time within the track, interpolated linearly between neighboring samples. */
export function placeAt(cursor: Cursor, ms: number, out: [lon: number, lat: number]): void {
  const { track } = cursor;
  const last = track.ms.length - 1;
  while (cursor.at < last && (track.ms[cursor.at + 1] as number) <= ms) cursor.at++;
  const from = cursor.at;
  const to = Math.min(from + 1, last);
  const [fromMs = 0, toMs = 0] = [track.ms[from], track.ms[to]];
  const part = toMs > fromMs ? (ms - fromMs) / (toMs - fromMs) : 0;
  const [lon = 0, lat = 0] = [track.lon[from], track.lat[from]];
  out[0] = Math.round(lon + part * ((track.lon[to] ?? lon) - lon));
  out[1] = Math.round(lat + part * ((track.lat[to] ?? lat) - lat));
}
