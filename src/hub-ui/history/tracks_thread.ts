import type { Plane } from '../map/plane/plane.ts';
import type { Snapshot, Tracks } from './history_api.ts';
import { type PackedTracks, packSnapshot, packTracks } from './tracks.ts';

/** Response bodies to parse and pack: some megabytes, which would block rendering. */
export interface ParseRequest {
  readonly key: number;
  readonly plane: Plane;
  readonly tracks: readonly string[];
  /** Positions before the tracks; empty if the caller has them. */
  readonly snapshot: readonly string[];
}

export interface ParsedTracks {
  readonly key: number;
  readonly tracks: PackedTracks;
  readonly before: PackedTracks;
}

addEventListener('message', ({ data }: MessageEvent<ParseRequest>) => {
  const tracks = packTracks(
    data.tracks.map((text) => JSON.parse(text) as Tracks),
    data.plane,
  );
  const before = packSnapshot(
    data.snapshot.map((text) => JSON.parse(text) as Snapshot),
    data.plane,
  );
  const columns = [tracks, before].flatMap(({ starts, timeMs, x, y, floor }) => [starts, timeMs, x, y, floor]);
  const parsed: ParsedTracks = { key: data.key, tracks, before };
  postMessage(parsed, { transfer: columns.map(({ buffer }) => buffer) });
});
