import { resolvedFilter } from '../../../src/core/tracking/filter_settings.ts';
import { type Sighting, start, step, type Verdict } from '../../../src/core/tracking/filter.ts';
import { MovingPlane } from '../../../src/core/tracking/moving_plane.ts';
import { emptyTrack, LAT, LON, type Track } from '../../../src/core/tracking/track.ts';
import type { Dice } from '../../support/dice.ts';

/** A fix in meters of a plane that is tangent at the start. */
export interface PlaneFix {
  readonly ms: number;
  readonly east: number;
  readonly north: number;
  readonly accuracy: number;
  readonly z?: number;
  readonly floor?: number;
  readonly isZFromEllipsoid?: boolean;
}

export const CV = resolvedFilter([{ kind: 'cv' }]);

/** Returns a fix as a sighting, in the plane that is tangent at `origin`. */
export function sightingAt([lon, lat]: readonly [number, number], fix: PlaneFix): Sighting {
  const plane = new MovingPlane();
  plane.touch(lon, lat);
  plane.toEarth(fix.east, fix.north);
  const { z = Number.NaN, floor = 0, isZFromEllipsoid = false, accuracy } = fix;
  return { lon: plane.position[0], lat: plane.position[1], z, floor, isZFromEllipsoid, accuracy };
}

/** Returns the position of a track in meters of the plane that is tangent at `origin`. */
export function metersOf([lon, lat]: readonly [number, number], track: Track): [east: number, north: number] {
  const plane = new MovingPlane();
  plane.touch(lon, lat);
  plane.measure(track[LON] as number, track[LAT] as number);
  return [plane.east, plane.north];
}

/** Filters fixes from the first one. Calls `seen` with the track after each. */
export function filterAll(
  fixes: readonly PlaneFix[],
  seen: (track: Track, verdict: Verdict, index: number) => void,
  { settings = CV, origin = [0, 0] as readonly [number, number] } = {},
): Track {
  const track = emptyTrack();
  fixes.forEach((fix, index) => {
    const sighting = sightingAt(origin, fix);
    const before = fixes[index - 1];
    if (before === undefined) {
      start(track, sighting, settings);
      seen(track, 'started', index);
    } else seen(track, step(track, sighting, fix.ms - before.ms, settings), index);
  });
  return track;
}

/** Returns a random number with standard normal distribution (Box and Muller). */
export function normal(dice: Dice): number {
  const [u, v] = [(dice(1 << 30) + 1) / (1 << 30), dice(1 << 30) / (1 << 30)] as const;
  return Math.sqrt(-2 * Math.log(u)) * Math.cos(2 * Math.PI * v);
}

/** Returns a random walk at up to 2 m/s with pauses, turns, gaps, equal times, and jumps if `jumps` is set. */
export function randomFixes(dice: Dice, { count = 120, jumps = false } = {}): PlaneFix[] {
  const fixes: PlaneFix[] = [];
  let [ms, east, north, heading, speed] = [0, dice(100) - 50, dice(100) - 50, dice(628) / 100, 1.5];
  for (let i = 0; i < count; i++) {
    const elapsed = dice(10) === 0 ? 0 : dice(20) === 0 ? 1000 + dice(3000) : 50 + dice(200);
    ms += elapsed;
    if (dice(10) === 0) [heading, speed] = [dice(628) / 100, dice(20) / 10];
    east += (Math.sin(heading) * speed * elapsed) / 1000;
    north += (Math.cos(heading) * speed * elapsed) / 1000;
    const accuracy = 0.1 + dice(20) / 10;
    const jump = jumps && dice(15) === 0 ? 20 + dice(40) : 0;
    fixes.push({ ms, east: east + jump + accuracy * normal(dice), north: north + accuracy * normal(dice), accuracy });
  }
  return fixes;
}
