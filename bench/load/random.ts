/** Numbers from 0 to below 1, the same for the same seed. A linear congruential generator: cheap, and good enough. */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
