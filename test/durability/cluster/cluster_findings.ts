/** Kinds of checks, in the order of a report. */
const COUNTED = [
  'locations acknowledged',
  'of these read at every hub, or a later one',
  'reads right after a 204, at another hub',
  'changes of entities answered',
  'of these read at once at another hub',
  'assignments changed',
  'entities compared at every hub',
  'memberships checked',
  'fence events received',
  'fence events while a hub stood still',
  'of acknowledged moves, received by lasting connections',
  'collision events received',
  'location updates received by lasting connections',
  'connections that were closed',
  'reads at a hub that was away',
  'of these behind',
  'starts that the release before refused',
  'seats that the previous release took again',
] as const;
type Counted = (typeof COUNTED)[number];

/** A fault, and how long locations of the affected objects waited. */
export interface Outage {
  readonly fault: string;
  /** The longest wait for a 204, in ms. */
  readonly tookMs: number;
  /** Number of partitions that the struck hub owned. */
  readonly partitions: number;
}

/** Partitions were handed over until all hubs owned equally many. */
export interface Spread {
  readonly tookMs: number;
  /** Longest time in ms from a location to its 204 during the fault. */
  readonly longestWaitMs: number;
}

/**
 * A violation. Lost: acknowledged and missing; doubled: delivered twice; missed: not delivered to a connected client;
 * repeated: a location processed twice; wrong: anything else.
 */
interface Problem {
  readonly is: 'lost' | 'doubled' | 'missed' | 'repeated' | 'wrong';
  readonly round: number;
  readonly what: string;
}

/** Observations of the clients of a cluster over all rounds. */
export class ClusterFindings {
  readonly counts = new Map<Counted, number>(COUNTED.map((what) => [what, 0]));
  readonly outages: Outage[] = [];
  readonly spreads: Spread[] = [];
  /** The current round. */
  round = 0;
  readonly problems: Problem[] = [];

  count(what: Counted, times = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + times);
  }

  /** Records a problem of the current round. */
  note(is: Problem['is'], what: string): void {
    this.problems.push({ is, round: this.round, what });
  }

  /** Number of problems of a kind. */
  of(kind: Problem['is']): number {
    return this.problems.filter(({ is }) => is === kind).length;
  }
}
