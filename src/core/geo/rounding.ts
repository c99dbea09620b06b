/**
 * Rounding for coordinates that the hub computes, so that their JSON contains no meaningless digits. Values sent by
 * clients are never rounded.
 */

/** Rounds to a billionth of a degree: 0.1 mm on the ground. */
export function roundDegrees(degrees: number): number {
  // Adding 0 turns -0 into 0.
  return Math.round(degrees * 1e9) / 1e9 + 0;
}

/** Rounds to a tenth of a millimeter, the precision of the rounded degrees. */
export function roundMeters(meters: number): number {
  return Math.round(meters * 1e4) / 1e4 + 0;
}
