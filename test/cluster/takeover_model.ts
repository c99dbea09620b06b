/**
 * Model of takeovers and handovers in a cluster: every state of three hubs with two partitions that a few locations,
 * failures and handovers lead to. The rules are those of src/cluster/THEORY.md. A rule can be left out, to see which promise
 * it holds up.
 *
 * One client hub owns nothing and never fails: it sends the locations, follows the log, and has the subscription. Owners
 * fail, or only seem to: a hub that others have expelled goes on until it applies the record or an append is refused.
 * Messages of one hub to the client come in order and are not lost, as the channel ensures; requests come any number of
 * times, and late.
 */

/** A rule of the theory. */
export const RULES = [
  'journal before publishing',
  'seal before expelling',
  'number requests',
  'skip journaled locations',
  'drop frames of removed hubs',
  'redeliver after the record',
  'compare positions',
  'release before acquiring',
  'deliver before releasing',
] as const;

export type Rule = (typeof RULES)[number];

const HUBS = [0, 1, 2] as const;
const PARTITIONS = [0, 1] as const;

/** A location: its partition, and its place in the order of that. */
type Place = readonly [partition: number, order: number];
/** A fence event of a location: the hub that made it, and its position in that hub's journal. */
type Origin = readonly [hub: number, position: number];

type JournalEntry =
  | { readonly is: 'step'; readonly place: Place }
  | { readonly is: 'adopted'; readonly partition: number; readonly places: readonly Place[] }
  | { readonly is: 'redelivered'; readonly origin: Origin; readonly place: Place };

interface Frame {
  readonly place: Place;
  readonly origin: Origin;
  readonly isAgain: boolean;
  /** Record of the log that the client must have applied. */
  readonly after: number;
}

type LogRecord =
  | { readonly is: 'map'; readonly owners: readonly number[] }
  | { readonly is: 'expel'; readonly hub: number; readonly owners: readonly number[] };

interface Request {
  readonly place: Place;
  readonly number: number;
  readonly to: number;
  /** Earlier requests with the same location, to hubs that were removed. */
  readonly before: readonly number[];
}

/** A location that the client has yet to send, once it has applied that record. */
interface Unsent extends Pick<Request, 'place' | 'before'> {
  readonly after: number;
}

interface Hub {
  isOut: boolean;
  applied: number;
  /** By partition. */
  serves: boolean[];
  state: (readonly Place[])[];
  last: number;
  /** Positions of its journal that it has yet to publish, with the request to answer. */
  toPublish: (readonly [position: number, number: number])[];
  /** State that it has released, by partition. */
  released: (readonly Place[] | null)[];
}

interface State {
  log: LogRecord[];
  hubs: Hub[];
  journals: { entries: JournalEntry[]; isSealed: boolean }[];
  frames: Frame[][];
  /** Frames of each hub that the client has taken or dropped. */
  taken: number[];
  requests: Request[];
  answers: (readonly [hub: number, number: number])[];
  client: {
    applied: number;
    unsent: Unsent[];
    inFlight: Request[];
    number: number;
    acknowledged: Place[];
    got: Place[];
    /** Last position delivered of each hub, and redelivered ones. */
    marks: number[];
    redelivered: string[];
  };
  failures: number;
  handovers: number;
}

export interface ModelOptions {
  readonly without?: Rule;
  /** Locations of each partition. */
  readonly locations: readonly number[];
  readonly failures: number;
  readonly handovers: number;
}

/** Result of a search: the states that were seen, or the first promise that was broken and the actions that led to it. */
export interface Found {
  readonly states: number;
  readonly broken: string | undefined;
  readonly actions: readonly string[];
}

