import { setTimeout as delay } from 'node:timers/promises';
import type { ListenerCommands } from '../listen/listener.ts';
import type { GeneratorCommands } from '../load/generator.ts';
import type { Percentiles } from '../load/latencies.ts';
import { providerId, type WalkPlan } from '../load/plan.ts';
import type { Interval, Sent } from '../load/sender.ts';
import { offsetOfDay } from '../process/clock.ts';
import { GO } from '../process/go.ts';
import { BenchHub } from '../process/hub.ts';
import { natsProgram } from '../process/nats_program.ts';
import { NatsServers } from '../process/nats_server.ts';
import { cpuSeconds } from '../process/proc.ts';
import { Remote } from '../process/remote.ts';
import { Rest } from '../process/rest.ts';
import type { Result } from '../report/result.ts';
import { crowdScene } from './batch.ts';
import { commandOf, profiling } from './load_run.ts';
import type { Asked, Profile } from './profile.ts';

const SECONDS = 6;
const WARMUP_SECONDS = 3;
/**
 * Locations per second at which CPU time is compared; every scene sustains them. At maximum throughput, a scene that
 * waits for its journal would have smaller steps and more wake-ups, so that loads would be compared.
 */
const STEADY_PER_S = 30_000;
/** Locations per second at which latencies are measured. */
const CALM_PER_S = 10_000;
const PER_MESSAGE = 100;
const EVENTS = 'fence_events';
const READY_MS = 20_000;
const LOOK_MS = 100;

interface Scene {
  readonly name: string;
  readonly hubs: number;
  readonly nats: 0 | 1 | 3;
  /** Whether locations are sent to the owners of their providers. */
  readonly isFollowed?: boolean;
}

/** The baseline of each comparison comes first. */
const SCENES: readonly Scene[] = [
  { name: 'alone', hubs: 1, nats: 0 },
  { name: 'journal', hubs: 1, nats: 1 },
  { name: 'two_hubs', hubs: 2, nats: 1 },
  { name: 'two_hubs_followed', hubs: 2, nats: 1, isFollowed: true },
  { name: 'three_nats', hubs: 1, nats: 3 },
  { name: 'two_hubs_three_nats', hubs: 2, nats: 3 },
  { name: 'two_hubs_followed_three_nats', hubs: 2, nats: 3, isFollowed: true },
];

export const CLUSTER: Profile = {
  name: 'cluster',
  summary:
    'the site of batch on one hub, on one with a journal, and on two that are one; with one NATS server and three',
  needs: () =>
    GO === undefined && process.env['NATS_SERVER'] === undefined ? 'there is no Go to build NATS with' : undefined,
  async run(asked: Asked): Promise<Result> {
    const program = await natsProgram();
    if ('missing' in program) throw new Error(`Cannot start NATS: ${program.missing}`);
    const more: Record<string, number> = {};
    for (const scene of SCENES) {
      asked.progress(scene.name);
      const found = await measured(scene, program.path, asked);
      for (const [name, value] of Object.entries(found)) more[`${scene.name}_${name}`] = value;
    }
    const ratioOf = (name: string, us: string) => (more[`${name}_${us}`] as number) / (more[`alone_${us}`] as number);
    for (const { name } of SCENES.slice(1)) {
      more[`${name}_cpu_ratio`] = ratioOf(name, 'us_per_location');
      more[`${name}_full_cpu_ratio`] = ratioOf(name, 'full_us_per_location');
    }
    for (const { name } of SCENES.filter(({ hubs }) => hubs === 2)) {
      more[`${name}_load_per_hub_cpu_ratio`] =
        (more[`${name}_us_per_location`] as number) / (more['alone_half_us_per_location'] as number);
    }
    return { profile: 'cluster', command: commandOf('cluster', asked), more };
  },
};

/**
 * The processes of a scene. The load is distributed over all hubs, and a subscriber of fence events is at the last one.
 */
class Site {
  readonly #nats: NatsServers | undefined;
  readonly #hubs: readonly BenchHub[];
  readonly #generators: readonly Remote<GeneratorCommands>[];
  readonly #listener: Remote<ListenerCommands>;

