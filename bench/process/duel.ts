import { setTimeout as delay } from 'node:timers/promises';
import type { ListenerCommands } from '../listen/listener.ts';
import type { GeneratorCommands } from '../load/generator.ts';
import type { Percentiles } from '../load/latencies.ts';
import type { FlipPlan, WalkPlan } from '../load/plan.ts';
import type { Interval } from '../load/sender.ts';
import { offsetOfDay } from './clock.ts';
import type { Contender } from './contender.ts';
import { cpuSeconds, residentMb, wakeUps } from './proc.ts';
import { Remote } from './remote.ts';

const GENERATOR = new URL('../load/generator.ts', import.meta.url);
const LISTENER = new URL('../listen/listener.ts', import.meta.url);
const EVENTS = 'fence_events';
/** After this time without an event, no more are expected. */
const QUIET_MS = 1000;
const POLL_MS = 50;

/** Measurements of one interval of load on a contender. */
export interface Round {
  /** Updates per second that were answered and evaluated. */
  readonly updatesPerSecond: number;
  /** CPU time of the server per update. */
  readonly microsPerUpdate: number;
  /** Of every event received in the interval and until all had arrived, since its update was due. */
  readonly latency: Percentiles;
  /** Answered updates, and received events, in the whole interval with its warm-up. */
  readonly updates: number;
  readonly events: number;
  /** MB, at the end of the interval. */
  readonly residentMb: number;
  /** Wake-ups of each thread of the server; the main thread comes first. */
  readonly wakeUpsPerSecond: readonly number[];
}

/**
 * One load generator and one subscriber of fence events for all contenders, in separate processes, so that both are
 * equally warm for each contender.
 */
export class Duel {
  readonly #generator: Remote<GeneratorCommands>;
  readonly #listener: Remote<ListenerCommands>;

  constructor() {
    const clock = [String(offsetOfDay())];
    this.#generator = new Remote(GENERATOR, clock);
    this.#listener = new Remote(LISTENER, clock);
  }

  /** Connects the generator and a subscriber to a contender that has its fences. */
  async enter({ kind, port }: Contender, plan: WalkPlan | FlipPlan): Promise<void> {
    if (kind === 'tile38') {
      await this.#listener.ask('subscribeToTile38', { port, name: EVENTS });
    } else {
      const group = { name: EVENTS, topic: EVENTS, params: [{}], agesOfAll: true };
      await this.#listener.ask('subscribe', { port, group });
    }
    await this.#generator.ask('open', { port, plan: kind === 'tile38' ? { ...plan, way: 'resp' } : plan });
  }

  /** Disconnects from it. */
  async leave({ port }: Contender): Promise<void> {
    await this.#generator.ask('close', { port });
    await this.#listener.ask('close', { name: EVENTS });
  }

  /** Sends one update of every object. */
  async prime({ port }: Contender): Promise<void> {
    await this.#generator.ask('prime', { port });
    await this.#quiet();
  }

  /** Applies load to a contender for an interval, and waits until all events have arrived. */
  async round(contender: Contender, interval: Interval): Promise<Round> {
    let from: Promise<Reading> | undefined;
    let to: Promise<Reading> | undefined;
    this.#generator.onNote = (note) => {
      const { measuring } = note as { measuring: boolean };
      if (!measuring) {
        to = read(contender);
        return;
      }
      if (interval.warmupSeconds > 0) void this.#listener.ask('resetLatencies', undefined);
      from = read(contender);
    };
    // Without a warm-up, the very first events count: they may arrive before the generator has reported the start of
    // its measurement.
    await this.#listener.ask('resetLatencies', undefined);
    const eventsBefore = (await this.#received()).objects;
    const { measured, measuredSeconds, total } = await this.#generator.ask('run', { port: contender.port, interval });
    const [before, after] = [await from, await to];
    if (before === undefined || after === undefined) throw new Error('The generator has not measured anything');
    await this.#quiet();
    const { objects, latency } = await this.#received();
    const answered = measured.accepted / measuredSeconds;
    const evaluated = evaluatedPerSecond(before, after);
    // Updates that only fill queues do not count.
    const updatesPerSecond = Math.min(answered, evaluated);
    return {
      updatesPerSecond,
      microsPerUpdate: (1e6 * (after.cpuSeconds - before.cpuSeconds)) / (updatesPerSecond * measuredSeconds),
      latency,
      updates: total.accepted,
      events: objects - eventsBefore,
      residentMb: after.residentMb,
      wakeUpsPerSecond: wakeUpsPerSecond(before, after),
    };
  }

  async close(): Promise<void> {
    await Promise.all([this.#generator.stop(), this.#listener.stop()]);
  }

  async #received(): Promise<{ readonly objects: number; readonly latency: Percentiles }> {
    const received = (await this.#listener.ask('received', undefined))[EVENTS];
    if (received === undefined) throw new Error('No client has subscribed to fence events');
    if (received.closed > 0) throw new Error('The subscriber of fence events was disconnected');
    return received;
  }

  async #quiet(): Promise<void> {
    let got = -1;
    for (let sinceMs = performance.now(); performance.now() - sinceMs < QUIET_MS; await delay(POLL_MS)) {
      const { objects } = await this.#received();
      if (objects > got) sinceMs = performance.now();
      got = objects;
    }
  }
}

interface Reading {
  readonly cpuSeconds: number;
  readonly residentMb: number;
  readonly wakeUps: ReadonlyMap<string, number>;
  readonly evaluated: number | undefined;
  readonly atMs: number;
}

async function read(contender: Contender): Promise<Reading> {
  const { pid } = contender;
  const now = { cpuSeconds: cpuSeconds(pid), residentMb: residentMb(pid), wakeUps: wakeUps(pid) };
  const evaluated = await contender.evaluated();
  return { ...now, evaluated, atMs: performance.now() };
}

function evaluatedPerSecond(before: Reading, after: Reading): number {
  if (before.evaluated === undefined || after.evaluated === undefined) return Number.POSITIVE_INFINITY;
  return (1000 * (after.evaluated - before.evaluated)) / (after.atMs - before.atMs);
}

function wakeUpsPerSecond(before: Reading, after: Reading): readonly number[] {
  const seconds = (after.atMs - before.atMs) / 1000;
  const rates = Array.from(after.wakeUps, ([thread, count]) => (count - (before.wakeUps.get(thread) ?? 0)) / seconds);
  return rates.filter((rate, i) => i === 0 || rate > 0);
}
