import { type Cluster, type Outcome, simulateCluster } from './simulation.ts';

/** The p99 of a 204 that is bearable. */
const P99_MS = 50;
/** What comes in must go out again: a queue that grows slowly is not seen by its p99. */
const THROUGH = 0.98;
const [LEAST, MOST] = [8000, 1_000_000];
const STEPS = 8;

/** What a cluster does at the most that goes through it with a bearable p99, to some hundredths. */
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