  private constructor(nats: NatsServers | undefined, hubs: readonly BenchHub[]) {
    const clock = [String(offsetOfDay())];
    this.#nats = nats;
    this.#hubs = hubs;
    this.#generators = hubs.map(() => new Remote(new URL('../load/generator.ts', import.meta.url), clock));
    this.#listener = new Remote(new URL('../listen/listener.ts', import.meta.url), clock);
  }

  static async open(
    { hubs: count, nats: servers, isFollowed = false }: Scene,
    path: string,
    asked: Asked,
  ): Promise<Site> {
    const nats = servers === 0 ? undefined : await NatsServers.start({ path, count: servers });
    const hubs: BenchHub[] = [];
    for (let index = 0; index < count; index++) {
      const cluster = nats && {
        cluster_servers: nats.addresses.join(','),
        cluster_replicas: servers,
        cluster_hub_name: hubName(index),
      };
      hubs.push(await BenchHub.start({ settings: { ...cluster }, nodeArgs: profiling(asked) }));
    }
    const site = new Site(nats, hubs);
    await site.#begin(isFollowed, asked);
    return site;
  }

  async #begin(isFollowed: boolean, asked: Asked): Promise<void> {
    const { plan, fences } = crowdScene({ way: 'put-many', connections: 10, perMessage: PER_MESSAGE }, asked);
    const rest = new Rest(this.#port(0));
    await taken(rest);
    await rest.createAll('/fences', fences());
    const whole = plan as WalkPlan;
    const share = this.#hubs.length;
    const numbers = isFollowed
      ? await numbersOfOwners(rest, { hubs: share, providers: whole.providers })
      : numbersInTurn(share, whole.providers);
    rest.close();
    for (const [index, generator] of this.#generators.entries()) {
      const own = numbers[index] as readonly number[];
      const more = { providers: own.length, numbers: own, connections: whole.connections / share };
      const part = { ...whole, ...more, seed: index + 1 };
      await generator.ask('open', { port: this.#port(index), plan: part });
      await generator.ask('prime', { port: this.#port(index) });
    }
    const group = { name: EVENTS, topic: EVENTS, params: [{}], agesOfAll: true } as const;
    await this.#listener.ask('subscribe', { port: this.#port(share - 1), group });
  }

  /** Runs all generators for an interval. With `perSecond`, messages of all of them together. */
  async run({ perSecond, ...interval }: Interval): Promise<Round> {
    const [first] = this.#generators as [Remote<GeneratorCommands>];
    let before: Cpu | undefined;
    let after: Cpu | undefined;
    first.onNote = (note) => {
      const { measuring } = note as { readonly measuring: boolean };
      if (!measuring) after = this.#cpu();
      else {
        before = this.#cpu();
        void this.#listener.ask('resetLatencies', undefined);
      }
    };
    const own = perSecond === undefined ? undefined : perSecond / this.#generators.length;
    const sent = await Promise.all(
      this.#generators.map((generator, index) => {
        return generator.ask('run', { port: this.#port(index), interval: { ...interval, perSecond: own } });
      }),
    );
    if (before === undefined || after === undefined) throw new Error('The generator has not measured anything');
    const received = (await this.#listener.ask('received', undefined))[EVENTS];
    if (received === undefined || received.closed > 0)
      throw new Error('The subscriber of fence events was disconnected');
    return { sent, hubsCpu: after.hubs - before.hubs, natsCpu: after.nats - before.nats, events: received.latency };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#generators, this.#listener].map((remote) => remote.stop()));
    for (const hub of this.#hubs) await hub.stop();
    await this.#nats?.stop();
  }

  #port(index: number): number {
    return (this.#hubs[index] as BenchHub).port;
  }

  #cpu(): Cpu {
    const sum = (pids: readonly number[]): number => pids.reduce((all, pid) => all + cpuSeconds(pid), 0);
    return {
      hubs: sum(this.#hubs.map(({ pid }) => pid)),
      nats: sum((this.#nats?.servers ?? []).map(({ pid }) => pid)),
    };
  }
}

interface Cpu {
  readonly hubs: number;
  readonly nats: number;
}

interface Round {
  readonly sent: readonly Sent[];
  /** Seconds. */
  readonly hubsCpu: number;
  readonly natsCpu: number;
  readonly events: Percentiles;
}

async function measured(scene: Scene, path: string, asked: Asked): Promise<Record<string, number>> {
  const seconds = asked.seconds ?? SECONDS;
  const interval = { warmupSeconds: Math.min(WARMUP_SECONDS, seconds), seconds };
  const site = await Site.open(scene, path, asked);
  try {
    const full = await site.run({ ...interval, perSecond: undefined });
    const steady = await site.run({ ...interval, perSecond: STEADY_PER_S / PER_MESSAGE });
    // A hub takes more CPU time per location at a lower rate, so two hubs are also compared with one at the load of each.
    const half =
      scene.nats === 0 ? await site.run({ ...interval, perSecond: STEADY_PER_S / PER_MESSAGE / 2 }) : undefined;
    const calm = await site.run({ ...interval, perSecond: (asked.rate ?? CALM_PER_S) / PER_MESSAGE });
    const perSecond = full.sent.reduce(
      (sum, { measured: own, measuredSeconds }) => sum + own.accepted / measuredSeconds,
      0,
    );
    return {
      accepted_per_s: perSecond,
      full_us_per_location: usPerLocation(full, full.hubsCpu + full.natsCpu),
      us_per_location: usPerLocation(steady, steady.hubsCpu + steady.natsCpu),
      ...(half && { half_us_per_location: usPerLocation(half, half.hubsCpu) }),
      hubs_us_per_location: usPerLocation(steady, steady.hubsCpu),
      nats_us_per_location: usPerLocation(steady, steady.natsCpu),
      put_p50_ms: Math.max(...calm.sent.map(({ put }) => put.p50)),
      put_p99_ms: Math.max(...calm.sent.map(({ put }) => put.p99)),
      event_p50_ms: calm.events.p50,
      event_p99_ms: calm.events.p99,
    };
  } finally {
    await site.close();
  }
}

function usPerLocation({ sent }: Round, seconds: number): number {
  return (1e6 * seconds) / sent.reduce((sum, { measured: { accepted } }) => sum + accepted, 0);
}

function hubName(index: number): string {
  return `hub ${index + 1}`;
}

/** Provider numbers of each hub's generator, in equal parts. */
function numbersInTurn(hubs: number, providers: number): readonly (readonly number[])[] {
  const count = providers / hubs;
  return Array.from({ length: hubs }, (_, hub) => Array.from({ length: count }, (_, index) => hub * count + index));
}

/** The same by the owners of the providers, once the partitions are shared equally. */
async function numbersOfOwners(
  rest: Rest,
  { hubs, providers }: { readonly hubs: number; readonly providers: number },
): Promise<readonly (readonly number[])[]> {
  for (const untilMs = performance.now() + READY_MS; performance.now() < untilMs; await delay(LOOK_MS)) {
    const { owners } = JSON.parse((await rest.call('GET', '/cluster/owners')).text) as {
      readonly owners: readonly (string | null)[];
    };
    const isBalanced = (_: unknown, hub: number) =>
      owners.filter((of) => of === hubName(hub)).length === owners.length / hubs;
    if (!Array.from({ length: hubs }).every(isBalanced)) continue;
    const ownerOf = (number: number) => owners[fnv1a(providerId(number)) % owners.length];
    const all = Array.from({ length: providers }, (_, number) => number);
    return Array.from({ length: hubs }, (_, hub) => all.filter((number) => ownerOf(number) === hubName(hub)));
  }
  throw new Error('The hubs do not share the partitions equally');
}

/** Hash that determines the partition of a provider, as clients compute it: 32-bit FNV-1a. */
function fnv1a(id: string): number {
  return Buffer.from(id).reduce((hash, byte) => Math.imul(hash ^ byte, 0x01000193) >>> 0, 0x811c9dc5);
}

/** Waits until all objects have owners. */
async function taken(rest: Rest): Promise<void> {
  for (const untilMs = performance.now() + READY_MS; performance.now() < untilMs; await delay(LOOK_MS)) {
    const { status } = await rest.call('GET', '/providers/locations');
    if (status === 200) return;
  }
  throw new Error('No hub has taken over');
}
