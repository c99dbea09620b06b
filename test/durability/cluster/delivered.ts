import type { Event } from '../../support/socket_client.ts';
import type { ClusterFindings } from './cluster_findings.ts';
import { type Expected, type Movers, PAIR_IDS } from './movers.ts';
import type { Watch } from './watch.ts';

/** Time within which every client receives the acknowledged changes. */
const EVERYWHERE_MS = 8000;
/** Number of preceding events of an object and a fence that a report of an event out of order includes. */
const TURNS_SHOWN = 6;
/** Events that arrive so early on a connection may have been published before it was open. */
const SETTLED_MS = 2000;

/**
 * Compares the events of connections with each other and with the acknowledged moves:
 *
 *   each connection      no event twice; entries and exits of an object and a fence alternate, as do starts and ends of
 *                        collisions of a pair
 *   all connections      one visit has one id on every connection
 *   permanent ones       receive the events of all acknowledged moves, each update once, and all events of the others
 */
export class DeliveredEvents {
  readonly #findings: ClusterFindings;
  /** Ids of events, by their subject. */
  readonly #ids = new Map<string, string>();
  readonly #seen = new Map<Watch, Seen>();

  constructor(findings: ClusterFindings) {
    this.#findings = findings;
  }

  /** Checks the events received in a round, after the load has stopped. */
  async look(watches: readonly Watch[], movers: Movers): Promise<void> {
    const expected = movers.take();
    for (const watch of watches) await this.#lookAt(watch, expected);
    await this.#compare(watches);
    for (const [watch, seen] of this.#seen) {
      if (watch.isOpen) seen.fresh.length = 0;
      else this.#seen.delete(watch);
    }
  }

