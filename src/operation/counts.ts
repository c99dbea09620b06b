/** Counters of received values. Once all are processed, received = processed + outdated + rejected. */
export interface HubCounts {
  received: number;
  processed: number;
  outdated: number;
  rejected: number;
  /** Processed locations that a filter rejected. */
  outliers: number;
  entries: number;
  exits: number;
  motions: number;
  collisionsStarted: number;
  /** Events of continuing collisions. */
  collisionsColliding: number;
  collisionsEnded: number;
  workerRestarts: number;
}

export function newCounts(): HubCounts {
  return {
    received: 0,
    processed: 0,
    outdated: 0,
    rejected: 0,
    outliers: 0,
    entries: 0,
    exits: 0,
    motions: 0,
    collisionsStarted: 0,
    collisionsColliding: 0,
    collisionsEnded: 0,
    workerRestarts: 0,
  };
}
