import { setTimeout as delay } from 'node:timers/promises';
import type { BareCommands } from '../bare_server.ts';
import type { Group, Received, ListenerCommands } from '../listen/listener.ts';
import type { GeneratorCommands } from '../load/generator.ts';
import type { Percentiles } from '../load/latencies.ts';
import type { Plan } from '../load/plan.ts';
import type { Interval, Sent } from '../load/sender.ts';
import { offsetOfDay } from './clock.ts';
import { BenchHub, type StartOptions } from './hub.ts';
import type { Mosquitto } from './mosquitto.ts';
import { cpuSeconds, frontCpuSeconds, residentMb } from './proc.ts';
import { Remote } from './remote.ts';
import { Rest } from './rest.ts';

/** Group that subscribes to every location: accepted locations that it does not receive are lost. */
export const WITNESS = 'location_updates';
const NO_PROGRESS_MS = 5000;
/** Committed changes are published within this time. */
const QUIET_MS = 1000;
const POLL_MS = 50;
const CONNECT_MS = 10_000;

const GENERATOR = new URL('../load/generator.ts', import.meta.url);
const LISTENER = new URL('../listen/listener.ts', import.meta.url);
const BARE = new URL('../bare_server.ts', import.meta.url);

/** Setup of a test bed. */
export interface BedOptions extends StartOptions {
  readonly plan: Plan;
  /** Broker through which the hub receives locations. */
  readonly broker?: Mosquitto;
  /** Broker of a hub that receives locations directly. */
  readonly publishesTo?: Mosquitto;
  /** Groups of subscribers, one of which is the witness. */
  readonly groups: readonly Group[];
  /** Creates zones, fences, trackables and providers before the measurement. */
  create?(rest: Rest): Promise<unknown>;
  /** Whether every provider sends a location at first; true by default. */
  readonly primes?: boolean;
}

/** Measurements of one interval of load. */
export interface Measured {
  readonly sent: Sent;
  /** Locations that the witness received during the measured part. */
  readonly seenPerSecond: number;
  /** Seconds of CPU time during the measured part. */
  readonly hubCpuSeconds: number;
  /** The part of the hub's front thread in that. */
  readonly frontCpuSeconds: number;
  readonly generatorCpuSeconds: number;
  readonly listenerCpuSeconds: number;
  /** Of the broker, if there is one. */
  readonly brokerCpuSeconds: number;
  /** At the end of the measured part. */
  readonly residentMb: number;
  /** Of messages received in the measured part, and until all had arrived. */
  readonly latency: Readonly<Record<string, Percentiles>>;
  /** Latency of exits, by group; empty for groups without fence events. */
  readonly exitLatency: Readonly<Record<string, Percentiles>>;
}

/** Counts since the bed was opened. */
export interface Balance {
  readonly accepted: number;
  readonly seen: number;
  /** Accepted, but not received by the witness. */
  readonly lost: number;
  /** According to the hub's own counters. */
  readonly processed: number;
  readonly outdated: number;
  readonly received: Readonly<Record<string, Received>>;
}

/** A hub, a generator and a listener, in separate processes, ready for load. */
export class Bed {
  readonly hub: BenchHub;
  readonly rest: Rest;
  readonly generator: Remote<GeneratorCommands>;
  readonly listener: Remote<ListenerCommands>;
  readonly #plan: Plan;
  readonly #broker: Mosquitto | undefined;
  #accepted = 0;

  private constructor(hub: BenchHub, { plan, broker }: BedOptions) {
    const clock = [String(offsetOfDay())];
    this.hub = hub;
    this.#plan = plan;
    this.#broker = broker;
    this.rest = new Rest(hub.port);
    this.generator = new Remote(GENERATOR, clock);
    this.listener = new Remote(LISTENER, clock);
  }

