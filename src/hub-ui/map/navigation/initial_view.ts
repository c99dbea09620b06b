import { createEmpty, extend, isEmpty } from 'ol/extent.js';
import type OlMap from 'ol/Map.js';
import type { Fence } from '../../../model/fence.ts';
import type { Zone } from '../../../model/zone.ts';
import type { MovingObjects } from '../objects/moving_objects.ts';
import type { Plane } from '../plane/plane.ts';
import { fenceFeature, zoneFeature } from '../site/features.ts';
import { isWallFromUrl, pastFromUrl } from '../view/map_url.ts';
import { moveView } from '../view/move_view.ts';

/** Visible contents of a plane. */
export interface ViewContents {
  readonly zones: readonly Zone[];
  readonly fences: readonly Fence[];
  readonly objects: readonly (MovingObjects | undefined)[];
}

/** Fits the view to everything with a position; returns false if there is nothing. */
export function fitEverything(map: OlMap, plane: Plane, { zones, fences, objects }: ViewContents): boolean {
  const extent = createEmpty();
  const features = [
    ...zones.flatMap((zone) => zoneFeature(zone, plane) ?? []),
    ...fences.flatMap((fence) => fenceFeature(fence, plane) ?? []),
  ];
  for (const feature of features) extend(extent, feature.getGeometry()?.getExtent() ?? []);
  if (features.length === 0) {
    for (const moving of objects) {
      for (let i = 0; moving !== undefined && i < moving.count; i++) {
        const [x = 0, y = 0] = [moving.x[i], moving.y[i]];
        extend(extent, [x, y, x, y]);
      }
    }
  }
  return fitExtent(map, extent);
}

/** Fits the view to an extent with padding; returns false if it is empty or the map has no size yet. */
export function fitExtent(map: OlMap, extent: number[]): boolean {
  const [west = 0, , east = 0] = extent;
  if (isEmpty(extent) && !(Number.isFinite(west) && west === east)) return false;
  const size = map.getSize();
  if (size === undefined) return false;
  const isNarrow = (size[0] ?? 0) < 720;
  // The time bar is at the bottom.
  const bottom = pastFromUrl() === undefined ? 0 : 112;
  const view = map.getView();
  // Space of an open panel, which the view keeps free by itself.
  const [top = 0, right = 0, below = 0, side = 0] = view.padding ?? [];
  const free = [(size[0] ?? 0) - right - side, (size[1] ?? 0) - top - below];
  const padding = isWallFromUrl()
    ? wallPadding(size)
    : isNarrow
      ? top + below > 0
        ? [12, 24, 12, 24]
        : [72, 64, 64 + bottom, 24]
      : [72, right > 0 ? 16 : 72, 56 + bottom, 40];
  view.cancelAnimations();
  view.fit(extent, { size: free, padding, maxZoom: 22, minResolution: 0.02 });
  return true;
}

/** Padding next to the column of the wall view, or between its two halves on a narrow screen. */
function wallPadding([width = 0, height = 0]: readonly number[]): number[] {
  if (width <= 720) return [140, 24, height * 0.38 + 24, 24];
  return [32, Math.min(480, Math.max(270, width * 0.24)) + 48, 32, 32];
}

/** Map units per pixel at which the members of a cluster are far enough apart. */
const RESOLUTION_MIN = 0.05;

/** Zooms in until the members of a cluster fill the map, by at least one level. */
export function goIntoCluster(map: OlMap, [left = 0, bottom = 0, right = 0, top = 0]: readonly number[]): void {
  const view = map.getView();
  const [width = 1, height = 1] = map.getSize() ?? [];
  const fitting = 1.5 * Math.max((right - left) / width, (top - bottom) / height);
  const now = view.getResolution() ?? 1;
  const resolution = Math.min(Math.max(fitting, RESOLUTION_MIN), now / 2);
  moveView(view, { center: [(left + right) / 2, (bottom + top) / 2], resolution });
}
