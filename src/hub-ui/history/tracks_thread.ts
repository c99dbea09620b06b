import type { Plane } from '../map/plane.ts';
import type { Snapshot, Tracks } from './history_api.ts';
import { type PackedTracks, packSnapshot, packTracks } from './tracks.ts';

/** Texts to be read and packed: some megabytes of them, which would hold up what is drawn. */
export interface ToRead {
  readonly key: number;
  readonly plane: Plane;
  readonly tracks: readonly string[];
  /** Where everything was before; empty where that is known. */
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