  /** Starts everything, creates the scene, subscribes, and sends one location of every provider. */
  static async open(options: BedOptions): Promise<Bed> {
    const broker = options.broker ?? options.publishesTo;
    const settings = broker && { mqtt_address: '127.0.0.1', mqtt_port: broker.port };
    const hub = await BenchHub.start({ ...options, settings: { ...options.settings, ...settings } });
    const bed = new Bed(hub, options);
    try {
      await options.create?.(bed.rest);
      for (const group of options.groups) {
        const port = group.filter === undefined ? hub.port : bed.#port;
        await bed.listener.ask('subscribe', { port, group });
      }
      if (broker !== undefined) await bed.#connected();
      await bed.generator.ask('open', { plan: options.plan, port: bed.#port });
      if (options.primes === false) return bed;
      bed.#accepted += (await bed.generator.ask('prime', { port: bed.#port })).accepted;
      await bed.drain();
    } catch (error) {
      await bed.close();
      throw error;
    }
    return bed;
  }

  /** Port to which locations are sent. */
  get #port(): number {
    return this.#broker?.port ?? this.hub.port;
  }

  /** Connections of the load generator. */
  get connections(): number {
    return this.#plan.connections;
  }

  /** Locations per second of a server that only parses them, on the same number of connections. */
  async bare({ warmupSeconds, seconds }: { warmupSeconds: number; seconds: number }): Promise<number> {
    const server = new Remote<BareCommands>(BARE);
    try {
      const port = await server.ask('listen', undefined);
      await this.generator.ask('open', { plan: this.#plan, port });
      const interval = { perSecond: undefined, warmupSeconds, seconds };
      const { measured, measuredSeconds } = await this.generator.ask('run', { port, interval });
      await this.generator.ask('close', { port });
      return measured.accepted / measuredSeconds;
    } finally {
      await server.stop();
    }
  }

  /**
   * Puts the hub under load for an interval. Then it waits until all accepted locations are received, unless `drains` is
   * false: the next measurement starts with the backlog.
   */
  async measure(interval: Interval, { drains = true } = {}): Promise<Measured> {
    const processes = [this.hub.pid, this.generator.pid, this.listener.pid, this.#broker?.pid] as const;
    let from: Promise<Reading> | undefined;
    let to: Promise<Reading> | undefined;
    this.generator.onNote = (note) => {
      const { measuring } = note as { measuring: boolean };
      if (measuring) void this.listener.ask('resetLatencies', undefined);
      if (measuring) from = this.#read(processes);
      else to = this.#read(processes);
    };
    const sent = await this.generator.ask('run', { port: this.#port, interval });
    this.#accepted += sent.total.accepted;
    const [before, after] = [await from, await to];
    if (before === undefined || after === undefined) throw new Error('The generator has not measured anything');
    if (drains) await this.drain();
    const received = Object.entries(await this.listener.ask('received', undefined));
    return {
      sent,
      seenPerSecond: ((after.seen - before.seen) / (after.atMs - before.atMs)) * 1000,
      hubCpuSeconds: after.cpu[0] - before.cpu[0],
      frontCpuSeconds: after.front - before.front,
      generatorCpuSeconds: after.cpu[1] - before.cpu[1],
      listenerCpuSeconds: after.cpu[2] - before.cpu[2],
      brokerCpuSeconds: after.cpu[3] - before.cpu[3],
      residentMb: after.residentMb,
      latency: Object.fromEntries(received.map(([name, { latency }]) => [name, latency])),
      exitLatency: Object.fromEntries(received.map(([name, { latencyApart }]) => [name, latencyApart])),
    };
  }

  /**
   * Waits until the witness has received all accepted locations and no subscriber receives more events: fence events
   * follow the commit of their step. Gives up when no subscriber has received an event for five seconds.
   */
  async drain(): Promise<void> {
    let got = -1;
    let sinceMs = performance.now();
    for (;;) {
      const received = await this.listener.ask('received', undefined);
      const now = Object.values(received).reduce((sum, { objects }) => sum + objects, 0);
      if (now > got) sinceMs = performance.now();
      const enoughMs = (received[WITNESS]?.objects ?? 0) >= this.#accepted ? QUIET_MS : NO_PROGRESS_MS;
      if (performance.now() - sinceMs > enoughMs) return;
      got = now;
      await delay(POLL_MS);
    }
  }

  /** Outcome of everything sent so far. */
  async balance(): Promise<Balance> {
    const received = await this.listener.ask('received', undefined);
    const metrics = await this.rest.metrics();
    const seen = received[WITNESS]?.objects ?? 0;
    return {
      accepted: this.#accepted,
      seen,
      lost: this.#accepted - seen,
      processed: metrics.get('hub_locations_processed_total') ?? 0,
      outdated: metrics.get('hub_locations_outdated_total') ?? 0,
      received,
    };
  }

  async close(): Promise<void> {
    this.rest.close();
    await Promise.all([this.generator.stop(), this.listener.stop()]);
    await this.hub.stop();
  }

  /** Resolves when the hub has subscribed at the broker. */
  async #connected(): Promise<void> {
    const untilMs = performance.now() + CONNECT_MS;
    while (!(await this.rest.call('GET', '/health/mqtt')).text.includes('"connected":true')) {
      if (performance.now() > untilMs) throw new Error('The hub does not connect to the broker');
      await delay(POLL_MS);
    }
  }

  async #seen(): Promise<number> {
    return (await this.listener.ask('received', undefined))[WITNESS]?.objects ?? 0;
  }

  async #read(processes: readonly (number | undefined)[]): Promise<Reading> {
    const cpu = processes.map((pid) => (pid === undefined ? 0 : cpuSeconds(pid))) as unknown as Reading['cpu'];
    return {
      cpu,
      front: frontCpuSeconds(this.hub.pid),
      residentMb: residentMb(this.hub.pid),
      seen: await this.#seen(),
      atMs: performance.now(),
    };
  }
}

interface Reading {
  readonly cpu: readonly [hub: number, generator: number, listener: number, broker: number];
  readonly front: number;
  readonly residentMb: number;
  readonly seen: number;
  readonly atMs: number;
}
