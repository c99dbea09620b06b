import { georeferenceZone } from '../map/plane/georeference.ts';
import { mapX, mapY, type Plane } from '../map/plane/plane.ts';
import type { Snapshot, Tracks } from './history_api.ts';

/** Tracks of many objects in columns, which workers transfer without a copy. */
export interface PackedTracks {
  readonly ids: readonly string[];
  /** Index of the first point of each object, then the total. */
  readonly starts: Uint32Array;
  /** Unix milliseconds, ascending within an object. */
  readonly timeMs: Float64Array;
  /** Map coordinates. */
  readonly x: Float64Array;
  readonly y: Float64Array;
  /** NaN if unknown. */
  readonly floor: Float32Array;
}

type Track = Tracks['tracks'][number];
type Pages = readonly { readonly fromMs: number; readonly tracks: readonly Track[] }[];

/** Packs the pages of a tracks response. */
export function packTracks(replies: readonly Tracks[], plane: Plane): PackedTracks {
  return pack(
    replies.map(({ from, tracks }) => ({ fromMs: Date.parse(from ?? ''), tracks })),
    plane,
  );
}

/** Packs the pages of a snapshot response: tracks of one point each. */
export function packSnapshot(replies: readonly Snapshot[], plane: Plane): PackedTracks {
  const pages = replies.map(({ at, objects }) => {
    const fromMs = Date.parse(at);
    const tracks = objects.map(({ id, time, longitude, latitude, floor }): Track => {
      return { id, t: [Date.parse(time) - fromMs], lon: [longitude], lat: [latitude], floor: [floor ?? null] };
    });
    return { fromMs, tracks };
  });
  return pack(pages, plane);
}

/** Joins the points of an object that are split over pages. */
function pack(pages: Pages, plane: Plane): PackedTracks {
  const parts = new Map<string, { readonly fromMs: number; readonly track: Track }[]>();
  let points = 0;
  for (const { fromMs, tracks } of pages) {
    for (const track of tracks) {
      const collected = parts.get(track.id);
      if (collected === undefined) parts.set(track.id, [{ fromMs, track }]);
      else collected.push({ fromMs, track });
      points += track.t.length;
    }
  }
  const placement = plane.kind === 'earth' ? undefined : georeferenceZone(plane.zone);
  const starts = new Uint32Array(parts.size + 1);
  const timeMs = new Float64Array(points);
  const x = new Float64Array(points);
  const y = new Float64Array(points);
  const floor = new Float32Array(points);
  let object = 0;
  let at = 0;
  for (const of of parts.values()) {
    starts[object++] = at;
    for (const { fromMs, track } of of) {
      for (let k = 0; k < track.t.length; k++) {
        const east = mapX(track.lon[k] ?? 0);
        const north = mapY(track.lat[k] ?? 0);
        const [px, py] = placement === undefined ? [east, north] : placement.fromMap([east, north]);
        timeMs[at] = fromMs + (track.t[k] ?? 0);
        x[at] = px;
        y[at] = py;
        floor[at++] = track.floor[k] ?? Number.NaN;
      }
    }
  }
  starts[object] = at;
  return { ids: [...parts.keys()], starts, timeMs, x, y, floor };
}
