import { setTimeout as delay } from 'node:timers/promises';
import { NatsServers } from '../../../bench/process/nats_server.ts';
import { type FollowedCluster, followCluster } from '../../cluster/cluster_view.ts';
import { type AtEnd, randomFrom } from '../hub_process.ts';
import { Acknowledged } from './acknowledged.ts';
import { ClusterFindings } from './cluster_findings.ts';
import { beginFault, type FaultKind, readsWhatIsWritten, serving, shuffledFaults } from './faults.ts';
import { HubSeat, IS_OUT, type LogLine } from './hub_seat.ts';
import { Movers } from './movers.ts';
import { Probes } from './probes.ts';
import { DeliveredEvents } from './delivered.ts';
import { Watch } from './watch.ts';

/** Clients that send requests sequentially, in addition to the moving objects. */
const CLIENTS = ['a', 'b', 'c', 'd'];
/** Load before a fault, and after killed processes run again. */
const BEFORE_MS = { min: 300, max: 1200 };
const AFTER_MS = 700;
/** Pause of a client after a rejection. */
const PAUSE_MS = 50;
/** Time until an object gets its next carrier. */
const LENT_MS = 150;
/** Longest permitted wait for a takeover. */
const OUTAGE_MS = 30_000;
/** Longest permitted duration of a round. */
const ROUND_MS = 240_000;
/** Log lines of each hub shown after a failed round. */
const LOG_SHOWN = 20;
/** Time within which all partitions reach their owners if no hub joins or leaves. */
const SPREAD_MS = 40_000;
/** Every Nth round kills a hub so soon after the fault that partitions are still migrating. */
const HASTY_EVERY = 3;
const HASTY_MS = 1500;
/** Errors that faults cause. */
const WANTED = [IS_OUT, 'NATS cannot be reached', 'Usage cannot be kept for now'];
/** Lines from this level on are errors. */
const ERROR_LEVEL = 50;

export interface ClusterRoundsOptions {
  readonly hubs: number;
  readonly rounds: number;
  readonly seed: number;
  /** Number of NATS servers. */
  readonly nats: 1 | 3;
  /** Path of nats-server. */
  readonly program: string;
  /** Fault of each round; random if omitted. */
  readonly faults?: readonly FaultKind[];
  /** Folder of the previous release. Hubs start from it, and are replaced one by one. */
  readonly release?: string;
  /** Called after each round. */
  done?(round: number, fault: FaultKind, findings: ClusterFindings): void;
  readonly atEnd: AtEnd;
}

/**
 * Runs a cluster of hub processes under mixed load and injects a fault in every round. Afterwards it compares
 * acknowledged changes and published events with the state of every hub.
 */
export async function runClusterRounds(options: ClusterRoundsOptions): Promise<ClusterFindings> {
  const { hubs, rounds, seed, nats: count, program, faults = [], release, done, atEnd } = options;
  const random = randomFrom(seed);
  const nats = await NatsServers.start({ path: program, count });
  atEnd(() => void nats.stop());
  try {
    const names = Array.from({ length: hubs }, (_, index) => String.fromCharCode(97 + index));
    const seats = await Promise.all(names.map((name) => HubSeat.open(name, nats, atEnd)));
    for (const seat of seats) seat.release = release;
    await Promise.all(seats.map((seat) => seat.start()));
    const followed = await followCluster({ servers: nats.addresses, replicas: count }, () => undefined);
    const scene = new Scene({ seats, nats, random, followed, release });
    const drawn = shuffledFaults(random, count > 1);
    await scene.begin();
    for (let round = 1; round <= rounds; round++) {
      scene.findings.round = round;
      const kind = release === undefined ? (faults[round - 1] ?? drawn.next().value) : scene.replace();
      await scene.playInTime(kind);
      done?.(round, kind, scene.findings);
      if (scene.isStuck) break;
    }
    await scene.end();
    await followed.close();
    return scene.findings;
  } finally {
    await nats.stop();
  }
}

interface SceneParts {
  readonly seats: readonly HubSeat[];
  readonly nats: NatsServers;
  readonly random: () => number;
  /** Owners of the partitions. */
  readonly followed: FollowedCluster;
  /** Folder of the previous release, from which hubs are replaced. */
  readonly release: string | undefined;
}

/** The hubs, their load and their subscribers. */
class Scene {
  readonly findings = new ClusterFindings();
  readonly #parts: SceneParts;
  readonly #acknowledged = new Acknowledged(this.findings);
  readonly #movers: Movers;
  readonly #delivered = new DeliveredEvents(this.findings);
  #watches: Watch[] = [];
  #isLoaded = false;
  /** Seat that leaves in this round; undefined if it is drawn at random. */
  #leaving: HubSeat | undefined;
  /** Whether a round could not be completed. */
  isStuck = false;

