import { WebSocket } from 'ws';
import { fenceOf, locationOf } from '../hub_process.ts';
import type { HubSeat } from './hub_seat.ts';

/** Two fences with the same circle: one is exited only by moving out, and the other by silence as well. */
export const STAY = '0c5c1b0e-54b5-4b64-8d5f-0b0a3d5a6f0a';
const SHORT = '0c5c1b0e-54b5-4b64-8d5f-0b0a3d5a6f0b';
const SHORT_TIMEOUT_MS = 500;
const RADIUS_DEGREES = 10 / 71_695.6;

const WALKERS = Array.from({ length: 9 }, (_, index) => `walker ${index}`);
const WALKERS_ALL = 'walkers';
/** The first walkers carry something. */
const CARTS = [10, 11, 12, 13].map((number) => `0c5c1b0e-54b5-4b64-8d5f-0b0a3d5a60${number}`);
/** Carried in turn by walkers that carry nothing else. */
const LENT = [14, 15].map((number) => `0c5c1b0e-54b5-4b64-8d5f-0b0a3d5a60${number}`);
/** Published over WebSocket, without acknowledgments. */
const RUNNERS = ['runner 0', 'runner 1', 'runner 2', 'runner 3'];
const BETWEEN_RUNS_MS = 5;

/** Two trackables with a radius of 1 m: one is stationary, and the other drives into it and away. */
const PAIRS = [0, 1, 2, 3].map((index) => {
  const id = (which: number) => `0c5c1b0e-54b5-4b64-8d5f-0b0a3d5a7${which}0${index}`;
  return { stays: id(0), drives: id(1), east: 100_000 + 100 * index };
});
/** Identified by the moving trackable. */
export const PAIR_IDS = PAIRS.map(({ drives }) => drives);
const APART = 10;

/** An event, or an update, that every connected client must receive once. */
export interface Expected {
  readonly key: string;
  /** Connections that have been open since then must receive it. */
  readonly fromMs: number;
}

/** Locations of moving objects, and the events expected of them. */
export class Movers {
  readonly #random: () => number;
  readonly #lastMs = new Map<string, number>();
  /** Position of each walker, if its last location was acknowledged. */
  readonly #isInside = new Map<string, boolean>();
  #events: Expected[] = [];
  #updates: Expected[] = [];

  constructor(random: () => number) {
    this.#random = random;
  }

  /** Creates the fences and trackables. */
  async configure(seat: HubSeat): Promise<void> {
    const made = [
      await seat.request('POST', '/fences', fenceOf(STAY)),
      await seat.request('POST', '/fences', fenceOf(SHORT, { timeout: SHORT_TIMEOUT_MS })),
    ];
    const carried = CARTS.map((id, index) => ({ id, location_providers: [WALKERS[index]] }));
    const paired = PAIRS.flatMap(({ stays, drives }) => [stays, drives]);
    const colliding = paired.map((id) => ({ id, location_providers: [id], radius: 1 }));
    const lent = LENT.map((id) => ({ id, location_providers: [] }));
    for (const trackable of [...carried, ...colliding, ...lent]) {
      made.push(await seat.request('POST', '/trackables', { type: 'omlox', ...trackable }));
    }
    for (const { stays, east } of PAIRS) await this.#move(seat, stays, east);
    const failed = made.find((answered) => answered?.status !== 201);
    if (failed !== undefined) throw new Error(`Cannot make what moves: ${JSON.stringify(failed)}`);
  }

  static get walkers(): number {
    return WALKERS.length;
  }

  static get pairs(): number {
    return PAIRS.length;
  }

  static get runners(): number {
    return RUNNERS.length;
  }

  static get lent(): number {
    return LENT.length;
  }

