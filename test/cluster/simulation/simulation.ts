import { openShapeChecks } from '../../../src/fence_index/shape_checks.ts';
import { type Dice, diceOf } from '../../support/dice.ts';
import { SimulatedClock } from '../simulated_clock.ts';
import { checkEvents, checkIds, checkLocations, type ProcessedLocation } from './check.ts';
import { ALL, Clients } from './clients.ts';
import { type HubPlace, SimulatedHub } from './hub.ts';
import { type Heard, Listener } from './listener.ts';
import { keptSteps, Oracle, speedsIn, type TimedRan } from './oracle.ts';
import { WitnessedCluster } from './witness.ts';

/** What a run has shown. */
export interface Findings {
  readonly seed: number;
  /** What a cluster of hubs must not do. */
  readonly wrongs: readonly string[];
  readonly counts: Record<string, number>;
  readonly log: readonly string[];
}

export interface SimulationOptions {
  /** Of each hub; 1 when left out: then it is known what a single hub would tell. */
  readonly shards?: number;
}

const NAMES = ['a', 'b', 'c'];
const SERVERS = ['n1', 'n2', 'n3'];
const START_MS = 30_000;
const SETTLE_MS = 60_000;
const RESTART_MS = 3000;
const FAULTS = 5;
/** Between two faults, and how long each lasts, at most. */
const BETWEEN_MS = 2500;
const LASTS_MS = 6000;
/** A shorter time is none that a hub has stood still; in a longer one it is mostly expelled. */
const [STILL_MS, EXPELLED_MS] = [900, 3500];

/** Plays a cluster for some time, in which everything is decided by the seed, and looks what has come of it. */
export async function simulate(seed: number, options: SimulationOptions = {}): Promise<Findings> {
  const clock = new SimulatedClock();
  const stop = clock.run();
  try {
    return await new Simulation(clock, seed, options).run();
  } finally {
    stop();
  }
}

class Simulation {
  readonly #seed: number;
  readonly #clock: SimulatedClock;
  readonly #dice: Dice;
  readonly #network: WitnessedCluster;
  readonly #names: readonly string[];
  readonly #clients: Clients;
  readonly #hubs = new Map<string, SimulatedHub>();
  readonly #all: SimulatedHub[] = [];
  /** By incarnation and shard. */
  readonly #rans = new Map<string, TimedRan[]>();
  readonly #shards: number;
  readonly #heard: Heard[] = [];
  readonly #wrongs: string[] = [];
  readonly #log: string[] = [];
  #starts = 0;
  #isOver = false;

  constructor(clock: SimulatedClock, seed: number, options: SimulationOptions) {
    this.#seed = seed;
    this.#clock = clock;
    this.#dice = diceOf(seed);
    this.#network = new WitnessedCluster({ clock, seed });
    this.#names = NAMES.slice(0, 2 + this.#dice(2));
    this.#shards = options.shards ?? 1;
    this.#clients = new Clients({
      ...{ network: this.#network, dice: diceOf(seed + 1_000_000) },
      hubs: () => [...this.#hubs.values()],
      wrong: (what) => this.#wrong(what),
    });
  }