  constructor(parts: SceneParts) {
    this.#parts = parts;
    this.#movers = new Movers(parts.random);
  }

  async begin(): Promise<void> {
    const { seats } = this.#parts;
    await this.#movers.configure(seats[0] as HubSeat);
    await this.#watchAgain();
  }

  async end(): Promise<void> {
    for (const watch of this.#watches) watch.close();
    for (const seat of this.#parts.seats) this.#readLog(seat, await seat.kill());
  }

  /**
   * Replaces the next hub by one of this release. Once all are replaced, one of the previous release tries to return.
   */
  replace(): FaultKind {
    const { seats } = this.#parts;
    const seat = seats[(this.findings.round - 1) % seats.length] as HubSeat;
    this.#leaving = seat;
    if (seat.release === undefined) return 'way back';
    seat.release = undefined;
    return 'leave of a hub';
  }

  /** Plays one round. A timeout or a failure ends the series, since no other round can follow. */
  async playInTime(kind: FaultKind): Promise<void> {
    const ended = new AbortController();
    const late = delay(ROUND_MS, undefined, { signal: ended.signal }).then(() => {
      throw new Error(`the round is not over after ${ROUND_MS} ms`);
    });
    late.catch(() => undefined);
    try {
      await Promise.race([this.#play(kind), late]);
    } catch (error) {
      this.isStuck = true;
      this.#isLoaded = false;
      const logs = this.#parts.seats.map(({ name, logged }) => {
        return [`hub ${name}:`, ...logged.slice(-LOG_SHOWN).map(({ time, msg }) => `  ${time} ${msg}`)].join('\n');
      });
      this.findings.note('wrong', [`${kind}: ${String((error as Error).stack)}`, ...logs].join('\n'));
    } finally {
      ended.abort();
    }
  }

  /** One round: load, a fault, more load, and the comparison. */
  async #play(kind: FaultKind): Promise<void> {
    const { seats, random } = this.#parts;
    const load = this.#load();
    await delay(BEFORE_MS.min + random() * (BEFORE_MS.max - BEFORE_MS.min));
    let survivor = await this.#strike(kind, this.#leaving ?? this.#any());
    if (this.findings.round % HASTY_EVERY === 0 && this.#parts.release === undefined) {
      await delay(random() * HASTY_MS);
      survivor = await this.#strike('kill of a hub', this.#any(), 'kill of a hub soon after');
    }
    await this.#spread();
    if (kind === 'way back') {
      const isOpen = await readsWhatIsWritten(this.#parts.release as string);
      this.findings.count(
        isOpen ? 'seats that the previous release took again' : 'starts that the release before refused',
      );
    }
    await this.#watchAgain();
    await delay(AFTER_MS);
    this.#isLoaded = false;
    await load;
    // On a busy machine, others may have expelled a hub that was only slow.
    await Promise.all(seats.map((seat) => serving(seat)));
    for (let pair = 0; pair < Movers.pairs; pair++) await this.#until(() => this.#movers.drive(survivor, pair, true));
    await this.#delivered.look(this.#watches, this.#movers);
    await this.#acknowledged.check(seats);
    await this.#checkMembers();
    this.#watches = this.#watches.filter(({ isOpen }) => isOpen);
    await this.#watchAgain();
  }

  /** Resolves when the fault is over, with a hub that it has not struck. */
  async #strike(kind: FaultKind, struck: HubSeat, called: string = kind): Promise<HubSeat> {
    const { random, nats, release } = this.#parts;
    const survivor = this.#anyBut(struck);
    const partitions = this.#partitionsOf(kind === 'kill of a NATS server' ? undefined : struck);
    const buried = (seat: HubSeat, logged: readonly LogLine[]): void => this.#readLog(seat, logged);
    const fault = await beginFault(kind, { struck, survivor, nats, random, release, buried });
    const probes = new Probes(survivor, partitions, fault.atMs);
    await fault.mend();
    this.findings.outages.push({ fault: called, tookMs: await probes.end(), partitions: partitions.length });
    return survivor;
  }

  async #load(): Promise<void> {
    this.#isLoaded = true;
    const clients = CLIENTS.map((own) =>
      this.#whileLoaded((seat) => {
        return this.#acknowledged.ask(seat, { other: this.#anyBut(seat), own, random: this.#parts.random });
      }),
    );
    const walks = Array.from({ length: Movers.walkers }, (_, index) => {
      return this.#whileLoaded((seat) => this.#movers.walk(seat, index));
    });
    const drives = Array.from({ length: Movers.pairs }, (_, index) => {
      return this.#whileLoaded((seat) => this.#movers.drive(seat, index));
    });
    const lends = Array.from({ length: Movers.lent }, (_, index) => {
      return this.#whileLoaded((seat) => this.#lend(seat, index));
    });
    const runs = Array.from({ length: Movers.runners }, (_, index) => this.#runWhileLoaded(index));
    await Promise.all([...clients, ...walks, ...drives, ...lends, ...runs]);
  }

  async #whileLoaded(ask: (seat: HubSeat) => Promise<boolean>): Promise<void> {
    while (this.#isLoaded) if (!(await ask(this.#any()))) await delay(PAUSE_MS);
  }

  async #lend(seat: HubSeat, index: number): Promise<boolean> {
    await delay(LENT_MS);
    if (!(await this.#movers.lend(seat, index))) return false;
    this.findings.count('assignments changed');
    return true;
  }

  /** Each runner uses one hub for a while. */
  async #runWhileLoaded(index: number): Promise<void> {
    while (this.#isLoaded) {
      const untilMs = performance.now() + 200 + this.#parts.random() * 800;
      await this.#movers.run(this.#any(), index, () => !this.#isLoaded || performance.now() > untilMs);
      await delay(PAUSE_MS);
    }
  }

  async #until(ask: () => Promise<boolean>): Promise<void> {
    while (!(await ask())) await delay(PAUSE_MS);
  }

  /** Partitions of a hub, or all of them. */
  #partitionsOf(seat: HubSeat | undefined): readonly number[] {
    const { owners } = this.#parts.followed.view;
    return owners.flatMap((name, partition) => (seat === undefined || name === seat.name ? [partition] : []));
  }

  /** Resolves when all hubs own equally many partitions, and all migrations are complete. */
  async #spread(): Promise<void> {
    const begunMs = performance.now();
    if (this.#isSpread()) return;
    const probes = new Probes(this.#any(), this.#partitionsOf(undefined));
    while (!this.#isSpread() && performance.now() < begunMs + SPREAD_MS) await delay(PAUSE_MS);
    const tookMs = performance.now() - begunMs;
    if (!this.#isSpread()) this.findings.note('wrong', `partitions are not spread: ${JSON.stringify(this.#counts())}`);
    this.findings.spreads.push({ tookMs, longestWaitMs: await probes.end() });
  }

  /** Or as many as can be spread: while a hub of an older release is a member, one owns all. */
  #isSpread(): boolean {
    const counts = [...this.#counts().values()];
    const isEven = Math.max(...counts) - Math.min(...counts) <= 1;
    const isOld = this.#parts.seats.some(({ release }) => release !== undefined);
    return this.#parts.followed.view.isSettled && (isEven || isOld);
  }

  #counts(): ReadonlyMap<string, number> {
    const counts = new Map(this.#parts.seats.map(({ name }) => [name, 0]));
    for (const name of this.#parts.followed.view.owners)
      if (name !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
    return counts;
  }

  /** Ensures that every hub has a subscriber. */
  async #watchAgain(): Promise<void> {
    for (const seat of this.#parts.seats) {
      const isWatched = (): boolean => this.#watches.some((watch) => watch.seat === seat && watch.isOpen);
      for (const untilMs = performance.now() + OUTAGE_MS; !isWatched() && performance.now() < untilMs; ) {
        const watch = await Watch.open(seat);
        if (watch === undefined) await delay(PAUSE_MS);
        else this.#watches.push(watch);
      }
      if (!isWatched()) this.findings.note('wrong', `hub ${seat.name} took no subscriber for ${OUTAGE_MS} ms`);
    }
  }

  async #checkMembers(): Promise<void> {
    for (const seat of this.#parts.seats) {
      const { checked, wrong } = await this.#movers.wrongMembers(seat);
      this.findings.count('memberships checked', checked);
      for (const what of wrong) this.findings.note('lost', `${what}, says hub ${seat.name}`);
    }
  }

  #readLog(seat: HubSeat, logged: readonly LogLine[]): void {
    const isWanted = (msg: string): boolean => WANTED.some((wanted) => msg.startsWith(wanted));
    const errors = logged.filter(({ level, msg }) => level >= ERROR_LEVEL && !isWanted(msg));
    for (const line of errors) this.findings.note('wrong', `hub ${seat.name} logged ${JSON.stringify(line)}`);
  }

  #any(): HubSeat {
    const { seats, random } = this.#parts;
    return seats[Math.floor(random() * seats.length)] as HubSeat;
  }

  #anyBut(seat: HubSeat): HubSeat {
    const others = this.#parts.seats.filter((other) => other !== seat);
    return others[Math.floor(this.#parts.random() * others.length)] ?? seat;
  }
}
