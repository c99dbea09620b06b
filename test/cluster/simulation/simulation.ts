import type { EventLog } from '../../../src/events/event_log.ts';
import { openShapeChecks } from '../../../src/fence_index/shape_checks.ts';
import { type Dice, diceOf } from '../../support/dice.ts';
import { SimulatedClock } from '../simulated_clock.ts';
import type { LoggedEvent } from '../../../src/model/logged_event.ts';
import {
  checkEvents,
  checkIds,
  checkLog,
  checkLoggedIds,
  checkSubscriptions,
  checkLocations,
  checkOwners,
  checkTakeovers,
  type ProcessedLocation,
} from './check.ts';
import { ALL, Clients } from './clients.ts';
import { type HubPlace, reuseScanners, SimulatedHub } from './hub.ts';
import { type KeptStep, keptSteps, type TimedRan } from './journaled_steps.ts';
import { type ObservedSubscription, Listener } from './listener.ts';
import { ownersAt } from './log_owners.ts';
import { Oracle } from './oracle.ts';
import { timelinesOf } from './timelines.ts';
import { WitnessedCluster } from './witness.ts';

/** Result of a run. */
export interface Findings {
  readonly seed: number;
  /** Violations. */
  readonly wrongs: readonly string[];
  readonly counts: Record<string, number>;
  readonly log: readonly string[];
}

export interface SimulationOptions {
  /** Shards of each hub, 1 by default: then the events of a single hub can be determined. */
  readonly shards?: number;
  /** Without the later additions (more hubs, slow ones, collisions), so that old seeds are unchanged. */
  readonly isPlain?: boolean;
  /** Number of faults, which determines the duration of the load; 5 by default. */
  readonly faults?: number;
}

const NAMES = ['a', 'b', 'c'];
/** Hub that joins under load. */
const LATE_NAME = 'd';
const MORE = 2_000_000;
/** Maximum delay of all activity of a slow hub. */
const SLOW_MS = 50;
const SERVERS = ['n1', 'n2', 'n3'];
const START_MS = 30_000;
const SETTLE_MS = 60_000;
const RESTART_MS = 3000;
const FAULTS = 5;
/** Each seed has one of these numbers of partitions. */
const PARTITION_COUNTS = [256, 256, 256, 1024];
/** Maximum time between two faults, and maximum duration of each. */
const BETWEEN_MS = 2500;
const LASTS_MS = 6000;
/** A hub does not detect a shorter stop; after a longer one it has usually been expelled. */
const [STILL_MS, EXPELLED_MS] = [900, 3500];

/** Simulates a cluster, determined by the seed alone, and checks the result. */
export async function simulate(seed: number, options: SimulationOptions = {}): Promise<Findings> {
  const clock = new SimulatedClock();
  const stop = clock.run();
  try {
    return await new Simulation(clock, seed, options).run();
  } finally {
    stop();
    reuseScanners();
  }
}

class Simulation {
  readonly #seed: number;
  readonly #clock: SimulatedClock;
  readonly #dice: Dice;
  readonly #network: WitnessedCluster;
  readonly #names: string[];
  /** Undefined in a plain simulation. */
  readonly #more: Dice | undefined;
  readonly #clients: Clients;
  readonly #hubs = new Map<string, SimulatedHub>();
  readonly #all: SimulatedHub[] = [];
  /** By incarnation and shard. */
  readonly #rans = new Map<string, TimedRan[]>();
  readonly #shards: number;
  readonly #faults: number;
  readonly #observed: ObservedSubscription[] = [];
  readonly #wrongs: string[] = [];
  readonly #log: string[] = [];
  #starts = 0;
  #logged = 0;
  #steps = 0;
  #isOver = false;

  constructor(clock: SimulatedClock, seed: number, options: SimulationOptions) {
    this.#seed = seed;
    this.#clock = clock;
    this.#dice = diceOf(seed);
    this.#network = new WitnessedCluster({ clock, seed });
    this.#names = NAMES.slice(0, 2 + this.#dice(2));
    this.#shards = options.shards ?? 1;
    this.#faults = options.faults ?? FAULTS;
    this.#more = options.isPlain === true ? undefined : diceOf(seed + MORE);
    this.#clients = new Clients({
      ...{ network: this.#network, dice: diceOf(seed + 1_000_000), areCarried: this.#more !== undefined },
      hubs: () => [...this.#hubs.values()],
      wrong: (what) => this.#wrong(what),
    });
  }

