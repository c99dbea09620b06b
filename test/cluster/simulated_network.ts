import type { StreamSettings } from '../../src/cluster/nats/bus.ts';
import { type Dice, diceOf } from '../support/dice.ts';
import type { SimulatedClock } from './simulated_clock.ts';
import { SimulatedStream } from './simulated_stream.ts';

/** Transit time between two nodes. */
const DELAY_MS = { least: 0.1, more: 2 };
/** Time until a majority has an append. */
const REPLICATION_MS = { least: 0.2, more: 2 };
const ELECTION_MS = { least: 4000, more: 5000 };
const RECONNECT_MS = 250;
/** Time until a server that does not answer is given up. */
const STALE_MS = 5000;

export interface SimulatedNetworkOptions {
  readonly clock: SimulatedClock;
  readonly seed: number;
  readonly servers?: readonly string[];
}

/** Possible faults, and their frequency in 1000 cases. */
interface Mishaps {
  /** Core messages that are lost. */
  dropped: number;
  /** Appends that are stored and whose answer is lost. */
  unanswered: number;
  /** Appends that are rejected because the queue is full. */
  busy: number;
  /** Unanswered requests for the last message of a subject. */
  unread: number;
}

/** Observer of a member's connection: its bus. */
interface Connected {
  up(): void;
  down(why: string): void;
  /** The member is removed. */
  ended(): void;
  /** A message was stored in a stream. */
  committed(stream: string): void;
}

/** A hub. While it is stopped, nothing of it runs. */
export interface Member {
  readonly name: string;
  bus: Connected | undefined;
  /** Server that it is connected to. */
  server: string | undefined;
  isStopped: boolean;
  /** Whether it receives nothing, although its messages arrive. */
  isDeaf: boolean;
  readonly waiting: (() => void)[];
  /** Largest delay of its actions. */
  lateMs: number;
  /** Its delayed actions. */
  readonly late: (() => void)[];
}

interface Held {
  readonly member: Member;
  readonly server: string;
  readonly arrive: () => void;
}

interface Led {
  readonly stream: SimulatedStream;
  leader: string;
  electedAtMs: number;
}

/**
 * Servers, members, and the network between them, on simulated time. Everything takes a moment, of random length; nodes can be
 * cut off from each other, stopped and killed, and streams without a leader wait for an election.
 */
export class SimulatedNetwork {
  readonly clock: SimulatedClock;
  readonly mishaps: Mishaps = { dropped: 0, unanswered: 0, busy: 0, unread: 0 };
  readonly #dice: Dice;
  readonly #servers: readonly string[];
  readonly #members = new Map<string, Member>();
  readonly #streams = new Map<string, Led>();
  readonly #cuts = new Set<string>();
  readonly #down = new Set<string>();
  /** Messages that have arrived at a stopped server. */
  #held: Held[] = [];
  /** Arrival of the last message on each link: later ones must not overtake it. */
  readonly #arrivals = new Map<string, number>();
  #names = 0;

  constructor({ clock, seed, servers = ['n1', 'n2', 'n3'] }: SimulatedNetworkOptions) {
    this.clock = clock;
    this.#dice = diceOf(seed);
    this.#servers = servers;
  }

  /** Adds a member and connects it. One of the same name is killed first. */
  protected enter<Entered extends Connected>(name: string, connect: (member: Member) => Entered): Entered {
    this.kill(name);
    const member: Member = {
      ...{ name, bus: undefined, server: undefined, isStopped: false, isDeaf: false, waiting: [], lateMs: 0, late: [] },
    };
    this.#members.set(name, member);
    const entered = connect(member);
    member.bus = entered;
    this.#reconnect(member);
    return entered;
  }

  /** Timers of a member, which wait while it is stopped and end with it. */
  schedule(name: string, delayMs: number, callback: () => void): () => void {
    const member = this.#members.get(name);
    return this.clock.schedule(delayMs, () => member !== undefined && this.run(member, callback));
  }

  /** Cuts the link between two nodes. */
  cut(one: string, other: string): void {
    this.#cuts.add(linkOf(one, other));
    this.#changed();
  }

