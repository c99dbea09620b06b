/**
 * The next number of a sequence that its seed fixes, in [0, 1), and the seed of the one after it. The generator is
 * Mulberry32 by Tommy Ettinger: small, fast and even enough for a simulation.
 */
export function draw(seed: number): { value: number; seed: number } {
  const next = (seed + 0x6d2b79f5) | 0;
  let mixed = Math.imul(next ^ (next >>> 15), next | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return { value: ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296, seed: next };
}
