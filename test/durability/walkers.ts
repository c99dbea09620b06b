import { type Recorder, SocketClient } from '../support/socket_client.ts';
import type { Findings } from './findings.ts';
import { fenceOf, type HubProcess, locationOf } from './hub_process.ts';

/** Two fences with the same circle: one is exited only by moving out, and the other by silence as well. */
const STAY = '0c5c1b0e-54b5-4b64-8d5f-0b0a3d5a6f0a';
const SHORT = '0c5c1b0e-54b5-4b64-8d5f-0b0a3d5a6f0b';
const TIMEOUT_MS = 500;
/** Settings of the hub: overdue exits wait until the subscriber is connected again, even on a busy machine. */
export const RESTART_DELAY_MS = 2000;

const WALKERS = ['walker 0', 'walker 1', 'walker 2', 'walker 3', 'walker 4', 'walker 5'];
/** The first three walkers carry something. */
const CARTS = [10, 11, 12].map((number) => `0c5c1b0e-54b5-4b64-8d5f-0b0a3d5a60${number}`);
const RADIUS_DEGREES = 10 / 71_695.6;

/**
 * Objects that walk in and out of fences over many runs of a hub, and a subscriber that receives all their events.
 *
 * A visit is identified by fence, object and entry_time. Over all runs its entry and exit are published at most once.
 * Within a run entries and exits alternate, beginning with the members when the hub started. An object is a member of
 * the fence without a timeout if and only if its last location is inside.
 */
export class Walkers {
  readonly #received = new Set<string>();
  /** Pairs of fence and member according to the events of this run. */
  #inside = new Set<string>();
  #events: Recorder | undefined;
  #seen = 0;

  /** Creates the fences and the carried objects. */
  async configure(hub: HubProcess): Promise<void> {
    await hub.post('/fences', fenceOf(STAY));
    await hub.post('/fences', fenceOf(SHORT, { timeout: TIMEOUT_MS }));
    for (const [index, id] of CARTS.entries()) {
      await hub.post('/trackables', { id, type: 'omlox', location_providers: [WALKERS[index]] });
    }
  }

  /** Starts a new run: checks the members of the fences, and that each overdue exit is published once. */
  async arrive(hub: HubProcess, findings: Findings): Promise<void> {
    const socket = await SocketClient.open(`${hub.base.replace('http', 'ws')}/ws/socket`);
    this.#events = await socket.subscribe('fence_events');
    this.#seen = 0;
    const insideShort = await membersOf(hub, SHORT);
    const insideStay = await membersOf(hub, STAY);
    this.#inside = new Set([...insideStay.map((id) => `${STAY} ${id}`), ...insideShort.map((id) => `${SHORT} ${id}`)]);
    // Exits published between the subscription and the query belong to objects that were inside before.
    for (const { fence_id, event_type, ...event } of this.#events.events) {
      if (event_type === 'region_exit') this.#inside.add(`${fence_id} ${objectOf(event)}`);
    }
    await this.#checkMembers(hub, new Set(insideStay), findings);
    for (const id of insideShort) await this.#awaitExit(id, findings);
    this.look(findings);
    const { size } = new Set([...this.#inside].filter((pair) => pair.startsWith(SHORT)));
    if (size > 0) findings.wrong(`${size} objects have not left the fence with a timeout`);
  }

  /** Moves one walker repeatedly until the hub has exited. */
  async walk(hub: HubProcess, index: number, random: () => number): Promise<void> {
    const walker = WALKERS[index % WALKERS.length] ?? '';
    for (let lastMs = 0; ; ) {
      // A visit is identified by its entry_time: no two locations of a walker have equal milliseconds, or are ahead of
      // the clock.
      while (Date.now() <= lastMs) await new Promise((resolve) => setTimeout(resolve, 1));
      lastMs = Date.now();
      const isInside = random() < 0.5;
      const east = isInside ? random() * 8 : 100 + random() * 50;
      const location = locationOf(walker, east, { timestamp_generated: new Date(lastMs).toISOString() });
      const answered = await hub.put(`/providers/${encodeURIComponent(walker)}/location`, location);
      if (answered?.status !== 204) return;
    }
  }

  static get count(): number {
    return WALKERS.length;
  }

  /** Checks the events received since the previous call. At the end of a run all events have arrived. */
  look(findings: Findings): void {
    const events = this.#events?.events ?? [];
    for (const event of events.slice(this.#seen)) {
      const { event_type: type, fence_id: fence, entry_time: entry } = event;
      if (fence !== STAY && fence !== SHORT) continue;
      const pair = `${fence} ${objectOf(event)}`;
      const visit = `${type} ${pair} ${entry}`;
      findings.count(type === 'region_entry' ? 'entries published' : 'exits published');
      if (this.#received.has(visit)) findings.wrong(`published twice: ${visit}`);
      this.#received.add(visit);
      const isInside = this.#inside.has(pair);
      if (isInside === (type === 'region_entry')) findings.wrong(`not in turn: ${visit}`);
      if (type === 'region_entry') this.#inside.add(pair);
      else this.#inside.delete(pair);
    }
    this.#seen = events.length;
  }

  async #checkMembers(hub: HubProcess, members: ReadonlySet<string>, findings: Findings): Promise<void> {
    const locations = (await hub.get('/providers/locations'))?.body ?? [];
    const motions = (await hub.get('/trackables/motions'))?.body ?? [];
    const places = [
      ...locations.map((location: Place) => [location.provider_id, location] as const),
      ...motions.map(({ id, location }: { id: string; location: Place }) => [id, location] as const),
    ].filter(([id]) => WALKERS.includes(id) || CARTS.includes(id));
    for (const [id, { position }] of places) {
      const isInside = Math.abs((position.coordinates[0] ?? 0) - 9) <= RADIUS_DEGREES;
      findings.count('memberships checked');
      if (members.has(id) !== isInside)
        findings.wrong(`${id} is ${isInside ? 'inside and no' : 'outside and a'} member`);
    }
  }

  async #awaitExit(id: string, findings: Findings): Promise<void> {
    const isExit = (event: FenceEvent) =>
      event.event_type === 'region_exit' && event.fence_id === SHORT && objectOf(event) === id;
    findings.count('exits due over a restart');
    try {
      await this.#events?.next(isExit);
      findings.count('of these published once');
    } catch {
      findings.wrong(`the overdue exit of ${id} was not published`);
    }
  }
}

interface Place {
  readonly provider_id: string;
  readonly position: { readonly coordinates: readonly number[] };
}

interface FenceEvent {
  readonly event_type?: string;
  readonly fence_id?: string;
  readonly trackable_id?: string | null;
  readonly provider_id?: string | null;
}

function objectOf({ trackable_id, provider_id }: FenceEvent): string {
  return trackable_id ?? provider_id ?? '';
}

async function membersOf(hub: HubProcess, fence: string): Promise<string[]> {
  const lists = await Promise.all(['providers', 'trackables'].map((kind) => hub.get(`/fences/${fence}/${kind}`)));
  return lists.flatMap((list) => (list?.body ?? []).map(({ id }: { id: string }) => id));
}