  async run(): Promise<Findings> {
    const unhandled = (error: unknown): void => this.#wrong(`unhandled: ${String((error as Error)?.stack)}`);
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
      // Unhandled rejections are reported in a later turn of the event loop.
      await new Promise((resolve) => setImmediate(resolve));
      process.off('unhandledRejection', unhandled);
      process.off('uncaughtException', unhandled);
    }
    const { counts } = this.#clients;
    return {
      seed: this.#seed,
      wrongs: [...this.#network.wrongs, ...this.#wrongs],
      counts: {
        ...counts,
        owners: this.#network.owners.length,
        starts: this.#starts,
        logged: this.#logged,
        ms: this.#clock.nowMs,
      },
      log: this.#log,
    };
  }

  async #play(): Promise<void> {
    await this.#until('all hubs serve', () => this.#isSettled(), START_MS);
    await this.#clients.setUp(this.#hubs.get('a') as SimulatedHub);
    const untilMs = this.#clock.nowMs + this.#faults * BETWEEN_MS;
    const load = this.#clients.run(untilMs);
    if (this.#more !== undefined) void this.#trouble(this.#more);
    for (let fault = 0; fault < this.#faults; fault++) {
      await this.#clock.wait(this.#dice(BETWEEN_MS));
      void this.#fault();
    }
    await this.#clock.wait(Math.max(0, untilMs - this.#clock.nowMs) + LASTS_MS);
    // A hub may be stopped for longer than other faults last, and may be killed when it resumes.
    await this.#until('no process stands still', () => this.#isStopped.size === 0, SETTLE_MS);
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

  /** Runs a hub, and restarts it whenever it has ended. */
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
        for (const topic of ['fence_events', 'location_updates'] as const) new Listener(hub, topic, this.#observed);
        if (this.#more !== undefined) new Listener(hub, 'collision_events', this.#observed);
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
  readonly #isStopped = new Set<string>();

  #place(hubName: string, incarnation: string): HubPlace {
    return {
      ...{ network: this.#network, dice: this.#dice, shapes: SHAPES, hubName, incarnation, shards: this.#shards },
      aheadMs: this.#dice(20),
      partitions: PARTITION_COUNTS[this.#seed % PARTITION_COUNTS.length] as number,
      ran: (shard, ran) => {
        const key = `${incarnation} ${shard}`;
        const rans = this.#rans.get(key) ?? [];
        this.#rans.set(key, rans);
        rans.push({ ...ran, atMs: this.#clock.nowMs, order: this.#steps++ });
      },
      wrong: (what) => this.#wrong(what),
    };
  }

  /** In half of the runs one more hub joins, and in half of them a hub is slow for some time. */
  async #trouble(dice: Dice): Promise<void> {
    if (dice(2) === 0) {
      await this.#clock.wait(dice((this.#faults * BETWEEN_MS) / 2));
      this.#names.push(LATE_NAME);
      void this.#keepRunning(LATE_NAME);
    }
    if (dice(2) === 0) {
      await this.#clock.wait(dice(BETWEEN_MS));
      const hubs = [...this.#hubs.values()];
      const { incarnation } = hubs[dice(hubs.length || 1)] ?? {};
      if (incarnation === undefined) return;
      this.#note(`${incarnation} is slow`);
      this.#network.slow(incarnation, SLOW_MS);
    }
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
   * Stops a hub, and kills it if it was stopped for more than a second without being expelled: from then on its monotonic time
   * would differ from that of other hubs, which its records do not show.
   */
  async #whileHubStopped(hub: SimulatedHub, ms: number): Promise<void> {
    const { incarnation } = hub;
    await this.#whileStopped(incarnation, ms < STILL_MS ? ms : ms + EXPELLED_MS, () => {
      if (ms >= STILL_MS && this.#network.endOf(incarnation) === undefined) hub.kill();
    });
  }

  /** One that stands still already goes on doing so for as long as it was to. */
  async #whileStopped(name: string, ms: number, before?: () => void): Promise<void> {
    if (this.#isStopped.has(name)) return;
    this.#isStopped.add(name);
    this.#note(`stop ${name} for ${ms} ms`);
    this.#network.stop(name);
    await this.#clock.wait(ms);
    this.#note(`resume ${name}`);
    before?.();
    this.#network.resume(name);
    this.#isStopped.delete(name);
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
    for (const { incarnation } of this.#all) this.#network.slow(incarnation, 0);
    for (const name of [...SERVERS, ...this.#all.map(({ incarnation }) => incarnation)]) {
      this.#network.resume(name);
      this.#network.restore(name);
    }
  }

  /** A closing hub may still serve for a moment, but accepts no more requests. */
  #isSettled(): boolean {
    const hubs = [...this.#hubs.values()];
    const { owners, areSeveral, isWhole } = this.#network.owning;
    return (
      hubs.length === this.#names.length &&
      hubs.every(({ isServing }) => isServing) &&
      hubs.every(
        ({ cluster, incarnation }) => cluster.status.standing === (owners.has(incarnation) ? 'owner' : 'standby'),
      ) &&
      hubs.filter(({ incarnation }) => owners.has(incarnation)).length === owners.size &&
      (isWhole || !areSeveral) &&
      hubs.every(({ cluster }) => cluster.membership.members.length === hubs.length)
    );
  }

  async #check(): Promise<void> {
    const wrong = (what: string): void => this.#wrong(what);
    const processed: ProcessedLocation[] = [];
    const idle = new Set<number>();
    const committed: KeptStep[] = [];
    for (const [key, rans] of this.#rans) {
      const [incarnation = '', shard] = key.split(' ');
      const journaled = {
        committed: this.#network.steps(incarnation),
        evaluated: this.#network.evaluated(incarnation),
      };
      const { steps, hasGap, released, ...locations } = keptSteps(incarnation, rans, journaled);
      if (hasGap) wrong(`${incarnation} has stored a step of shard ${shard} after one that it has not stored`);
      processed.push(...locations.processed.map((speed) => ({ speed, incarnation })));
      for (const speed of locations.idle) idle.add(speed);
      committed.push(...steps, ...released);
    }
    committed.sort((a, b) => a.order - b.order);
    checkLocations(this.#clients.sent, { processed, idle }, wrong);
    checkIds(this.#observed, wrong);
    const timelines = timelinesOf(
      committed,
      [...ALL.providers, ...ALL.trackables],
      ownersAt(this.#network.config, ALL),
    );
    // One of several shards only receives changes that concern it, so its configuration may be old.
    if (this.#shards === 1) checkOwners(committed, this.#network.config, wrong);
    checkTakeovers(timelines, (incarnation) => this.#network.sealedAtMs(incarnation), wrong);
    const oracle = this.#shards === 1 ? await Oracle.of(committed, timelines) : undefined;
    if (oracle !== undefined) checkEvents(this.#observed, oracle, wrong);
    await this.#checkLog(oracle);
    await this.#checkStates(oracle);
  }

  /** All hubs read the same log. */
  async #checkLog(oracle: Oracle | undefined): Promise<void> {
    const wrong = (what: string): void => this.#wrong(what);
    let first: string | undefined;
    for (const { incarnation, parts } of this.#hubs.values()) {
      const logged = await readLog(parts.eventLog as EventLog);
      const cursors = logged.map(({ cursor }) => cursor).join();
      first ??= cursors;
      this.#logged = logged.length;
      if (cursors !== first) wrong(`${incarnation} reads another log: ${logged.length} events`);
      checkLoggedIds(logged, wrong);
      checkSubscriptions(this.#observed, logged, wrong);
      if (oracle !== undefined) checkLog(logged, oracle, wrong);
    }
  }

  /** All hubs return the same state, which is that of a single hub. */
  async #checkStates(oracle: Oracle | undefined): Promise<void> {
    const entities = [...this.#hubs.values()].map(({ parts }) => JSON.stringify([...parts.entities.written()]));
    if (new Set(entities).size > 1) this.#wrong(`hubs have different entities: ${entities.join('\n')}`);
    const view = { crs: 'EPSG:4326' };
    const known = new Map<string, string>();
    for (const hub of this.#hubs.values()) {
      for (const id of ALL.providers) {
        for (const query of [
          { ask: 'provider_location', id, view },
          { ask: 'provider_fences', id, spatial: false },
        ] as const) {
          const found = shown((await hub.ask(query))[0]);
          // With several shards the state of the first hub is the only reference.
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
        const hubs = [...this.#hubs.values()].map(
          ({ incarnation, cluster }) => `${incarnation} ${cluster.status.standing}`,
        );
        throw new Error(`${what}: not in ${ms} ms. Open: ${open}. Hubs: ${hubs.join()}`);
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

async function readLog(log: EventLog): Promise<readonly LoggedEvent[]> {
  const events: LoggedEvent[] = [];
  for (let after: string | undefined; ; ) {
    const page = await log.read(after, { topics: [], filters: {}, limit: 100 });
    events.push(...page.events);
    after = page.next;
    if (!page.hasMore) return events;
  }
}

const SHAPES = await openShapeChecks();

function shown(answer: unknown): string {
  const { texts, ids } = (answer ?? {}) as { texts?: readonly string[]; ids?: readonly string[] };
  if (texts !== undefined) return texts.map((text) => String(JSON.parse(text).speed)).join();
  return ids === undefined ? JSON.stringify(answer) : ids.toSorted().join();
}
