import { randomFrom } from '../load/random.ts';
import { type Costs, MESSAGE } from './costs.ts';
import { Engine, Gathered, Workers } from './engine.ts';

/** A cluster, or a single hub, and its load. */
export interface Cluster {
  readonly hubs: number;
  /** Undefined for a single hub. */
  readonly nats: { readonly servers: number; readonly cores: number } | undefined;
  /** Locations per second at each hub. */
  readonly perHub: number;
  readonly costs: Costs;
  readonly seed: number;
}

/** Result of a simulation. */
export interface Outcome {
  /** Answered locations per second at each hub. */
  readonly perHub: number;
  /** Answered fraction of the incoming bodies. */
  readonly through: number;
  /** Time from the arrival of a body to its 204, in milliseconds. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Fraction of the time in which a front thread is busy. */
  readonly front: number;
  /** Average number of busy NATS cores. */
  readonly natsCores: number;
  /** Messages per second between hubs, including responses and events. */
  readonly messages: number;
  readonly perAppend: number;
}

const BODY = 100;
const SHARDS = 3;
/** Bytes of a location between hubs, and in a response. */
const LOCATION_BYTES = 290;
const ANSWER_BYTES = 60;
/** Network latency between machines. */
const HOP_US = 150;
const REPLICAS = 3;
/** Fraction of the events that one other hub requests. */
const WANTED = 0.1;
const BODIES_AT_LEAST = 4000;
const LONGEST_S = 4;
/** The first part of a run, in which queues fill, is ignored. */
const WARMUP = 0.25;

/** Locations of a body that belong to one hub. */
interface Part {
  readonly count: number;
  /** Called when they are stored. */
  readonly done: () => void;
}

/** Simulates a cluster until enough bodies have been observed. Deterministic for a seed. */
export function simulateCluster(cluster: Cluster): Outcome {
  return new Simulation(cluster).run();
}

class Simulation {
  readonly #cluster: Cluster;
  readonly #engine = new Engine();
  readonly #nats: readonly Workers[];
  readonly #hubs: readonly Hub[];
  readonly #latenciesMs: number[] = [];
  readonly #chance: () => number;
  readonly #warmupUs: number;
  readonly #endUs: number;
  #came = 0;
  #messages = 0;
  #appends = 0;
  #appended = 0;

