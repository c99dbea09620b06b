import { changesIn } from '../../../src/cluster/config/config_changes.ts';
import { HubError } from '../../../src/errors.ts';
import type { Dice } from '../../support/dice.ts';
import { iso, T0 } from '../../support/shard_harness.ts';
import type { SimulatedHub } from './hub.ts';
import type { WitnessedCluster } from './witness.ts';

/** A location that was sent. */
export interface SentLocation {
  readonly provider: string;
  /** Identifies the location, and increases with each location of a provider. */
  readonly speed: number;
  isAcknowledged: boolean;
}

interface ClientsOptions {
  readonly network: WitnessedCluster;
  readonly dice: Dice;
  /** The hubs that run now. */
  hubs(): readonly SimulatedHub[];
  /** Whether trackables carry each other, and collide. */
  readonly areCarried: boolean;
  wrong(what: string): void;
}

const PROVIDERS = ['p1', 'p2', 'p3', 'p4', 'p5', 'p6'];
const FENCES = ['f1', 'f2', 'f3'];
const TRACKABLES = [1, 2, 3].map((i) => `10000000-0000-4000-8000-00000000000${i}`);
/** Positions along a line, about 36 m apart. */
const PLACES = 8;
const PLACE_DEGREES = 0.0005;
const CLIENTS = 6;
const PAUSE_MS = 150;
const LATEST = { view: { crs: 'EPSG:4326' } };

/** Clients of all hubs. Each has one request at a time, at a random hub, and records the answers. */
export class Clients {
  readonly sent: SentLocation[] = [];
  readonly counts = { acknowledged: 0, refused: 0, changes: 0, reads: 0, early: 0 };
  /** Descriptions of the requests in flight. */
  readonly open = new Set<string>();
  readonly #options: ClientsOptions;
  /** The last acknowledged change of each entity, by its place in the log. */
  readonly #changed = new Map<string, number>();
  /** Names that were given in requests that were not acknowledged. */
  readonly #changing = new Set<string>();
  #speed = 0;
  #version = 0;
  #requests = 0;
  readonly #generated = new Map<string, number>();

  constructor(options: ClientsOptions) {
    this.#options = options;
  }

  /** Sends requests until that time. Resolves when all are answered. */
  async run(untilMs: number): Promise<void> {
    const { clock } = this.#options.network;
    const client = async (): Promise<void> => {
      while (clock.nowMs < untilMs) {
        await clock.wait(this.#options.dice(PAUSE_MS));
        await this.#request();
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
  }

  /** Creates the entities that later requests change. */
  async setUp(hub: SimulatedHub): Promise<void> {
    for (const fence of FENCES) await this.#change(hub, { kind: 'fence', id: fence });
    for (const trackable of TRACKABLES) await this.#change(hub, { kind: 'trackable', id: trackable });
    for (const provider of PROVIDERS) await this.#put(hub, [provider]);
  }

  /** A location of each provider, and a change of each kind. Everything must be answered well. */
  async closing(hub: SimulatedHub): Promise<void> {
    const before = this.counts.refused;
    await this.#put(hub, PROVIDERS);
    await this.#change(hub, { kind: 'fence', id: this.#some(FENCES) });
    await this.#change(hub, { kind: 'trackable', id: this.#some(TRACKABLES) });
    for (const provider of PROVIDERS) await this.#readLocation(hub, provider);
    for (const fence of FENCES) this.#readEntity(hub, 'fence', fence);
    if (this.counts.refused > before) this.#options.wrong(`${hub.incarnation} refuses requests after all has settled`);
  }

  async #request(): Promise<void> {
    const { dice, hubs } = this.#options;
    const serving = hubs().filter(({ isServing }) => isServing);
    const hub = serving[dice(serving.length || 1)];
    if (hub === undefined) return;
    const action = dice(20);
    const reached = await hub.turn().then(
      () => true,
      () => false,
    );
    if (!reached || !hub.isServing) return;
    if (action < 11)
      await this.#put(
        hub,
        Array.from({ length: 1 + dice(3) }, () => this.#some(PROVIDERS)),
      );
    else if (action < 13) await this.#change(hub, { kind: 'fence', id: this.#some(FENCES) });
    else if (action < 14) await this.#change(hub, { kind: 'trackable', id: this.#some(TRACKABLES) });
    else if (action < 15) this.#readEntity(hub, 'fence', this.#some(FENCES));
    else if (action < 16) this.#readEntity(hub, 'trackable', this.#some(TRACKABLES));
    else await this.#readLocation(hub, this.#some(PROVIDERS));
  }

  async #put(hub: SimulatedHub, providers: readonly string[]): Promise<void> {
    const sent = providers.map((provider): SentLocation => ({ provider, speed: ++this.#speed, isAcknowledged: false }));
    this.sent.push(...sent);
    const values = sent.map(({ provider, speed }) => this.#location(provider, speed));
    const isAccepted = await this.#asked(hub, `put ${sent.map(({ speed }) => speed)}`, () => {
      return this.#options.dice(2) === 0 ? hub.put(values) : hub.putValues(values);
    });
    if (!isAccepted) return;
    this.counts.acknowledged += sent.length;
    for (const each of sent) each.isAcknowledged = true;
  }

  #location(provider: string, speed: number): object {
    const { dice, network } = this.#options;
    const nowMs = Math.floor(network.clock.nowMs) - 100;
    const generatedMs = Math.max(nowMs, (this.#generated.get(provider) ?? 0) + 1);
    this.#generated.set(provider, generatedMs);
    const coordinates = [9 + dice(PLACES) * PLACE_DEGREES, 50];
    return {
      ...{ provider_id: provider, provider_type: 'uwb', source: 'test', crs: 'EPSG:4326', speed },
      position: { type: 'Point', coordinates },
      timestamp_generated: iso(generatedMs / 1000),
    };
  }

  async #change(hub: SimulatedHub, { kind, id }: { kind: 'fence' | 'trackable'; id: string }): Promise<void> {
    const { network } = this.#options;
    const name = `v${++this.#version}`;
    this.#changing.add(name);
    const body = kind === 'fence' ? this.#fence() : this.#trackable(id);
    const isDone = await this.#asked(hub, `change ${kind} ${id} to ${name}`, async () => {
      const { entities } = hub.parts;
      if (entities.has(kind, id)) await entities.replace(kind, id, { ...body, name });
      else await entities.create(kind, { ...body, name, id });
    });
    if (!isDone) return;
    this.counts.changes++;
    this.#changing.delete(name);
    const at = placeOf(network, { kind, id, name });
    if (at === 0)
      this.#options.wrong(`${hub.incarnation} has acknowledged ${name} of ${kind} ${id}, which is not kept`);
    this.#changed.set(id, Math.max(at, this.#changed.get(id) ?? 0));
  }

  #fence(): object {
    const { dice } = this.#options;
    const coordinates = [9 + dice(PLACES) * PLACE_DEGREES, 50];
    const timing = [{}, { timeout: 3000 }, { exit_delay: 1500 }, { exit_tolerance: 30, tolerance_timeout: 1000 }];
    return { region: { type: 'Point', coordinates }, radius: 30 + dice(3) * 40, ...timing[dice(4)] };
  }

