import { problemOf } from '../../problem.ts';
import { formatTime } from '../../model/time.ts';
import { parquet } from '../damaged.ts';
import type { Duck } from '../duck.ts';
import type { HistoryFile } from '../files.ts';
import { between } from './places.ts';
import { type AnswerContent, type TripsQuery, Unanswerable } from './query.ts';
import { Values } from './sql.ts';
import { lengthOf, type TrackStay, staysOf, type Track } from './stays.ts';

const PLACES_MAX = 1_000_000;

/**
 * Returns the stops of a trackable and the trips between them. A trip ends if the object is silent for longer than the
 * gap.
 */
export async function trips(duck: Duck, files: readonly HistoryFile[], asked: TripsQuery): Promise<AnswerContent> {
  const { fromMs, toMs, id, maxGapMs } = asked;
  const values = new Values();
  const columns = await duck.columns(
    `SELECT epoch_us(time)::DOUBLE / 1000 AS ms, longitude, latitude FROM ${parquet(files)}` +
      ` WHERE ${between(asked)} AND id = ${values.text(id)} ORDER BY time LIMIT ${PLACES_MAX + 1}`,
    values,
  );
  const track = { times: columns.ms, lons: columns.longitude, lats: columns.latitude } as unknown as Track;
  if (track.times.length > PLACES_MAX) {
    throw new Unanswerable(problemOf('span_too_long', { path: 'from, to', limit: PLACES_MAX }));
  }
  const stays = staysOf(track, asked);
  const stops = stays.map(({ first, end, lon, lat }) => ({
    ...times(track, first, end - 1),
    longitude: lon,
    latitude: lat,
    points: end - first,
  }));
  const body = { id, from: formatTime(fromMs), to: formatTime(toMs), trips: waysOf(track, stays, maxGapMs), stops };
  return { text: JSON.stringify(body), next: undefined };
}

/** Returns the trips from the last position of a stay to the first of the next, split where the object is silent. */
function waysOf(track: Track, stays: readonly TrackStay[], maxGapMs: number) {
  const ways: object[] = [];
  let first = 0;
  const add = (from: number, to: number): void => {
    let start = from;
    for (let i = from; i <= to; i++) {
      const isLast = i === to;
      if (!isLast && (track.times[i + 1] as number) - (track.times[i] as number) <= maxGapMs) continue;
      if (i > start) {
        ways.push({
          ...times(track, start, i),
          distance_metres: Math.round(lengthOf(track, start, i) * 1000) / 1000,
          from: [track.lons[start], track.lats[start]],
          to: [track.lons[i], track.lats[i]],
        });
      }
      start = i + 1;
    }
  };
  for (const stay of stays) {
    if (stay.first > first) add(first, stay.first);
    first = stay.end - 1;
  }
  if (track.times.length - 1 > first) add(first, track.times.length - 1);
  return ways;
}

function times({ times: all }: Track, first: number, last: number) {
  const [start, end] = [all[first] as number, all[last] as number];
  return { start_time: formatTime(start), end_time: formatTime(end), duration_ms: Math.round(end - start) };
}
