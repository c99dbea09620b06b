import { distanceAndBearing } from '../geo/geodesic.ts';
import { ringCovers } from '../geo/rings.ts';
import type { Region } from './fence_index.ts';
import { type Height, type Vertical, verticalGapMeters } from './vertical.ts';

/** A position on the earth, with its floor and height. */
export interface UntrackedPosition extends Height {
  readonly lon: number;
  readonly lat: number;
}

/** A fence, whose region is undefined if it is not untracked. */
interface UntrackedFence {
  readonly id: string;
  readonly untracked: Region | undefined;
  readonly vertical: Vertical;
}

/** A position as sent and, with a track, as filtered: see Fix. */
interface LocatedFix extends Omit<UntrackedPosition, 'levelMeters'> {
  readonly zone: { readonly wgs84_height?: number | null } | undefined;
  readonly hasTrack: boolean;
  readonly filteredLon: number;
  readonly filteredLat: number;
  readonly filteredFloor: number;
  readonly filteredZ: number | undefined;
  readonly filteredElevationRef: string;
}

const measured: [meters: number, bearing: number] = [0, 0];

/**
 * The regions of fences with `untracked`. This is the one rule about them: no object has a location at a position that
 * one of them covers. The core removes the location of such an object, so nothing publishes, records or finds it. The main
 * thread does not publish proximities of a zone at such a position.
 */
export class UntrackedRegions {
  readonly #fences = new Map<string, UntrackedFence>();

  /** Number of regions. */
  get size(): number {
    return this.#fences.size;
  }

  /** Adds, replaces or removes the region of a fence. */
  set({ id, untracked, vertical }: UntrackedFence): void {
    if (untracked === undefined) this.#fences.delete(id);
    else this.#fences.set(id, { id, untracked, vertical });
  }

  delete(id: string): void {
    this.#fences.delete(id);
  }

  /** Whether a region covers the position. Tolerances and delays of the fences have no effect. */
  cover(position: UntrackedPosition): boolean {
    for (const { untracked, vertical } of this.#fences.values()) {
      if (untracked !== undefined && verticalGapMeters(vertical, position) === 0 && isIn(untracked, position))
        return true;
    }
    return false;
  }

  /** Whether a region covers the position of a fix, as sent or filtered. */
  // hot
  coverFix(fix: LocatedFix): boolean {
    if (this.#fences.size === 0) return false;
    const levelMeters = fix.zone?.wgs84_height ?? undefined;
    const { lon, lat, floor, z, elevationRef } = fix;
    if (this.cover({ lon, lat, floor, z, elevationRef, levelMeters })) return true;
    if (!fix.hasTrack) return false;
    return this.cover({
      lon: fix.filteredLon,
      lat: fix.filteredLat,
      floor: fix.filteredFloor,
      z: fix.filteredZ,
      elevationRef: fix.filteredElevationRef,
      levelMeters,
    });
  }
}

function isIn(region: Region, { lon, lat }: UntrackedPosition): boolean {
  if (region.kind === 'circle') {
    distanceAndBearing(region.lon, region.lat, lon, lat, measured);
    return measured[0] <= region.radiusMeters;
  }
  if (region.kind === 'line') return false;
  return region.rings.every((ring, i) => ringCovers(ring, { lon, lat }) === (i === 0));
}
