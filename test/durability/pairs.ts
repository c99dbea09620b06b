import { type Event, type Recorder, SocketClient } from '../support/socket_client.ts';
import type { Findings } from './findings.ts';
import { type HubProcess, locationOf } from './hub_process.ts';

/** Distance in meters to the east of all other objects. */
const FAR = 100_000;

/** Two trackables with a radius of 1 m: one is stationary, and the other drives into it and away. */
interface Pair {
  readonly stays: string;
  readonly drives: string;
  readonly east: number;
  /** Start time of their collision according to the published events. */
  since: string | undefined;
  /** Time of the location with which they touch until the hub has exited: the start time of that collision. */
  parkedAt: string | undefined;
}

const PAIRS = 4;
const APART = 10;

/**
 * Pairs of trackables that collide and separate over many runs of a hub, and are parked touching when it exits, and a
 * subscriber that receives all their events.
 *
 * A collision is identified by its pair and start_time. Over all runs its start and end are published at most once. One
 * whose pair has parked, and whose start the subscriber has received, continues in the next run without a start, and ends
 * when the pair separates. A crash may lose the last locations, and events on the way to the subscriber.
 */
export class Pairs {
  readonly #pairs = Array.from({ length: PAIRS }, (_, index): Pair => {
    const id = (which: number) => `0c5c1b0e-54b5-4b64-8d5f-0b0a3d5a7${which}0${index}`;
    return { stays: id(0), drives: id(1), east: FAR + 100 * index, since: undefined, parkedAt: undefined };
  });
  readonly #received = new Set<string>();
  #events: Recorder | undefined;
  #seen = 0;
  #lastMs = 0;

  async configure(hub: HubProcess): Promise<void> {
    for (const { stays, drives } of this.#pairs) {
      for (const id of [stays, drives]) {
        await hub.post('/trackables', { id, type: 'omlox', location_providers: [id], radius: 1 });
      }
    }
  }

  /** Starts a new run: parked collisions continue, and every pair separates. */
  async arrive(hub: HubProcess, findings: Findings): Promise<void> {
    const socket = await SocketClient.open(`${hub.base.replace('http', 'ws')}/ws/socket`);
    this.#events = await socket.subscribe('collision_events');
    this.#seen = 0;
    for (const pair of this.#pairs) await this.#part(hub, pair, findings);
    this.look(findings);
  }

  /** One pair collides and separates repeatedly until the hub has exited, or parks touching. */
  async drive(hub: HubProcess, index: number, random: () => number): Promise<void> {
    const pair = this.#pairs[index] as Pair;
    for (;;) {
      const isLast = random() < 0.4;
      const at = await this.#move(hub, pair.drives, pair.east + random());
      if (at === undefined) return;
      if (isLast) pair.parkedAt = at;
      while (isLast || random() < 0.5) {
        const [id, east] = random() < 0.5 ? [pair.stays, pair.east] : [pair.drives, pair.east + random()];
        if ((await this.#move(hub, id, east)) === undefined) return;
      }
      if ((await this.#move(hub, pair.drives, pair.east + APART)) === undefined) return;
    }
  }

  static get count(): number {
    return PAIRS;
  }

  /** Checks the events received since the previous call. At the end of a run all events have arrived. */
  look(findings: Findings): void {
    const events = this.#events?.events ?? [];
    for (const event of events.slice(this.#seen)) this.#lookAt(event, findings);
    this.#seen = events.length;
  }

  async #part(hub: HubProcess, pair: Pair, findings: Findings): Promise<void> {
    const { parkedAt, since } = pair;
    pair.parkedAt = undefined;
    const hasContinued = since !== undefined && since === parkedAt;
    // The events after the last one received are unknown.
    if (!hasContinued) pair.since = undefined;
    const isOfPair = (event: Event) => this.#pairOf(event) === pair;
    await this.#move(hub, pair.stays, pair.east);
    await this.#move(hub, pair.drives, pair.east + 0.5);
    const first = await this.#events?.next((event) => isOfPair(event) && event.collision_type !== 'collision_end');
    await this.#move(hub, pair.drives, pair.east + APART);
    const last = await this.#events?.next((event) => isOfPair(event) && event.collision_type === 'collision_end');
    if (!hasContinued) return;
    findings.count('pairs that parked over a restart');
    const { collision_type: type, start_time: from } = first;
    if (type === 'colliding' && from === since && last.start_time === since) findings.count('of these ended once');
    else findings.wrong(`${pair.drives} collides since ${since}, published was ${type} since ${from}`);
  }

  #lookAt(event: Event, findings: Findings): void {
    const { collision_type: type, start_time: since } = event;
    const pair = this.#pairOf(event);
    if (pair === undefined) return;
    if (type === 'colliding') {
      if (pair.since !== undefined && pair.since !== since) findings.wrong(`${pair.drives} collides since ${since}`);
      return;
    }
    const visit = `${type} ${pair.drives} ${since}`;
    findings.count(type === 'collision_start' ? 'collisions published' : 'ends of collisions published');
    if (this.#received.has(visit)) findings.wrong(`published twice: ${visit}`);
    this.#received.add(visit);
    pair.since = type === 'collision_start' ? since : undefined;
  }

  #pairOf({ collisions }: Event): Pair | undefined {
    return this.#pairs.find(({ drives }) => collisions.some(({ id }: Event) => id === drives));
  }

  /** Returns the time of the location; undefined if the hub has exited. */
  async #move(hub: HubProcess, id: string, east: number): Promise<string | undefined> {
    // A collision is identified by its start_time: no two locations have equal milliseconds, or are ahead of the clock.
    while (Date.now() <= this.#lastMs) await new Promise((resolve) => setTimeout(resolve, 1));
    this.#lastMs = Date.now();
    const at = new Date(this.#lastMs).toISOString();
    const location = locationOf(id, east, { timestamp_generated: at });
    return (await hub.put(`/providers/${id}/location`, location))?.status === 204 ? at : undefined;
  }
}
