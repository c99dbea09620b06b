/** Returns a random integer from 0 to `below` - 1. */
export type Dice = (below: number) => number;

/** Creates a seeded pseudorandom generator (xorshift), so that sequences are repeatable. */
export function diceOf(seed: number): Dice {
  let state = seed * 2_654_435_769 + 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}
