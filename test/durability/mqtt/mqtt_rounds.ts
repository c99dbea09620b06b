import { setTimeout as delay } from 'node:timers/promises';
import { Broker, type KEEPING_BROKERS } from '../../mqtt/brokers.ts';
import { temporaryFolder } from '../../support/temporary_folder.ts';
import { type AtEnd, HubProcess, randomFrom } from '../hub_process.ts';
import { type Delivery, RecordingProxy } from './recording_proxy.ts';
import { Sources } from './sources.ts';
import { PublishedLocations } from './published_locations.ts';

export const FAULTS = [
  'hub killed',
  'connection cut',
  'broker killed',
  'hub stopped',
  'broker stopped',
  'both killed',
] as const;
export type Fault = (typeof FAULTS)[number];

/** Counters of a round. */
export interface Round {
  readonly fault: Fault;
  /** Locations that the broker has acknowledged to their sources. */
  readonly sent: number;
  /** Locations that the broker has sent to the hub, and those of them that the hub has acknowledged. */
  readonly delivered: number;
  readonly acknowledged: number;
  /** Locations that the broker has sent before. */
  readonly redelivered: number;
  /** Locations that the hub published more than once, all of which arrived more than once. */
  readonly doubled: number;
  /**
   * Locations acknowledged and then forgotten by a killed broker, which the hub has never received or could not
   * acknowledge.
   */
  readonly forgotten: number;
  readonly tookMs: number;
}

export interface MqttFindings {
  readonly rounds: Round[];
  readonly problems: string[];
}

export interface MqttRoundsOptions {
  readonly rounds: number;
  readonly seed: number;
  /** mosquitto by default. */
  readonly broker?: (typeof KEEPING_BROKERS)[number];
  readonly atEnd?: AtEnd;
  done?(round: Round, problems: readonly string[]): void;
}

const LOAD = { connections: 4, providers: 24 };
const LOAD_MS = { min: 200, max: 1200 };
/** Sources continue while the hub or the broker is down. */
const AWAY_MS = 300;
const LOOK_MS = 50;
/** After this time of silence, the broker is considered to have lost the message. A busy hub acknowledges sooner. */
const QUIET_MS = 8000;
const SETTLE_MS = 60_000;
const REPORT_MS = 10_000;
/**
 * Number of changes after which mosquitto saves its state. Saving after each one would leave it no time to read the
 * hub's acknowledgments, and most messages would be redelivered. A killed broker forgets changes since its last save.
 */
const BROKER = [
  ...['allow_anonymous true', 'max_inflight_messages 0', 'max_queued_messages 0'],
  ...['autosave_on_changes true', 'autosave_interval 500'],
];
/** Locations are acknowledged when they are stored. */
const SETTINGS = { db_fast_writes: false, mqtt_address: '127.0.0.1', num_threads: 2 };

/**
 * A hub and a mosquitto under load of sources with QoS 1. In each round one of them, or the connection between them,
 * fails. A restarted hub has everything that it acknowledged. Every message that the broker has acknowledged arrives
 * eventually, unless the broker was killed and has forgotten it.
 */
export async function runMqttRounds({ rounds, done, ...options }: MqttRoundsOptions): Promise<MqttFindings> {
  const world = await World.open(options);
  const { findings } = world;
  try {
    for (let round = 0; round < rounds; round++) {
      const before = findings.problems.length;
      await world.round(FAULTS[round % FAULTS.length] as Fault);
      done?.(findings.rounds.at(-1) as Round, findings.problems.slice(before));
    }
  } finally {
    await world.close();
  }
  return findings;
}

class World {
  readonly findings: MqttFindings = { rounds: [], problems: [] };
  readonly #folder: string;
  readonly #atEnd: AtEnd | undefined;
  readonly #random: () => number;
  readonly #broker: Broker;
  readonly #proxy: RecordingProxy;
  readonly #sources: Sources;
  readonly #published = new PublishedLocations();
  #hub: HubProcess | undefined;
  /** By provider: numbers of deliveries and locations that earlier rounds have checked. */
  readonly #looked = new Map<string, { readonly deliveries: number; readonly number: number }>();
  /** By provider: number of deliveries when the hub started. */
  readonly #born = new Map<string, number>();
  #doubled = 0;