/** Visits all states, the shortest ways first. */
export function search(options: ModelOptions): Found {
  const model = new TakeoverModel(options);
  const first = model.first();
  const from = new Map<string, readonly [before: string, action: string] | undefined>([
    [JSON.stringify(first), undefined],
  ]);
  let wave = [JSON.stringify(first)];
  while (wave.length > 0) {
    const next: string[] = [];
    for (const key of wave) {
      const state = JSON.parse(key) as State;
      const steps = model.steps(state, key);
      const broken = model.broken(
        state,
        steps.every(({ isFault }) => isFault),
      );
      if (broken !== undefined) return { states: from.size, broken, actions: wayTo(from, key) };
      for (const { action, state: after } of steps) {
        const reached = JSON.stringify(after);
        if (from.has(reached)) continue;
        from.set(reached, [key, action]);
        next.push(reached);
      }
    }
    wave = next;
  }
  return { states: from.size, broken: undefined, actions: [] };
}

function wayTo(
  from: ReadonlyMap<string, readonly [before: string, action: string] | undefined>,
  key: string,
): string[] {
  const actions: string[] = [];
  for (let at = from.get(key); at !== undefined; at = from.get(at[0])) actions.unshift(at[1]);
  return actions;
}

interface ModelStep {
  readonly action: string;
  readonly state: State;
  readonly isFault: boolean;
}

class TakeoverModel {
  readonly #options: ModelOptions;

  constructor(options: ModelOptions) {
    this.#options = options;
  }

  first(): State {
    const { locations, failures, handovers } = this.#options;
    const places = PARTITIONS.flatMap((partition) =>
      Array.from({ length: locations[partition] ?? 0 }, (_, order): Place => [partition, order]),
    );
    const none = { isOut: false, applied: 1, last: 0, toPublish: [], released: [null, null] };
    return {
      log: [{ is: 'map', owners: [0, 1] }],
      hubs: HUBS.map((hub) => ({
        ...structuredClone(none),
        serves: PARTITIONS.map((partition) => partition === hub),
        state: PARTITIONS.map(() => []),
      })),
      journals: HUBS.map(() => ({ entries: [], isSealed: false })),
      frames: HUBS.map(() => []),
      taken: HUBS.map(() => 0),
      requests: [],
      answers: [],
      client: {
        ...{ applied: 1, inFlight: [], number: 0, acknowledged: [], got: [], redelivered: [] },
        unsent: places.map((place) => ({ place, before: [], after: 0 })),
        marks: HUBS.map(() => -1),
      },
      failures,
      handovers,
    };
  }

  /** A promise that a state breaks. `isEnd`: nothing can happen any more but faults. */
  broken({ journals, client }: State, isEnd: boolean): string | undefined {
    const made = journals.flatMap(({ entries }) =>
      entries.flatMap((entry) => (entry.is === 'step' ? [entry.place] : [])),
    );
    if (hasDouble(made)) return 'a location is processed twice';
    if (hasDouble(client.got)) return 'an event is delivered twice';
    for (const partition of PARTITIONS) {
      const orders = client.got.flatMap(([of, order]) => (of === partition ? [order] : []));
      if (orders.some((order, i) => i > 0 && order < (orders[i - 1] as number))) return 'events are out of order';
    }
    const { locations } = this.#options;
    const all = locations.reduce((sum, count) => sum + count, 0);
    if (isEnd && client.acknowledged.length < all) return 'a location is never acknowledged';
    if (isEnd && client.got.length < all) return 'an event is lost';
    return undefined;
  }