  /** Avoids cycles: a trackable only has parents with a smaller id. */
  #trackable(id: string): object {
    const { dice, areCarried } = this.#options;
    const providers = PROVIDERS.filter(() => dice(3) === 0);
    const body = { type: 'omlox', location_providers: providers };
    if (!areCarried) return body;
    const parent = TRACKABLES[dice(3 * TRACKABLES.length)];
    const isCarried = parent !== undefined && parent < id;
    return { ...body, ...(isCarried && { parent }), ...(dice(2) === 0 && { calculate_collisions: true, radius: 20 }) };
  }

  #readEntity(hub: SimulatedHub, kind: 'fence' | 'trackable', id: string): void {
    const { network, wrong } = this.#options;
    // An expelled hub may not know of its expulsion yet. It only serves old state.
    if (!hub.isServing || network.endOf(hub.incarnation) !== undefined) return;
    this.counts.reads++;
    const name = hub.parts.entities.get(kind, id)?.name ?? '';
    const at = placeOf(network, { kind, id, name });
    const least = this.#changed.get(id) ?? 0;
    // A change may be visible while it is being committed.
    if (at === 0 && this.#changing.has(name)) this.counts.early++;
    else if (at < least)
      wrong(`${hub.incarnation} shows ${kind} ${id} as of record ${at}, ${least} was acknowledged before`);
  }

  async #readLocation(hub: SimulatedHub, provider: string): Promise<void> {
    const least = this.sent.findLast((each) => each.provider === provider && each.isAcknowledged)?.speed ?? 0;
    await this.#asked(hub, `read ${provider}`, async () => {
      const [answer] = await hub.ask({ ask: 'provider_location', id: provider, ...LATEST });
      const found = answer !== undefined && 'texts' in answer ? JSON.parse(answer.texts[0] ?? '{}').speed : 0;
      this.counts.reads++;
      if (found < least)
        this.#options.wrong(`${hub.incarnation} reads ${found} of ${provider}, ${least} was acknowledged`);
    });
  }

  /** Whether a request was answered well. */
  async #asked(hub: SimulatedHub, what: string, ask: () => Promise<void>): Promise<boolean> {
    const request = `${++this.#requests} at ${hub.incarnation}: ${what}`;
    this.open.add(request);
    try {
      await hub.answered(ask());
      return true;
    } catch (error) {
      const isExpected = error instanceof HubError && error.code === 'HUB_UNAVAILABLE';
      const mayBe = error instanceof HubError && (error.code === 'HUB_NOT_FOUND' || error.code === 'HUB_BAD_REQUEST');
      if (!isExpected && !mayBe) this.#options.wrong(`${request} fails: ${String((error as Error).stack)}`);
      this.counts.refused++;
      return false;
    } finally {
      this.open.delete(request);
    }
  }

  #some<Value>(values: readonly Value[]): Value {
    return values[this.#options.dice(values.length)] as Value;
  }
}

/** Sequence of the record that has given an entity its name, or 0. */
function placeOf({ config }: WitnessedCluster, { kind, id, name }: { kind: string; id: string; name: string }): number {
  return (
    1 +
    config.findIndex((body) => {
      return changesIn(body).some(
        (change) =>
          change.kind === kind && change.id === id && change.text !== null && JSON.parse(change.text).name === name,
      );
    })
  );
}

export const ALL = { providers: PROVIDERS, trackables: TRACKABLES, fences: FENCES, fromMs: T0 };