  /** Cuts a node off from all servers. */
  isolate(name: string): void {
    for (const server of this.#servers) if (server !== name) this.cut(name, server);
  }

  join(one: string, other: string): void {
    this.#cuts.delete(linkOf(one, other));
    this.#changed();
  }

  /** Reconnects a node with all servers, and lets it receive again. */
  restore(name: string): void {
    const member = this.#members.get(name);
    if (member !== undefined) member.isDeaf = false;
    for (const server of this.#servers) this.join(name, server);
  }

  /** Loses everything that is sent to a member. */
  deafen(name: string): void {
    const member = this.#members.get(name);
    if (member !== undefined) member.isDeaf = true;
  }

  /** Stops a member or a server until it is resumed. */
  stop(name: string): void {
    const member = this.#members.get(name);
    if (member === undefined) this.#down.add(name);
    else member.isStopped = true;
    this.#changed();
  }

  resume(name: string): void {
    const member = this.#members.get(name);
    this.#down.delete(name);
    const held = this.#held.filter(({ server }) => server === name);
    this.#held = this.#held.filter(({ server }) => server !== name);
    for (const each of held) if (each.member.server === name) this.sendAndKeep(each.member, each.arrive);
    if (member !== undefined) {
      member.isStopped = false;
      for (const callback of member.waiting.splice(0)) this.run(member, callback);
    }
    this.#changed();
  }

  /** Kills a member, or a server; `enter` and `resume` start them again. A server has its stored data. */
  kill(name: string): void {
    const member = this.#members.get(name);
    this.#members.delete(name);
    if (member === undefined) {
      if (this.#servers.includes(name)) this.#down.add(name);
    } else {
      member.server = undefined;
      member.waiting.length = 0;
      member.bus?.ended();
    }
    this.#changed();
  }

  /** Whether this mishap happens now. */
  mishap(what: keyof Mishaps): boolean {
    const often = this.mishaps[what];
    return often > 0 && this.#dice(1000) < often;
  }

  /** A random whole number from 0 up to, but not including, `below`. */
  dice(below: number): number {
    return this.#dice(below);
  }

  newName(): string {
    return `x${++this.#names}`;
  }

  get members(): Iterable<Member> {
    return this.#members.values();
  }

  /** The server that leads a stream. */
  leaderOf(stream: string): string {
    const led = this.#streams.get(stream);
    if (led === undefined) throw new Error(`There is no stream "${stream}"`);
    this.#elect(led);
    return led.leader;
  }

  get streams(): Map<string, Led> {
    return this.#streams;
  }

  addStream(settings: StreamSettings): SimulatedStream {
    const stream = new SimulatedStream(settings, this.clock.elapsed);
    const leader = this.#servers[this.#dice(this.#servers.length)] as string;
    this.#streams.set(settings.name, { stream, leader, electedAtMs: 0 });
    return stream;
  }

  /** Delays all actions of a member by up to that many milliseconds, in order. */
  slow(name: string, lateMs: number): void {
    const member = this.#members.get(name);
    if (member !== undefined) member.lateMs = lateMs;
  }

  /** Runs code of a member: now, or later if it is slow or stopped, or never if it is removed. */
  run(member: Member, callback: () => void): void {
    const { late } = member;
    if (member.lateMs === 0 && late.length === 0) this.#runNow(member, callback);
    else {
      late.push(callback);
      const next = (): void => this.#runNow(member, late.shift() as () => void);
      this.clock.schedule(this.#dice(member.lateMs + 1), next);
    }
  }

  #runNow(member: Member, callback: () => void): void {
    if (this.#members.get(member.name) !== member) return;
    if (member.isStopped) member.waiting.push(callback);
    else callback();
  }

  /** Calls back when a message of a member arrives at the servers; never if it is lost. */
  send(member: Member, arrive: () => void): void {
    const { server } = member;
    if (server === undefined) return;
    this.#inTurn(`${member.name} up`, () => {
      if (this.#reaches(member.name, server)) arrive();
    });
  }

  /** The same, but messages to a stopped server arrive once that is resumed, if the connection has lasted. */
  sendAndKeep(member: Member, arrive: () => void): void {
    const { server } = member;
    if (server === undefined) return;
    this.#inTurn(`${member.name} up`, () => {
      if (this.#reaches(member.name, server)) arrive();
      else if (this.#down.has(server)) this.#held.push({ member, server, arrive });
    });
  }

  /** Delivers a message to a member. It is lost if the member cannot be reached, or is deaf. */
  deliver(from: string, member: Member, take: () => void): void {
    this.#inTurn(`${from} to ${member.name}`, () => {
      if (member.server === undefined || member.isDeaf) return;
      this.run(member, take);
    });
  }

  /** Whether messages of one member can reach the other. */
  isBetween(one: Member, other: Member): boolean {
    return one.server !== undefined && other.server !== undefined && this.#reaches(one.server, other.server);
  }

  /** Calls back when a majority has the message that was just sent to the leader of a stream; never if it is lost before. */
  commit(led: Led, agreed: () => void): void {
    const { leader } = led;
    this.clock.schedule(this.#between(REPLICATION_MS), () => {
      if (led.leader === leader && this.#leads(led)) agreed();
    });
  }

  /** Whether a member can reach the leader of a stream now; `elects` if there is none. */
  access(member: Member, led: Led): 'reached' | 'cut' | 'elects' {
    if (member.server === undefined) return 'cut';
    this.#elect(led);
    if (!this.#leads(led)) return 'elects';
    return this.#reaches(member.server, led.leader) ? 'reached' : 'cut';
  }

  #inTurn(link: string, callback: () => void): void {
    const atMs = Math.max(this.#arrivals.get(link) ?? 0, this.clock.nowMs + this.#between(DELAY_MS));
    this.#arrivals.set(link, atMs);
    this.clock.schedule(atMs - this.clock.nowMs, callback);
  }

  #between({ least, more }: { least: number; more: number }): number {
    return least + (more * this.#dice(1000)) / 1000;
  }

  #reaches(one: string, other: string): boolean {
    return !this.#down.has(one) && !this.#down.has(other) && !this.#cuts.has(linkOf(one, other));
  }

  #leads({ leader, stream }: Led): boolean {
    return this.#mayLead(leader, stream.settings.replicas);
  }