  /** All steps from a state, which is given as JSON as well: that is the quickest way to copy it. */
  steps(state: State, json: string): ModelStep[] {
    const found: ModelStep[] = [];
    const attempt = (action: string, change: (state: State) => boolean, isFault = false): void => {
      const next = JSON.parse(json) as State;
      if (change(next)) found.push({ action, state: next, isFault });
    };
    const { log, client, frames, taken, failures, handovers } = state;
    for (const [hub, { isOut, applied, toPublish, serves }] of state.hubs.entries()) {
      if ((frames[hub]?.length ?? 0) > (taken[hub] ?? 0))
        attempt(`the client takes a frame of ${hub}`, (next) => this.#take(next, hub));
      if (client.unsent.length > 0) attempt(`the client sends to ${hub}`, (next) => this.#send(next, hub));
      if (failures > 0) attempt(`${hub} is expelled`, (next) => this.#expel(next, hub), true);
      if (failures > 0) attempt(`${hub} dies`, (next) => this.#die(next, hub), true);
      for (const partition of handovers > 0 ? PARTITIONS : [])
        attempt(`${partition} is to move to ${hub}`, (next) => this.#handOver(next, partition, hub), true);
      if (isOut) continue;
      if (applied < log.length) attempt(`${hub} applies a record`, (next) => this.#apply(next, hub));
      if (toPublish.length > 0) attempt(`${hub} publishes`, (next) => this.#publish(next, hub));
      for (const partition of PARTITIONS)
        if (!serves[partition]) attempt(`${hub} acquires ${partition}`, (next) => this.#acquire(next, hub, partition));
    }
    for (const [i, { number, to }] of state.requests.entries()) {
      const { isOut, last } = state.hubs[to] as Hub;
      if (!isOut && !(this.#has('number requests') && number <= last))
        attempt(`${to} receives request ${number}`, (next) => this.#receive(next, i));
    }
    if (client.applied < log.length) attempt('the client applies a record', (next) => this.#clientApplies(next));
    if (state.answers.length > 0) attempt('the client receives an answer', (next) => this.#clientReceives(next));
    return found;
  }

  #has(rule: Rule): boolean {
    return this.#options.without !== rule;
  }

  #owners({ log }: State, applied: number): readonly number[] {
    return log[applied - 1]?.owners ?? [];
  }

  #isRemoved({ log }: State, hub: number, applied: number): boolean {
    return log.slice(0, applied).some((record) => record.is === 'expel' && record.hub === hub);
  }

  /** The client sends the next location of a partition to its owner; one request to each is in flight. */
  #send(state: State, to: number): boolean {
    const { client } = state;
    const owners = this.#owners(state, client.applied);
    const at = client.unsent.findIndex(({ place: [partition] }) => owners[partition] === to);
    const next = client.unsent[at];
    const isBusy = client.inFlight.some(
      ({ place: [partition], to: other }) => other === to || partition === next?.place[0],
    );
    if (next === undefined || isBusy || next.after > client.applied) return false;
    client.unsent.splice(at, 1);
    const { place, before } = next;
    const request = { place, before, number: ++client.number, to };
    client.inFlight.push(request);
    state.requests.push(request);
    return true;
  }

  #receive(state: State, at: number): boolean {
    const { place, number, to, before } = state.requests[at] as Request;
    const hub = state.hubs[to] as Hub;
    const [partition] = place;
    if (hub.isOut) return false;
    if (this.#has('number requests') && number <= hub.last) return false;
    if (!hub.serves[partition]) return this.#reject(state, state.requests[at] as Request);
    const journal = state.journals[to] as State['journals'][number];
    const isJournaled = before.some((other) =>
      (state.journals[other]?.entries ?? []).some((entry) => entry.is === 'step' && isSame(entry.place, place)),
    );
    if (isJournaled && this.#has('skip journaled locations')) {
      hub.last = number;
      state.answers.push([to, number]);
      return true;
    }
    hub.last = number;
    const isTooEarly = !this.#has('journal before publishing');
    if (journal.isSealed) {
      // The hub publishes before it finds the journal sealed.
      if (isTooEarly) this.#frame(state, to, { place, origin: [to, journal.entries.length], isAgain: false });
      hub.isOut = true;
      return true;
    }
    journal.entries.push({ is: 'step', place });
    hub.state[partition] = [...(hub.state[partition] ?? []), place];
    hub.toPublish.push([journal.entries.length - 1, number]);
    return true;
  }

  /** A hub that does not serve a partition says so, and takes no copy of the request later: the client sends another one. */
  #reject(state: State, { number, to, place: [partition] }: Request): boolean {
    const { hubs, client, log } = state;
    // One that is about to serve it is busy.
    if ([client.applied, log.length].every((applied) => this.#owners(state, applied)[partition] === to)) return false;
    (hubs[to] as Hub).last = number;
    const at = client.inFlight.findIndex((request) => request.number === number && request.to === to);
    const [request] = at < 0 ? [] : client.inFlight.splice(at, 1);
    if (request !== undefined) requeue(client.unsent, { ...request, after: log.length });
    return true;
  }

  #frame(state: State, hub: number, frame: Pick<Frame, 'place' | 'origin' | 'isAgain'>): void {
    const { applied } = state.hubs[hub] as Hub;
    state.frames[hub]?.push({ ...frame, after: frame.isAgain ? applied : 0 });
  }

  #publish(state: State, at: number): boolean {
    const hub = state.hubs[at] as Hub;
    const [first] = hub.toPublish;
    if (hub.isOut || first === undefined) return false;
    hub.toPublish.shift();
    const [position, number] = first;
    const entry = state.journals[at]?.entries[position];
    if (entry?.is !== 'step') return false;
    this.#frame(state, at, { place: entry.place, origin: [at, position], isAgain: false });
    state.answers.push([at, number]);
    return true;
  }

  #die(state: State, at: number): boolean {
    const hub = state.hubs[at] as Hub;
    if (hub.isOut || state.failures === 0) return false;
    hub.isOut = true;
    return this.#expel(state, at);
  }

  #expel(state: State, hub: number): boolean {
    const { log, failures } = state;
    if (failures === 0 || this.#isRemoved(state, hub, log.length)) return false;
    const others = HUBS.filter((other) => other !== hub && !this.#isRemoved(state, other, log.length));
    const next = others.at(-1);
    if (next === undefined) return false;
    state.failures--;
    const owners = this.#owners(state, log.length).map((owner) => (owner === hub ? next : owner));
    if (this.#has('seal before expelling')) (state.journals[hub] as State['journals'][number]).isSealed = true;
    log.push({ is: 'expel', hub, owners });
    return true;
  }

  #handOver(state: State, partition: number, to: number): boolean {
    const { log, handovers, hubs } = state;
    const owners = this.#owners(state, log.length);
    const from = owners[partition] as number;
    const isSettled = hubs[from]?.serves[partition] === true && !this.#isRemoved(state, to, log.length);
    if (handovers === 0 || from === to || !isSettled) return false;
    state.handovers--;
    log.push({ is: 'map', owners: owners.map((owner, i) => (i === partition ? to : owner)) });
    return true;
  }

  #apply(state: State, at: number): boolean {
    const hub = state.hubs[at] as Hub;
    const record = state.log[hub.applied];
    if (hub.isOut || record === undefined) return false;
    // A release waits until earlier events are published and delivered.
    const lost = PARTITIONS.filter((partition) => hub.serves[partition] && record.owners[partition] !== at);
    const isDelivered = hub.toPublish.length === 0 && state.taken[at] === state.frames[at]?.length;
    if (lost.length > 0 && !isDelivered && this.#has('deliver before releasing')) return false;
    hub.applied++;
    if (record.is === 'expel' && record.hub === at) hub.isOut = true;
    for (const partition of lost) {
      hub.serves[partition] = false;
      hub.released[partition] = hub.state[partition] ?? [];
    }
    return true;
  }

  /** A hub gets the state of a partition from its previous owner, or from the journal of a removed one. */
  #acquire(state: State, at: number, partition: number): boolean {
    const hub = state.hubs[at] as Hub;
    if (hub.isOut || hub.serves[partition] || this.#owners(state, hub.applied)[partition] !== at) return false;
    const history = state.log.slice(0, hub.applied - 1).map(({ owners }) => owners[partition] as number);
    // One that has failed before it had the state has nothing to take over. The state may be back where it was released.
    const previous = history.findLast((owner, i) => i === 0 || hasAdopted(state, owner, partition));
    if (previous === undefined) return false;
    const journal = state.journals[at] as State['journals'][number];
    if (this.#isRemoved(state, previous, hub.applied)) {
      hub.state[partition] = this.#takeOver(state, { at, previous, partition });
    } else {
      const other = state.hubs[previous] as Hub;
      const released = other.released[partition] ?? null;
      if (released === null && this.#has('release before acquiring')) return false;
      hub.state[partition] = released ?? other.state[partition] ?? [];
    }
    if (journal.isSealed) {
      hub.isOut = true;
      return true;
    }
    journal.entries.push({ is: 'adopted', partition, places: hub.state[partition] ?? [] });
    hub.serves[partition] = true;
    return true;
  }

  #takeOver(
    state: State,
    { at, previous, partition }: { readonly at: number; readonly previous: number; readonly partition: number },
  ): readonly Place[] {
    let places: readonly Place[] = [];
    const own = state.journals[at] as State['journals'][number];
    for (const [position, entry] of (state.journals[previous]?.entries ?? []).entries()) {
      if (entry.is === 'adopted') {
        if (entry.partition === partition) places = entry.places;
        continue;
      }
      if (entry.place[0] !== partition) continue;
      if (entry.is === 'step') places = [...places, entry.place];
      const origin: Origin = entry.is === 'step' ? [previous, position] : entry.origin;
      if (!own.isSealed) own.entries.push({ is: 'redelivered', origin, place: entry.place });
      this.#frame(state, at, { place: entry.place, origin, isAgain: true });
    }
    return places;
  }

  #take(state: State, from: number): boolean {
    const { client, taken, frames } = state;
    const frame = frames[from]?.[taken[from] as number];
    if (frame === undefined) return false;
    if (this.#isRemoved(state, from, client.applied) && this.#has('drop frames of removed hubs')) return false;
    if (frame.after > client.applied && this.#has('redeliver after the record')) return false;
    taken[from] = (taken[from] as number) + 1;
    const [hub, position] = frame.origin;
    const key = frame.origin.join();
    if (frame.isAgain && this.#has('compare positions')) {
      if (position <= (client.marks[hub] as number) || client.redelivered.includes(key)) return true;
      client.redelivered.push(key);
    }
    if (!frame.isAgain) client.marks[hub] = position;
    client.got.push(frame.place);
    return true;
  }

  #clientApplies(state: State): boolean {
    const { client, log } = state;
    const record = log[client.applied];
    if (record === undefined) return false;
    client.applied++;
    if (record.is !== 'expel') return true;
    for (const request of client.inFlight.filter(({ to }) => to === record.hub)) {
      client.inFlight.splice(client.inFlight.indexOf(request), 1);
      requeue(client.unsent, { place: request.place, before: [...request.before, record.hub], after: 0 });
    }
    return true;
  }

  #clientReceives(state: State): boolean {
    const { client, answers } = state;
    const answer = answers.shift();
    if (answer === undefined) return false;
    const at = client.inFlight.findIndex(({ to, number }) => to === answer[0] && number === answer[1]);
    const [request] = at < 0 ? [] : client.inFlight.splice(at, 1);
    if (request !== undefined) client.acknowledged.push(request.place);
    return true;
  }
}

/** Puts a location before the later ones of its partition. */
function requeue(unsent: Unsent[], { place, before, after }: Unsent): void {
  const at = unsent.findIndex(({ place: [partition] }) => partition === place[0]);
  unsent.splice(at < 0 ? unsent.length : at, 0, { place, before, after });
}

function hasAdopted({ journals }: State, hub: number, partition: number): boolean {
  return (journals[hub]?.entries ?? []).some((entry) => entry.is === 'adopted' && entry.partition === partition);
}

function isSame(one: Place, other: Place): boolean {
  return one[0] === other[0] && one[1] === other[1];
}

function hasDouble(places: readonly Place[]): boolean {
  return new Set(places.map((place) => place.join())).size < places.length;
}