  private constructor(
    seed: number,
    atEnd: AtEnd | undefined,
    { broker, proxy }: { broker: Broker; proxy: RecordingProxy },
  ) {
    this.#folder = temporaryFolder();
    this.#atEnd = atEnd;
    this.#random = randomFrom(seed);
    this.#broker = broker;
    this.#proxy = proxy;
    this.#sources = new Sources(broker.port, LOAD);
  }

  static async open({ seed, atEnd, broker: name }: Omit<MqttRoundsOptions, 'rounds' | 'done'>): Promise<World> {
    const broker = await Broker.start(name, { lines: BROKER });
    atEnd?.(() => void broker.kill());
    const proxy = await RecordingProxy.open(broker.port);
    const world = new World(seed, atEnd, { broker, proxy });
    await world.#startHub();
    await world.#connected();
    return world;
  }

  async close(): Promise<void> {
    this.#sources.close();
    await this.#hub?.stop();
    this.#proxy.close();
    await this.#broker.close();
  }

  async round(fault: Fault): Promise<void> {
    const begunMs = performance.now();
    this.#sources.start();
    await delay(LOAD_MS.min + this.#random() * (LOAD_MS.max - LOAD_MS.min));
    await this.#fault(fault);
    await this.#sources.stop();
    // The hub's delay before it reconnects grows with the broker's downtime.
    await this.#connected();
    await this.#settled();
    await this.#allPublished();
    this.findings.rounds.push({ fault, ...this.#look(fault), tookMs: performance.now() - begunMs });
    this.#doubled = 0;
  }

  async #fault(fault: Fault): Promise<void> {
    switch (fault) {
      case 'hub killed':
        return this.#restartHub((hub) => hub.crash());
      case 'hub stopped':
        return this.#restartHub((hub) => hub.stop());
      case 'connection cut':
        this.#proxy.cut();
        return;
      case 'broker killed':
        await this.#broker.kill();
        await delay(AWAY_MS);
        return this.#broker.start();
      case 'broker stopped':
        await this.#broker.stop();
        await delay(AWAY_MS);
        return this.#broker.start();
      case 'both killed':
        await this.#broker.kill();
        await this.#restartHub(
          (hub) => hub.crash(),
          () => this.#broker.start(),
        );
    }
  }

  async #restartHub(
    end: (hub: HubProcess) => ReturnType<HubProcess['stop']>,
    whileAway = async () => {},
  ): Promise<void> {
    const { code, signal, stderr } = await end(this.#hub as HubProcess);
    if (code !== 0 && signal !== 'SIGKILL') this.#wrong(`the hub has ended with ${code}: ${stderr}`);
    this.#checkPublished();
    await delay(AWAY_MS);
    await whileAway();
    await this.#startHub();
    await this.#connected();
  }

  /** Before the hub connects to the broker, it has its stored data, and nothing else. */
  async #startHub(): Promise<void> {
    this.#proxy.isDown = true;
    this.#proxy.cut();
    const settings = { ...SETTINGS, mqtt_port: this.#proxy.port };
    this.#hub = await HubProcess.start(this.#folder, settings, this.#atEnd);
    await this.#checkStorable(this.#hub);
    for (const [provider, { length }] of this.#proxy.deliveries) this.#born.set(provider, length);
    await this.#published.begin(this.#hub);
    this.#proxy.isDown = false;
  }

  async #connected(): Promise<void> {
    for (const untilMs = performance.now() + SETTLE_MS; performance.now() < untilMs; await delay(LOOK_MS)) {
      if ((await this.#hub?.get('/health/mqtt'))?.body.connected === true) return;
    }
    this.#wrong('the hub does not connect to the broker');
  }

  /** The hub has the last acknowledged location of each provider, or a later one. */
  async #checkStorable(hub: HubProcess): Promise<void> {
    const listed = (await hub.get('/providers/locations'))?.body ?? [];
    const kept = new Map<string, number>();
    for (const { provider_id: provider, accuracy } of listed) kept.set(provider, accuracy);
    for (const [provider, deliveries] of this.#proxy.deliveries) {
      const last = deliveries.findLastIndex(({ isAcknowledged }) => isAcknowledged);
      if (last < 0) continue;
      const fits = deliveries.slice(last).some(({ number }) => number === kept.get(provider));
      if (fits) continue;
      const { number } = deliveries[last] as Delivery;
      this.#wrong(`lost: ${provider} has location ${kept.get(provider)}, acknowledged was ${number}`);
    }
  }

  /** Resolves when the hub has acknowledged all locations of sources, or the broker has no more of them. */
  async #settled(): Promise<void> {
    let [quietSinceMs, before] = [performance.now(), -1];
    for (const untilMs = performance.now() + SETTLE_MS; performance.now() < untilMs; await delay(LOOK_MS)) {
      const { delivered, acknowledged } = this.#progress();
      if (delivered + acknowledged !== before) quietSinceMs = performance.now();
      before = delivered + acknowledged;
      const isIdle = performance.now() - quietSinceMs > QUIET_MS;
      if (isIdle || (this.#isAllThere() && performance.now() - quietSinceMs > 4 * LOOK_MS)) {
        await this.#connected();
        return;
      }
    }
    this.#wrong(`locations have not arrived after ${SETTLE_MS} ms`);
  }

  #isAllThere(): boolean {
    return this.#sources.acknowledged.entries().every(([provider, number]) => {
      const last = this.#proxy.deliveries.get(provider)?.findLast((each) => each.number === number);
      return number === 0 || last?.isAcknowledged === true;
    });
  }

  #progress(): { readonly delivered: number; readonly acknowledged: number } {
    let [delivered, acknowledged] = [0, 0];
    for (const all of this.#proxy.deliveries.values()) {
      delivered += all.length;
      for (const { isAcknowledged } of all) if (isAcknowledged) acknowledged++;
    }
    return { delivered, acknowledged };
  }

  /** Resolves when the hub has published all locations that it acknowledged in this run. */
  async #allPublished(): Promise<void> {
    let missing: readonly string[] = [];
    for (const untilMs = performance.now() + REPORT_MS; performance.now() < untilMs; await delay(LOOK_MS)) {
      this.#checkPublished();
      missing = [...this.#proxy.deliveries].flatMap(([provider, all]) => {
        const from = Math.max(this.#born.get(provider) ?? 0, this.#looked.get(provider)?.deliveries ?? 0);
        const unpublished = all
          .slice(from)
          .filter((each) => each.isAcknowledged && !this.#published.has(provider, each.number));
        return unpublished.map(({ number }) => `${provider} ${number}`);
      });
      if (missing.length === 0) return;
    }
    this.#wrong(`lost: acknowledged, but never published: ${missing.slice(0, 5).join(', ')}, ${missing.length} in all`);
  }

  /** Order: a location that is not the newest has arrived at the hub more than once. */
  #checkPublished(): void {
    for (const { provider, number, isNewest } of this.#published.take()) {
      if (isNewest) continue;
      const times = this.#proxy.deliveries.get(provider)?.filter((each) => each.number === number).length ?? 0;
      if (times > 1) this.#doubled++;
      else this.#wrong(`out of order: ${provider} has gone back to location ${number}, which was sent once`);
    }
  }

  /** Checks the outcome of this round's messages. */
  #look(fault: Fault): Omit<Round, 'fault' | 'tookMs'> {
    const counts = { sent: 0, delivered: 0, acknowledged: 0, redelivered: 0, forgotten: 0 };
    const mayForget = fault === 'broker killed' || fault === 'both killed';
    for (const [provider, last] of this.#sources.acknowledged) {
      const { deliveries: from, number: first } = this.#looked.get(provider) ?? { deliveries: 0, number: 0 };
      const all = this.#proxy.deliveries.get(provider) ?? [];
      /** The last delivery of each number, or the one that was acknowledged. */
      const numbers = new Map<number, Delivery>();
      for (const delivery of all.slice(from)) {
        counts.delivered++;
        if (delivery.isAcknowledged) counts.acknowledged++;
        if (delivery.isRedelivered) counts.redelivered++;
        if (numbers.get(delivery.number)?.isAcknowledged !== true) numbers.set(delivery.number, delivery);
      }
      for (let number = first + 1; number <= last; number++) {
        counts.sent++;
        const delivery = numbers.get(number);
        if (delivery?.isAcknowledged === true) continue;
        // Messages in flight when the connection closed are redelivered, unless the broker has lost them.
        if (delivery?.connection === this.#proxy.connections)
          this.#wrong(`stuck: ${provider} ${number} is not acknowledged`);
        else if (mayForget) counts.forgotten++;
        else this.#wrong(`lost: ${provider} ${number} was not redelivered to the hub`);
      }
      this.#looked.set(provider, { deliveries: all.length, number: last });
    }
    for (const what of this.#proxy.refused.splice(0)) this.#wrong(`refused: ${what}`);
    return { ...counts, doubled: this.#doubled };
  }

  #wrong(what: string): void {
    this.findings.problems.push(what);
  }
}