  #mayLead(server: string, replicas: number): boolean {
    const reached = this.#servers.filter((other) => this.#reaches(server, other)).length;
    return !this.#down.has(server) && (replicas === 1 || reached > this.#servers.length / 2);
  }

  #elect(led: Led): void {
    const { replicas } = led.stream.settings;
    if (this.#leads(led) || replicas === 1) {
      led.electedAtMs = 0;
      return;
    }
    if (led.electedAtMs === 0) led.electedAtMs = this.clock.nowMs + this.#between(ELECTION_MS);
    if (led.electedAtMs > this.clock.nowMs) return;
    const able = this.#servers.filter((server) => this.#mayLead(server, replicas));
    if (able.length > 0) led.leader = able[this.#dice(able.length)] as string;
  }

  #changed(): void {
    for (const led of this.#streams.values()) this.#elect(led);
    for (const member of this.#members.values()) this.#check(member);
  }

  #check(member: Member): void {
    const { server } = member;
    if (server === undefined || this.#reaches(member.name, server)) return;
    const afterMs = this.#cuts.has(linkOf(member.name, server)) ? 0 : STALE_MS;
    this.clock.schedule(afterMs, () => {
      if (member.server !== server || this.#reaches(member.name, server)) return;
      member.server = undefined;
      this.run(member, () => member.bus?.down(`lost ${server}`));
      this.clock.schedule(RECONNECT_MS, () => this.#reconnect(member));
    });
  }

  #reconnect(member: Member): void {
    if (this.#members.get(member.name) !== member || member.server !== undefined) return;
    const reached = this.#servers.filter((server) => this.#reaches(member.name, server));
    if (reached.length === 0 || member.isStopped) {
      this.clock.schedule(RECONNECT_MS, () => this.#reconnect(member));
      return;
    }
    const server = reached[this.#dice(reached.length)] as string;
    this.clock.schedule(this.#between(DELAY_MS), () => {
      member.server = server;
      this.run(member, () => member.bus?.up());
      this.#check(member);
    });
  }
}

function linkOf(one: string, other: string): string {
  return one < other ? `${one} ${other}` : `${other} ${one}`;
}
