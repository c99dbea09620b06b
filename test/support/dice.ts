/** A number from 0 to below `below`, whole. */
export type Dice = (below: number) => number;

/** A repeatable sequence of dice (xorshift). */
export function diceOf(seed: number): Dice {
  let state = seed * 2_654_435_769 + 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}
