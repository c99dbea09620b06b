/** Returns numbers from 0 to below 1. */
type Random = () => number;

/**
 * Simulated track of a person with a UWB tag, in meters of a plane, with the true position of each fix: 10 fixes a
 * second with an error of 0.3 m per axis; straight walks at 1.5 m/s with turns between them, and stops; bursts of fixes
 * without line of sight, which are 2 to 5 m off; and gaps of 1 to 4 s.
 */

export const SIGMA_METERS = 0.3;
export const PERIOD_MS = 100;
const WALKING = 1.5;
/** A turn takes as long as a step or two. */
const TURN_RADIANS_PER_S = 2;
const [BURST_MEAN_MS, GAP_MEAN_MS] = [20_000, 60_000] as const;
const [BURST_MIN, BURST_MAX] = [1, 5] as const;

export interface TrueFix {
  readonly ms: number;
  /** As measured. */
  readonly east: number;
  readonly north: number;
  readonly trueEast: number;
  readonly trueNorth: number;
  /** True velocity in m/s. */
  readonly velocityEast: number;
  readonly velocityNorth: number;
  /** Number of the burst that the fix belongs to; -1 for none. */
  readonly burst: number;
}

/** Returns the fixes of a track of this length. */
export function uwbTrack(random: Random, lengthMs: number): TrueFix[] {
  const fixes: TrueFix[] = [];
  let [east, north, heading, wanted] = [0, 0, 2 * Math.PI * random(), 0];
  let [legEndsMs, isWalking] = [0, false];
  let [burstAtMs, gapAtMs] = [exponential(random, BURST_MEAN_MS), exponential(random, GAP_MEAN_MS)];
  let [bursts, left, offEast, offNorth, gapEndsMs] = [0, 0, 0, 0, 0];
  for (let ms = 0; ms < lengthMs; ms += PERIOD_MS) {
    if (ms >= legEndsMs) {
      isWalking = !isWalking;
      legEndsMs = ms + (isWalking ? 5000 + 10_000 * random() : 5000 + 15_000 * random());
      wanted = heading + (random() - 0.5) * 2 * Math.PI;
    } else if (isWalking && random() < 0.02) wanted = heading + (random() < 0.5 ? -1 : 1) * (Math.PI / 2);
    const seconds = PERIOD_MS / 1000;
    const turn = Math.max(-TURN_RADIANS_PER_S * seconds, Math.min(TURN_RADIANS_PER_S * seconds, wanted - heading));
    heading += turn;
    const speed = isWalking ? WALKING : 0;
    const [velocityEast, velocityNorth] = [speed * Math.sin(heading), speed * Math.cos(heading)];
    east += velocityEast * seconds;
    north += velocityNorth * seconds;
    if (ms >= gapAtMs) {
      gapEndsMs = ms + 1000 + 3000 * random();
      gapAtMs = gapEndsMs + exponential(random, GAP_MEAN_MS);
    }
    if (ms < gapEndsMs) continue;
    if (left > 0) left--;
    else if (ms >= burstAtMs) {
      left = BURST_MIN - 1 + Math.floor(random() * (BURST_MAX - BURST_MIN + 1));
      const [meters, angle] = [2 + 3 * random(), 2 * Math.PI * random()];
      [offEast, offNorth] = [meters * Math.sin(angle), meters * Math.cos(angle)];
      bursts++;
      burstAtMs = ms + exponential(random, BURST_MEAN_MS);
    } else [offEast, offNorth] = [0, 0];
    fixes.push({
      ms,
      east: east + offEast + SIGMA_METERS * normal(random),
      north: north + offNorth + SIGMA_METERS * normal(random),
      trueEast: east,
      trueNorth: north,
      velocityEast,
      velocityNorth,
      burst: offEast === 0 && offNorth === 0 ? -1 : bursts - 1,
    });
  }
  return fixes;
}

function exponential(random: Random, mean: number): number {
  return -mean * Math.log(1 - random());
}

/** Standard normal distribution (Box and Muller). */
function normal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}
