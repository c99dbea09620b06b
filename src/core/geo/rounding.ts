/**
 * For coordinates that the hub has computed itself, so that their texts carry no digits without meaning. What a client
 * sent is never rounded.
 */

/** To a billionth of a degree: 0.1 mm on the ground. */
export function roundDegrees(degrees: number): number {
  // Adding 0 turns -0 into 0.
  return Math.round(degrees * 1e9) / 1e9 + 0;
}

/** To a tenth of a millimetre, the precision of the rounded degrees. */
export function roundMetres(metres: number): number {
  return Math.round(metres * 1e4) / 1e4 + 0;
}
