/** Seeded pseudorandom numbers from 0 to below 1. A linear congruential generator is fast and sufficient. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
