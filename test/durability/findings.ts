/** Kinds of checks, in the order of a report. */
const COUNTED = [
  'kills with db_fast_writes true',
  'kills with db_fast_writes false',
  'orderly stops',
  'entities acknowledged',
  'deletions acknowledged',
  'of these found as acknowledged',
  'last locations that must be there',
  'of these found, or a later one',
  'memberships checked',
  'entries published',
  'exits published',
  'exits due over a restart',
  'of these published once',
  'collisions published',
  'ends of collisions published',
  'pairs that parked over a restart',
  'of these ended once',
] as const;
type Counted = (typeof COUNTED)[number];

/** Number of checks by kind, and the failures. */
export class Findings {
  readonly counts = new Map<Counted, number>(COUNTED.map((what) => [what, 0]));
  readonly wrongs: string[] = [];

  count(what: Counted): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  wrong(what: string): void {
    this.wrongs.push(what);
  }
}