  /** Moves a carried object to another walker. The object and all connected ones may then migrate to another hub. */
  async lend(seat: HubSeat, index: number): Promise<boolean> {
    const id = LENT[index] ?? '';
    const carrying = WALKERS.slice(CARTS.length);
    const walker = carrying[Math.floor(this.#random() * carrying.length)];
    const answered = await seat.request('PUT', `/trackables/${id}`, {
      id,
      type: 'omlox',
      location_providers: [walker],
    });
    return answered !== undefined && answered.status < 300;
  }

  /** Moves one walker. Returns whether that was acknowledged. */
  async walk(seat: HubSeat, index: number): Promise<boolean> {
    const walker = WALKERS[index] ?? '';
    const isInside = this.#random() < 0.5;
    const was = this.#isInside.get(walker);
    this.#isInside.delete(walker);
    const fromMs = performance.now();
    const generated = await this.#move(seat, walker, this.#eastOf(isInside));
    if (generated === undefined) return false;
    this.#isInside.set(walker, isInside);
    this.#updates.push({ key: `${walker} ${generated}`, fromMs });
    if (was === undefined || was === isInside) return true;
    const cart = CARTS[index];
    for (const id of cart === undefined ? [walker] : [walker, cart]) {
      const [type, time] = isInside ? ['region_entry', 'entry'] : ['region_exit', 'exit'];
      this.#events.push({ key: `${type} ${STAY} ${id} ${time} ${generated}`, fromMs });
    }
    return true;
  }

  /** Makes a pair collide, or separate. */
  async drive(seat: HubSeat, index: number, isApart = this.#random() < 0.5): Promise<boolean> {
    const { drives, east } = PAIRS[index] ?? { drives: '', east: 0 };
    return (await this.#move(seat, drives, east + (isApart ? APART : this.#random()))) !== undefined;
  }

  /** Moves a runner in and out over a WebSocket, until that is closed or `isOver`. */
  async run(seat: HubSeat, index: number, isOver: () => boolean): Promise<void> {
    const runner = RUNNERS[index] ?? '';
    const socket = new WebSocket(`${seat.base.replace('http', 'ws')}/ws/socket`);
    const isOpen = await new Promise<boolean>((resolve) => {
      socket.once('open', () => resolve(true));
      socket.once('error', () => resolve(false));
    });
    if (!isOpen) return;
    socket.on('error', () => undefined);
    while (!isOver() && socket.readyState === WebSocket.OPEN) {
      const timestamp = await this.#nextTime(runner);
      const location = locationOf(runner, this.#eastOf(this.#random() < 0.5), { timestamp_generated: timestamp });
      socket.send(JSON.stringify({ event: 'message', topic: 'location_updates', payload: [location] }));
      await new Promise((resolve) => setTimeout(resolve, BETWEEN_RUNS_MS));
    }
    socket.terminate();
  }

  /** Events expected of the locations acknowledged since the previous call. */
  take(): { readonly events: readonly Expected[]; readonly updates: readonly Expected[] } {
    const taken = { events: this.#events, updates: this.#updates };
    [this.#events, this.#updates] = [[], []];
    return taken;
  }

  /** Returns the wrong members of the fence. Correct members are exactly the walkers whose last locations are in it. */
  async wrongMembers(seat: HubSeat): Promise<{ readonly checked: number; readonly wrong: readonly string[] }> {
    const lists = await Promise.all(
      ['providers', 'trackables'].map((kind) => seat.request('GET', `/fences/${STAY}/${kind}`)),
    );
    const members = new Set(lists.flatMap((list) => (list?.body ?? []).map(({ id }: { id: string }) => id)));
    const locations = (await seat.request('GET', '/providers/locations'))?.body ?? [];
    const motions = (await seat.request('GET', '/trackables/motions'))?.body ?? [];
    const places: [string, Place][] = [
      ...locations.map((location: Place) => [location.provider_id, location]),
      ...motions.map(({ id, location }: { id: string; location: Place }) => [id, location]),
    ];
    const checked = places.filter(([id]) => [...WALKERS, ...RUNNERS, ...CARTS].includes(id));
    const wrong = checked.filter(([id, { position }]) => {
      return members.has(id) !== Math.abs((position.coordinates[0] ?? 0) - 9) <= RADIUS_DEGREES;
    });
    return {
      checked: checked.length,
      wrong: wrong.map(([id]) => `${id} is ${members.has(id) ? 'outside and a' : 'inside and no'} member`),
    };
  }

  #eastOf(isInside: boolean): number {
    return isInside ? this.#random() * 8 : 100 + this.#random() * 50;
  }

  /** Returns the time of generation after it was acknowledged. */
  async #move(seat: HubSeat, id: string, east: number): Promise<string | undefined> {
    const generated = await this.#nextTime(id);
    const location = locationOf(id, east, { timestamp_generated: generated });
    const answered = await seat.request('PUT', `/providers/${encodeURIComponent(id)}/location`, location);
    return answered?.status === 204 ? generated : undefined;
  }

  /**
   * A visit is identified by its times: no two locations of an object have equal milliseconds, or are ahead of the
   * clock. Walkers are distinguished from each other, too, since a carried object has locations of several.
   */
  async #nextTime(id: string): Promise<string> {
    const who = WALKERS.includes(id) ? WALKERS_ALL : id;
    while (Date.now() <= (this.#lastMs.get(who) ?? 0)) await new Promise((resolve) => setTimeout(resolve, 1));
    const nowMs = Date.now();
    this.#lastMs.set(who, nowMs);
    return new Date(nowMs).toISOString();
  }
}

interface Place {
  readonly provider_id: string;
  readonly position: { readonly coordinates: readonly number[] };
}
