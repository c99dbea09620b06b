import type { PlaneFilter } from './filters.ts';
import type { TrueFix } from './uwb_track.ts';

/** Figures of a filter over some tracks. */
export interface Figures {
  /** Root mean square of the distance to the true position, in meters, of fixes with line of sight. */
  readonly standing_rmse_m: number;
  readonly walking_rmse_m: number;
  /** The same of all fixes. */
  readonly rmse_m: number;
  /** Mean time by which the position is behind a person who walks straight. */
  readonly lag_ms: number;
  /** Share of bursts of which no fix was accepted. */
  readonly bursts_gated: number;
  /** Tracks more than LOST_METERS off for more than LOST_MS. */
  readonly tracks_lost: number;
  /** Exits per hour of standing inside a fence, EDGE_METERS from its edge. */
  readonly false_exits_per_h: number;
}

const [LOST_METERS, LOST_MS, EDGE_METERS] = [5, 5000, 0.5] as const;
/** Fixes in this time after a change of movement count neither as standing nor as walking straight. */
const SETTLING_MS = 2000;

/** Measures a filter, which is made for each track. */
export function figuresOf(tracks: readonly (readonly TrueFix[])[], make: () => PlaneFilter): Figures {
  const [standing, walking, all, lag] = [new Mean(), new Mean(), new Mean(), new Mean()];
  let [lost, exits, standingMs, bursts, gated] = [0, 0, 0, 0, 0];
  for (const fixes of tracks) {
    const filter = make();
    const accepted = new Map<number, boolean>();
    let [offSinceMs, isLost, isInside, steadyFromMs] = [-1, false, true, 0];
    fixes.forEach((fix, i) => {
      const { east, north, isAccepted } = filter(fix);
      const [offEast, offNorth] = [east - fix.trueEast, north - fix.trueNorth];
      const squared = offEast ** 2 + offNorth ** 2;
      const before = fixes[i - 1] ?? fix;
      if (before.velocityEast !== fix.velocityEast || before.velocityNorth !== fix.velocityNorth) steadyFromMs = fix.ms;
      const isSteady = fix.ms - steadyFromMs >= SETTLING_MS;
      const speed = Math.hypot(fix.velocityEast, fix.velocityNorth);
      all.add(squared);
      if (fix.burst < 0 && speed > 0) walking.add(squared);
      if (fix.burst < 0 && speed === 0 && isSteady) standing.add(squared);
      if (fix.burst < 0 && speed > 0 && isSteady) {
        lag.add((-(offEast * fix.velocityEast + offNorth * fix.velocityNorth) / speed ** 2) * 1000);
      }
      if (fix.burst >= 0) accepted.set(fix.burst, (accepted.get(fix.burst) ?? false) || isAccepted);
      if (squared <= LOST_METERS ** 2) offSinceMs = -1;
      else if (offSinceMs < 0) offSinceMs = fix.ms;
      else if (fix.ms - offSinceMs > LOST_MS) isLost = true;
      // The edge is to the north of where the person stands.
      const isStanding = speed === 0 && isSteady;
      if (isStanding) standingMs += Math.min(fix.ms - before.ms, 1000);
      if (isStanding && isInside && offNorth > EDGE_METERS) exits++;
      isInside = !isStanding || offNorth <= EDGE_METERS;
    });
    if (isLost) lost++;
    bursts += accepted.size;
    gated += [...accepted.values()].filter((isAccepted) => !isAccepted).length;
  }
  return {
    standing_rmse_m: Math.sqrt(standing.value),
    walking_rmse_m: Math.sqrt(walking.value),
    rmse_m: Math.sqrt(all.value),
    lag_ms: lag.value,
    bursts_gated: gated / bursts,
    tracks_lost: lost,
    false_exits_per_h: exits / (standingMs / 3_600_000),
  };
}

class Mean {
  #sum = 0;
  #count = 0;

  add(value: number): void {
    this.#sum += value;
    this.#count++;
  }

  get value(): number {
    return this.#sum / this.#count;
  }
}
