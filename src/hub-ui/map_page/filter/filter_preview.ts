import { resolvedFilter } from '../../../core/tracking/filter_settings.ts';
import { type ReplayFigures, replayFilter } from '../../../core/tracking/replay_filter.ts';
import type { Filter } from '../../../model/filter.ts';
import { EARTH, fromMap, type MapPoint, toMap } from '../../map/plane/plane.ts';
import type { RawPoint } from './filter_track.ts';

/** Age of the oldest location of a preview. */
const PREVIEW_MS = 60_000;

/** Result of a filter with other settings on the locations of the last minute. */
export interface FilterPreview {
  /** Filtered positions, by tracks. */
  readonly paths: readonly (readonly MapPoint[])[];
  /** The rejected locations, with reason and distance. */
  readonly outliers: readonly RawPoint[];
  readonly locations: number;
  /** Of the provider with the most locations. */
  readonly figures: ReplayFigures | undefined;
}

/**
 * Replays raw locations with a filter, by the code of the hub: each provider by itself, or with `fuse` all together.
 * `metersPerUnit` converts distances on the map.
 */
export function previewOf(
  raw: readonly RawPoint[],
  filter: Filter,
  { nowMs, metersPerUnit }: { readonly nowMs: number; readonly metersPerUnit: number },
): FilterPreview {
  const settings = resolvedFilter([filter]);
  const recent = raw.filter(({ timeMs }) => timeMs >= nowMs - PREVIEW_MS);
  const tracks = Map.groupBy(recent, ({ providerId }) => (settings.fuse ? '' : providerId));
  const replays = [...tracks.values()].map((points) => {
    const { steps, figures } = replayFilter(points.map(sightingOf), settings);
    const path = steps.map(({ lon, lat }) => toMap(EARTH, [lon, lat]));
    const outliers = points.flatMap((point, i) => {
      const rejected = steps[i]?.rejected;
      if (rejected === undefined || rejected === 'late') return [];
      const [x, y] = path[i] as MapPoint;
      const meters = Math.hypot(point.at[0] - x, point.at[1] - y) * metersPerUnit;
      return [{ ...point, outlier: { reason: rejected, meters } }];
    });
    return { path, outliers, figures, locations: points.length };
  });
  const [longest] = replays.toSorted((one, other) => other.locations - one.locations);
  return {
    paths: replays.map(({ path }) => path),
    outliers: replays.flatMap(({ outliers }) => outliers),
    locations: recent.length,
    figures: longest?.figures,
  };
}

/** A location on the earth. The meters of a zone are taken as those of the map projection, whose unit is a meter at the equator. */
function sightingOf({ at, timeMs, accuracy, floor }: RawPoint) {
  const [lon, lat] = fromMap(EARTH, at);
  return { lon, lat, z: Number.NaN, isZFromEllipsoid: false, floor, accuracy: accuracy ?? Number.NaN, timeMs };
}
