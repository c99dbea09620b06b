/** In the order of a report. */
const COUNTED = [
  'locations acknowledged',
  'of these read at every hub, or a later one',
  'reads right after a 204, at another hub',
  'changes of entities answered',
  'of these read at once at another hub',
  'entities compared at every hub',
  'memberships checked',
  'fence events told',
  'of acknowledged moves, told to who stayed',
  'collision events told',
  'location updates told to who stayed',
  'connections that were closed',
] as const;
type Counted = (typeof COUNTED)[number];

/** What a fault was, and how long it took until a location was acknowledged again. */
export interface Outage {
  readonly fault: string;
  /** From the fault until the first 204, in ms. */
  readonly tookMs: number;
}

/** What the clients of a cluster have seen over all rounds. */
export class ClusterFindings {
  readonly counts = new Map<Counted, number>(COUNTED.map((what) => [what, 0]));
  readonly outages: Outage[] = [];
  /** What was acknowledged and is not there, and events that somebody has missed. */
  readonly lost: string[] = [];
  /** What was told twice, or out of turn. */
  readonly doubled: string[] = [];
  /** Anything else that must not be. */
  readonly wrong: string[] = [];

  count(what: Counted, times = 1): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + times);
  }

  get isClean(): boolean {
    return this.lost.length + this.doubled.length + this.wrong.length === 0;
  }
}