  constructor(cluster: Cluster) {
    const { hubs, nats, perHub, costs } = cluster;
    const seconds = Math.min(LONGEST_S, (BODIES_AT_LEAST * BODY) / (perHub * hubs) + 0.2);
    this.#cluster = cluster;
    this.#endUs = seconds * 1e6;
    this.#warmupUs = WARMUP * this.#endUs;
    this.#chance = randomFrom(cluster.seed);
    const engine = this.#engine;
    this.#nats = Array.from({ length: nats?.servers ?? 0 }, () => new Workers(engine, nats?.cores));
    const append = (hub: number, count: number, done: () => void): void => this.#append(hub, count, done);
    this.#hubs = Array.from({ length: hubs }, (_, index) => {
      return new Hub({ engine, costs, append: nats === undefined ? undefined : (...args) => append(index, ...args) });
    });
  }

  run(): Outcome {
    for (const hub of this.#hubs.keys()) this.#come(hub);
    let warm = this.#busy();
    this.#engine.after(this.#warmupUs, () => {
      warm = this.#busy();
    });
    this.#engine.run(this.#endUs);
    const { front, nats } = this.#busy();
    const us = this.#endUs - this.#warmupUs;
    const sorted = this.#latenciesMs.toSorted((a, b) => a - b);
    return {
      perHub: (sorted.length * BODY * 1e6) / us / this.#hubs.length,
      through: sorted.length / Math.max(1, this.#came),
      p50Ms: sorted[Math.floor(sorted.length * 0.5)] ?? Infinity,
      p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? Infinity,
      front: (front - warm.front) / us / this.#hubs.length,
      natsCores: (nats - warm.nats) / us,
      messages: (this.#messages * 1e6) / us,
      perAppend: this.#appended / Math.max(1, this.#appends),
    };
  }

  #busy() {
    const sum = (all: readonly Workers[]): number => all.reduce((us, { busyUs }) => us + busyUs, 0);
    return { front: sum(this.#hubs.map(({ front }) => front)), nats: sum(this.#nats) };
  }

  get #isWarm(): boolean {
    return this.#engine.nowUs >= this.#warmupUs;
  }

  /** Bodies arrive at random. */
  #come(door: number): void {
    const { perHub } = this.#cluster;
    this.#engine.after((-Math.log(1 - this.#chance()) * 1e6 * BODY) / perHub, () => {
      this.#take(door);
      this.#come(door);
    });
  }

  #take(door: number): void {
    const { nowUs } = this.#engine;
    if (this.#isWarm) this.#came++;
    const { front, costs } = this.#hubs[door] as Hub;
    front.do(costs.inUs * BODY, () => {
      const counts = this.#shareOut();
      let left = counts.size;
      const done = (): void => {
        if (--left === 0 && this.#isWarm) this.#latenciesMs.push((this.#engine.nowUs - nowUs) / 1000);
      };
      for (const [owner, count] of counts) {
        if (owner === door) this.#hubs[owner]?.process({ count, done });
        else this.#pair(door, owner).add({ count, done });
      }
    });
  }

  /** Number of locations of a body that each hub owns. */
  #shareOut(): ReadonlyMap<number, number> {
    const counts = new Map<number, number>();
    for (let i = 0; i < BODY; i++) {
      const owner = Math.floor(this.#chance() * this.#hubs.length);
      counts.set(owner, (counts.get(owner) ?? 0) + 1);
    }
    return counts;
  }

  readonly #pairs = new Map<number, Gathered<Part>>();

  /** An ingress hub has at most one request in flight to each owner. */
  #pair(door: number, owner: number): Gathered<Part> {
    const key = door * this.#hubs.length + owner;
    const known = this.#pairs.get(key);
    if (known !== undefined) return known;
    const pair = new Gathered<Part>((parts, next) => {
      const count = parts.reduce((sum, part) => sum + part.count, 0);
      const answered = (): void => {
        next();
        for (const { done } of parts) done();
      };
      this.#message(door, owner, count * LOCATION_BYTES, count, () => {
        this.#hubs[owner]?.process({ count, done: () => this.#message(owner, door, ANSWER_BYTES, 0, answered) });
      });
    });
    this.#pairs.set(key, pair);
    return pair;
  }

  #message(from: number, to: number, bytes: number, locations: number, taken: () => void): void {
    const { costs } = this.#cluster;
    const handedUs = (costs.handedUs * locations) / 2;
    if (this.#isWarm) this.#messages++;
    this.#hubs[from]?.front.do(timeOf(MESSAGE.publish, bytes) + handedUs, () => {
      this.#engine.after(HOP_US, () => {
        this.#pass(from, to, timeOf(MESSAGE.server, bytes), () => {
          this.#hubs[to]?.front.do(timeOf(MESSAGE.take, bytes) + handedUs, taken);
        });
      });
    });
  }

  /** Each hub is connected to one server, which forwards to that of the other hub. */
  #pass(from: number, to: number, us: number, passed: () => void): void {
    const [near, far] = [this.#server(from), this.#server(to)];
    near.do(us, () => {
      this.#engine.after(HOP_US, () => {
        if (near === far) passed();
        else far.do(us, () => this.#engine.after(HOP_US, passed));
      });
    });
  }

  #server(index: number): Workers {
    return this.#nats[index % this.#nats.length] as Workers;
  }

  /** The leader of the hub's journal stores it, and then one follower. The third server follows asynchronously. */
  #append(hub: number, count: number, done: () => void): void {
    const { keepUs, wakeUs } = this.#cluster.costs;
    if (this.#isWarm) {
      this.#appends++;
      this.#appended += count;
    }
    this.#events(hub, count);
    this.#engine.after(HOP_US, () => {
      this.#server(hub).do(
        keepUs,
        () => {
          let committed = 0;
          const isCommitted = (): void => {
            if (++committed === 1) this.#engine.after(2 * HOP_US, done);
          };
          for (let other = 1; other < Math.min(REPLICAS, this.#nats.length); other++) {
            this.#engine.after(HOP_US, () => this.#server(hub + other).do(keepUs, isCommitted, wakeUs));
          }
          if (this.#nats.length === 1) this.#engine.after(HOP_US, done);
        },
        wakeUs,
      );
    });
  }

  #events(hub: number, count: number): void {
    const others = this.#hubs.length - 1;
    if (others === 0) return;
    const to = (hub + 1 + Math.floor(this.#chance() * others)) % this.#hubs.length;
    this.#message(hub, to, count * WANTED * LOCATION_BYTES, 0, () => undefined);
  }
}

interface HubOptions {
  readonly engine: Engine;
  readonly costs: Costs;
  /** Stores the records of steps; undefined for a single hub. */
  readonly append: ((count: number, done: () => void) => void) | undefined;
}

class Hub {
  readonly front: Workers;
  readonly costs: Costs;
  readonly #lanes: readonly Gathered<Part>[];
  #lane = 0;

  constructor({ engine, costs, append }: HubOptions) {
    this.costs = costs;
    this.front = new Workers(engine);
    const journal = new Gathered<Part>((parts, next) => {
      const count = countOf(parts);
      const committed = (): void => {
        next();
        this.front.do(costs.outUs * count, () => parts.forEach(({ done }) => void done()));
      };
      if (append === undefined) committed();
      else this.front.do(costs.appendUs, () => append(count, committed));
    });
    this.#lanes = Array.from({ length: SHARDS }, () => {
      const shard = new Workers(engine);
      return new Gathered<Part>((parts, next) => {
        shard.do(costs.shardUs * countOf(parts), () => {
          for (const part of parts) journal.add(part);
          next();
        });
      });
    });
  }

  /** Processes locations of one request, in all shards. */
  process({ count, done }: Part): void {
    const shares = Math.min(SHARDS, count);
    let left = shares;
    const ended = (): void => {
      if (--left === 0) done();
    };
    for (let share = 0; share < shares; share++) {
      const size = Math.floor((count + share) / shares);
      this.#lane = (this.#lane + 1) % SHARDS;
      this.#lanes[this.#lane]?.add({ count: size, done: ended });
    }
  }
}

function countOf(parts: readonly Part[]): number {
  return parts.reduce((sum, { count }) => sum + count, 0);
}

function timeOf({ us, usPerByte }: { readonly us: number; readonly usPerByte: number }, bytes: number): number {
  return us + usPerByte * bytes;
}