  async #lookAt(watch: Watch, { events, updates }: ReturnType<Movers['take']>): Promise<void> {
    const seen = this.#seenBy(watch);
    this.#take(watch, seen);
    if (!watch.isOpen) return this.#findings.count('connections that were closed');
    const wanted = [
      [events, seen.keys, 'of acknowledged moves, received by lasting connections'],
      [updates, seen.updates, 'location updates received by lasting connections'],
    ] as const;
    const untilMs = performance.now() + EVERYWHERE_MS;
    for (const [all, had, what] of wanted) {
      const due = all.filter(({ fromMs }) => fromMs > watch.sinceMs);
      const missing = (): Expected[] => due.filter(({ key }) => !had.has(key));
      while (missing().length > 0 && watch.isOpen && performance.now() < untilMs) {
        await watch.more(untilMs - performance.now());
        this.#take(watch, seen);
      }
      if (!watch.isOpen) return;
      this.#findings.count(what, due.length - missing().length);
      for (const { key } of missing()) this.#findings.note('missed', `not published at hub ${watch.seat.name}: ${key}`);
    }
    // All pairs have separated at the end of a round.
    const colliding = (): string[] => PAIR_IDS.filter((pair) => seen.turns.get(pair)?.type === 'collision_start');
    while (colliding().length > 0 && watch.isOpen && performance.now() < untilMs) {
      await watch.more(untilMs - performance.now());
      this.#take(watch, seen);
    }
    for (const pair of watch.isOpen ? colliding() : []) {
      this.#findings.note('missed', `not published at hub ${watch.seat.name}: the end of a collision of ${pair}`);
    }
  }

  #take(watch: Watch, seen: Seen): void {
    const { arrived, seat } = watch;
    const at = `at hub ${seat.name}`;
    for (const { event, atMs } of arrived.fence_events.splice(0)) {
      this.#findings.count('fence events received');
      const { id, event_type: type, fence_id: fence, entry_time: entry } = event;
      const object = event.trackable_id ?? event.provider_id;
      const visit = `${type} ${fence} ${object} ${entry}`;
      if (seen.ids.has(id)) this.#findings.note('doubled', `published twice ${at}: ${visit}, ${id}`);
      seen.ids.add(id);
      const before = this.#ids.get(visit);
      if (before !== undefined && before !== id) {
        this.#findings.note('repeated', `${at} ${visit} is ${id}, was ${before}`);
      }
      this.#ids.set(visit, id);
      const time = type === 'region_entry' ? `entry ${entry}` : `exit ${event.exit_time}`;
      seen.keys.add(`${type} ${fence} ${object} ${time}`);
      this.#takeTurn(seen, { of: `${fence} ${object}`, type, since: entry, what: `${visit} ${at}` });
      seen.fresh.push({ id, atMs, visit });
    }
    for (const { event } of arrived.location_updates.splice(0)) {
      const key = `${event.provider_id} ${event.timestamp_generated}`;
      if (seen.updates.has(key)) this.#findings.note('repeated', `published twice ${at}: the location ${key}`);
      seen.updates.add(key);
    }
    for (const { event } of arrived.collision_events.splice(0)) this.#takeCollision(seen, event, at);
  }

  #takeCollision(seen: Seen, event: Event, at: string): void {
    const { collision_type: type, start_time: since } = event;
    const pair = PAIR_IDS.find((drives) => event.collisions.some(({ id }: Event) => id === drives));
    if (pair === undefined) return;
    this.#findings.count('collision events received');
    if (type === 'colliding') return;
    this.#takeTurn(seen, { of: pair, type, since, what: `${type} ${pair} since ${since} ${at}` });
  }

  /**
   * The first event of a connection may be either. One out of order was delivered twice, or an event in between was
   * missed.
   */
  #takeTurn(seen: Seen, { of, type, since, what }: Turn): void {
    const before = seen.turns.get(of);
    const last = [...(before?.last ?? []).slice(1 - TURNS_SHOWN), `${type} ${since}`];
    if (before?.type === type) {
      const where = `out of turn: ${what}, after ${before.last.join(', ')}`;
      this.#findings.note(before.since === since ? 'doubled' : 'missed', where);
    }
    seen.turns.set(of, { type, since, last });
  }

  /** A client that was connected all the time must receive everything that any other client receives. */
  async #compare(watches: readonly Watch[]): Promise<void> {
    const untilMs = performance.now() + EVERYWHERE_MS;
    // The load has stopped, but visits still end by silence.
    for (const watch of watches) this.#take(watch, this.#seenBy(watch));
    for (const stayed of watches) {
      const had = this.#seenBy(stayed).ids;
      const others = watches.filter((other) => other !== stayed);
      const due = others.flatMap((other) =>
        this.#seenBy(other).fresh.map((event) => ({ ...event, by: other.seat.name })),
      );
      const missing = (): typeof due => {
        return due.filter(({ id, atMs }) => atMs >= stayed.sinceMs + SETTLED_MS && !had.has(id));
      };
      while (missing().length > 0 && stayed.isOpen && performance.now() < untilMs) {
        await stayed.more(untilMs - performance.now());
        this.#take(stayed, this.#seenBy(stayed));
      }
      for (const { id, visit, by } of stayed.isOpen ? missing() : []) {
        this.#findings.note('missed', `published at hub ${by}, not at hub ${stayed.seat.name}: ${visit}, ${id}`);
      }
    }
  }

  #seenBy(watch: Watch): Seen {
    const found = this.#seen.get(watch);
    if (found !== undefined) return found;
    const seen: Seen = { ids: new Set(), keys: new Set(), updates: new Set(), turns: new Map(), fresh: [] };
    this.#seen.set(watch, seen);
    return seen;
  }
}

interface Turn {
  /** Object and fence, or pair. */
  readonly of: string;
  readonly type: string;
  /** Identity of a visit, or of a collision. */
  readonly since: string;
  readonly what: string;
}

/** Events of one connection. */
interface Seen {
  readonly ids: Set<string>;
  readonly keys: Set<string>;
  readonly updates: Set<string>;
  /** Type of the last event, by fence and object, or by pair. */
  readonly turns: Map<string, Pick<Turn, 'type' | 'since'> & { readonly last: readonly string[] }>;
  /** Fence events of this round. */
  readonly fresh: { readonly id: string; readonly atMs: number; readonly visit: string }[];
}
