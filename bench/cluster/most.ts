import { type Cluster, type Outcome, simulateCluster } from './simulation.ts';

/** Maximum acceptable p99 of a 204. */
const P99_MS = 50;
/** Minimum share of incoming bodies that are answered: the p99 does not reveal a slowly growing queue. */
const THROUGH = 0.98;
const [LEAST, MOST] = [8000, 1_000_000];
const STEPS = 8;

/** Result at the maximum load with an acceptable p99, accurate to a few percent. */
export function mostOf(cluster: Omit<Cluster, 'perHub'>): Outcome {
  let [low, high] = [LEAST, MOST];
  let best = simulateCluster({ ...cluster, perHub: low });
  for (let step = 0; step < STEPS; step++) {
    const perHub = Math.sqrt(low * high);
    const found = simulateCluster({ ...cluster, perHub });
    if (found.p99Ms < P99_MS && found.through > THROUGH) [low, best] = [perHub, found];
    else high = perHub;
  }
  return best;
}