  async run(): Promise<Findings> {
    const unhandled = (error: unknown): void => this.#wrong(`nobody handles ${String((error as Error)?.stack)}`);
    process.on('unhandledRejection', unhandled);
    process.on('uncaughtException', unhandled);
    try {
      for (const name of this.#names) void this.#keepRunning(name);
      await this.#play();
    } catch (error) {
      this.#wrong(String((error as Error).stack));
    } finally {
      this.#isOver = true;
      for (const hub of this.#all) hub.kill();
      // What is rejected last is heard of in a later turn.
      await new Promise((resolve) => setImmediate(resolve));
      process.off('unhandledRejection', unhandled);
      process.off('uncaughtException', unhandled);
    }
    const { counts } = this.#clients;
    return {
      seed: this.#seed,
      wrongs: [...this.#network.wrongs, ...this.#wrongs],
      counts: { ...counts, owners: this.#network.owners.length, starts: this.#starts, ms: this.#clock.nowMs },
      log: this.#log,
    };
  }

  async #play(): Promise<void> {
    await this.#until('all hubs serve', () => this.#isSettled(), START_MS);
    await this.#clients.setUp(this.#hubs.get('a') as SimulatedHub);
    const untilMs = this.#clock.nowMs + FAULTS * BETWEEN_MS;
    const load = this.#clients.run(untilMs);
    for (let fault = 0; fault < FAULTS; fault++) {
      await this.#clock.wait(this.#dice(BETWEEN_MS));
      void this.#fault();
    }
    await this.#clock.wait(Math.max(0, untilMs - this.#clock.nowMs) + LASTS_MS);
    this.#mend();
    let isDone = false;
    void load.then(() => {
      isDone = true;
    });
    await this.#until('all requests are answered', () => isDone, SETTLE_MS);
    await this.#until('all hubs serve again', () => this.#isSettled(), SETTLE_MS);
    for (const name of this.#names) await this.#clients.closing(this.#hubs.get(name) as SimulatedHub);
    // Timers of fences that have begun.
    await this.#clock.wait(8000);
    await this.#check();
  }

  /** Runs a hub, and another one in its place whenever it has ended. */
  async #keepRunning(name: string): Promise<void> {
    for (let run = 1; !this.#isOver; run++) {
      const incarnation = `${name}${run}`;
      this.#starts++;
      const hub = await SimulatedHub.open(this.#place(name, incarnation)).catch((error: unknown) => {
        this.#note(`${incarnation} cannot start: ${String(error)}`);
        this.#network.kill(incarnation);
      });
      if (hub !== undefined && this.#isKilled.has(incarnation)) hub.kill();
      else if (hub !== undefined) {
        this.#note(`${incarnation} serves`);
        this.#hubs.set(name, hub);
        this.#all.push(hub);
        for (const topic of ['fence_events', 'location_updates'] as const) new Listener(hub, topic, this.#heard);
        void hub.isOut.then((error) => {
          this.#note(`${incarnation} is out: ${error.message}`);
          hub.kill();
        });
        await hub.over;
        this.#hubs.delete(name);
      }
      await this.#clock.wait(100 + this.#dice(RESTART_MS));
    }
  }

  readonly #isKilled = new Set<string>();

  #place(hubName: string, incarnation: string): HubPlace {
    return {
      ...{ network: this.#network, dice: this.#dice, shapes: SHAPES, hubName, incarnation, shards: this.#shards },
      aheadMs: this.#dice(20),
      ran: (shard, ran) => {
        const key = `${incarnation} ${shard}`;
        const rans = this.#rans.get(key) ?? [];
        this.#rans.set(key, rans);
        rans.push({ ...ran, atMs: this.#clock.nowMs });
      },
      wrong: (what) => this.#wrong(what),
    };
  }

  async #fault(): Promise<void> {
    const hubs = [...this.#hubs.values()];
    const hub = hubs[this.#dice(hubs.length || 1)];
    const lastsMs = this.#dice(LASTS_MS);
    const kind = this.#dice(10);
    if (kind < 2) {
      this.#note(`kill ${hub?.incarnation}`);
      hub?.kill();
    } else if (kind < 4 && hub !== undefined) await this.#whileHubStopped(hub, lastsMs);
    else if (kind < 6 && hub !== undefined) await this.#whileCut(hub.incarnation, lastsMs);
    else if (kind < 7) await this.#whileStopped(this.#leader(), lastsMs);
    else if (kind === 7) {
      this.#note(`stop ${hub?.incarnation} in order`);
      await hub?.turn().then(
        () => hub.close(),
        () => undefined,
      );
    } else if (kind === 8) {
      this.#note(`kill the worker of ${hub?.incarnation}`);
      await hub?.killWorker();
    } else {
      this.#note('messages are lost');
      Object.assign(this.#network.mishaps, { dropped: 30, unanswered: 50, busy: 20 });
      await this.#clock.wait(lastsMs);
      Object.assign(this.#network.mishaps, { dropped: 0, unanswered: 0, busy: 0 });
    }
  }

  /**
   * One that has stood still for more than a second, and is not expelled, has another running time than others from then on,
   * which what it records does not say: it is not to go on.
   */
  async #whileHubStopped(hub: SimulatedHub, ms: number): Promise<void> {
    const { incarnation } = hub;
    await this.#whileStopped(incarnation, ms < STILL_MS ? ms : ms + EXPELLED_MS, () => {
      if (ms >= STILL_MS && this.#network.endOf(incarnation) === undefined) hub.kill();
    });
  }

  async #whileStopped(name: string, ms: number, before?: () => void): Promise<void> {
    this.#note(`stop ${name} for ${ms} ms`);
    this.#network.stop(name);
    await this.#clock.wait(ms);
    this.#note(`resume ${name}`);
    before?.();
    this.#network.resume(name);
  }

  async #whileCut(name: string, ms: number): Promise<void> {
    this.#note(`cut ${name} off for ${ms} ms`);
    this.#network.isolate(name);
    await this.#clock.wait(ms);
    this.#note(`join ${name}`);
    this.#network.restore(name);
  }

  /** A server that leads some stream. */
  #leader(): string {
    const streams = [...this.#network.streams.keys()];
    return this.#network.leaderOf(streams[this.#dice(streams.length)] as string);
  }

  #mend(): void {
    this.#note('all is mended');
    Object.assign(this.#network.mishaps, { dropped: 0, unanswered: 0, busy: 0 });
    for (const name of [...SERVERS, ...this.#all.map(({ incarnation }) => incarnation)]) {
      this.#network.resume(name);
      this.#network.restore(name);
    }
  }

  #isSettled(): boolean {
    const hubs = [...this.#hubs.values()];
    const standings = hubs.map(({ cluster }) => cluster.standing);
    return (
      hubs.length === this.#names.length &&
      standings.filter((standing) => standing === 'owner').length === 1 &&
      standings.every((standing) => standing === 'owner' || standing === 'standby') &&
      hubs.every(({ cluster }) => cluster.membership.members.length === hubs.length)
    );
  }

  async #check(): Promise<void> {
    const oracle = await Oracle.open();
    const wrong = (what: string): void => this.#wrong(what);
    const processed: ProcessedLocation[] = [];
    const idle = new Set<number>();
    for (const incarnation of this.#network.owners) {
      const kept = this.#network.steps(incarnation);
      for (let shard = 0; shard < this.#shards; shard++) {
        const rans = this.#rans.get(`${incarnation} ${shard}`) ?? [];
        const { steps, hasGap } = keptSteps(rans, kept);
        if (hasGap) wrong(`${incarnation} has kept a step of shard ${shard} behind one that it has not`);
        processed.push(...speedsIn(steps).map((speed) => ({ speed, incarnation })));
        // What changes nothing, as an outdated location, is not recorded.
        const rest = rans.slice(steps.length).filter(({ record }) => record === undefined);
        for (const speed of speedsIn(rest)) idle.add(speed);
        if (this.#shards === 1) await oracle.follow(steps);
      }
    }
    checkLocations(this.#clients.sent, { processed, idle }, wrong);
    checkIds(this.#heard, wrong);
    if (this.#shards === 1) checkEvents(this.#heard, oracle, wrong);
    await this.#checkStates(this.#shards === 1 ? oracle : undefined);
  }

  /** All hubs show the same, and what a single hub would show. */
  async #checkStates(oracle: Oracle | undefined): Promise<void> {
    const entities = [...this.#hubs.values()].map(({ parts }) => JSON.stringify([...parts.entities.written()]));
    if (new Set(entities).size > 1) this.#wrong(`hubs have other entities: ${entities.join('\n')}`);
    const view = { crs: 'EPSG:4326' };
    const known = new Map<string, string>();
    for (const hub of this.#hubs.values()) {
      for (const id of ALL.providers) {
        for (const query of [
          { ask: 'provider_location', id, view },
          { ask: 'provider_fences', id, spatial: false },
        ] as const) {
          const found = shown((await hub.ask(query))[0]);
          // Of several shards there is nothing but what the first hub shows.
          const expected = known.get(query.ask + id) ?? (oracle === undefined ? found : shown(oracle.ask(query)));
          known.set(query.ask + id, expected);
          if (found !== expected)
            this.#wrong(`${hub.incarnation} ${query.ask} of ${id}: ${found}, expected ${expected}`);
        }
      }
    }
  }

  async #until(what: string, holds: () => boolean, ms: number): Promise<void> {
    const fromMs = this.#clock.nowMs;
    while (!holds()) {
      if (this.#clock.nowMs - fromMs > ms) {
        const open = [...this.#clients.open].join('; ');
        const hubs = [...this.#hubs.values()].map(({ incarnation, cluster }) => `${incarnation} ${cluster.standing}`);
        throw new Error(`${what}: not in ${ms} ms. Open: ${open}. Hubs: ${hubs.join(', ')}`);
      }
      await this.#clock.wait(10);
    }
  }

  #note(what: string): void {
    this.#log.push(`${Math.round(this.#clock.nowMs)} ${what}`);
  }

  #wrong(what: string): void {
    this.#note(`WRONG ${what}`);
    this.#wrongs.push(what);
  }
}

const SHAPES = await openShapeChecks();

function shown(answer: unknown): string {
  const { texts, ids } = (answer ?? {}) as { texts?: readonly string[]; ids?: readonly string[] };
  if (texts !== undefined) return texts.map((text) => String(JSON.parse(text).speed)).join();
  return ids === undefined ? JSON.stringify(answer) : ids.toSorted().join();
}
