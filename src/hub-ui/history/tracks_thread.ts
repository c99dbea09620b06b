import type { Plane } from '../map/plane/plane.ts';
import type { Snapshot, Tracks } from './history_api.ts';
import { type PackedTracks, packSnapshot, packTracks } from './tracks.ts';

/** Response bodies to parse and pack: some megabytes, which would block rendering. */
export interface ToRead {
  readonly key: number;
  readonly plane: Plane;
  readonly tracks: readonly string[];
  /** Positions before the tracks; empty if the caller has them. */
  readonly snapshot: readonly string[];
}

export interface HaveRead {
  readonly key: number;
  readonly tracks: PackedTracks;
  readonly before: PackedTracks;
}

addEventListener('message', ({ data }: MessageEvent<ToRead>) => {
  const tracks = packTracks(
    data.tracks.map((text) => JSON.parse(text) as Tracks),
    data.plane,
  );
  const before = packSnapshot(
    data.snapshot.map((text) => JSON.parse(text) as Snapshot),
    data.plane,
  );
  const columns = [tracks, before].flatMap(({ starts, timeMs, x, y, floor }) => [starts, timeMs, x, y, floor]);
  const have: HaveRead = { key: data.key, tracks, before };
  postMessage(have, { transfer: columns.map(({ buffer }) => buffer) });
});
