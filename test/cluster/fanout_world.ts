import assert from 'node:assert/strict';
import type { Bus } from '../../src/cluster/nats/bus.ts';
import { Channel } from '../../src/cluster/channel/channel.ts';
import { ClusterFanout } from '../../src/cluster/fanout/cluster_fanout.ts';
import { ProtocolErrors } from '../../src/cluster/messages/protocol_errors.ts';
import { filteredVariant } from '../../src/core/variant_filter.ts';
import type { DeliveryBatch, EventSubscriber } from '../../src/fanout/batch.ts';
import { Fanout } from '../../src/fanout/fanout.ts';
import { compileFilter } from '../../src/fanout/filter.ts';
import { redeliverFenceEvent } from '../../src/fanout/front_events.ts';
import { look } from '../../src/model/borrowed.ts';
import type { FailedFenceEvent } from '../../src/wire/fence_events.ts';
import { NO_FIELDS } from '../../src/model/event_batch.ts';
import type { SerializedEvent, FilterFields, Topic, Variant } from '../../src/model/topics.ts';
import { type Dice, diceOf } from '../support/dice.ts';
import { batchesOf } from '../support/event_batches.ts';
import { textOf, up, utf8 } from './contract.ts';
import type { SimulatedCluster } from './simulated_bus.ts';

/** A record of the configuration, as far as it concerns events. */
type Entry =
  | { readonly is: 'join'; readonly hub: string }
  | { readonly is: 'owner'; readonly hub: string; readonly gone?: string }
  | { readonly is: 'owners'; readonly hubs: readonly string[] }
  | { readonly is: 'gone'; readonly hub: string };

export const OBJECTS = ['a', 'b', 'c', 'd'] as const;
const VIEWS = ['EPSG:4326', 'local'];
const STREAM = { name: 'hub_CONFIG', subjects: ['hub.cfg'], replicas: 1, storage: 'file' } as const;

/** A subscription that records the events after its confirmation, as a connection would have sent them. */
export class Listener implements EventSubscriber {
  readonly hub: TestHub;
  readonly topic: Topic;
  /** The one object that it wants; undefined: all. */
  readonly object: string | undefined;
  state: 'asked' | 'open' | 'refused' | 'closed' = 'asked';
  /** Numbers by object, or by the ingress hub of a proximity. */
  readonly got = new Map<string, number[]>();
  /** Last number of each at the confirmation. */
  since: ReadonlyMap<string, number> = new Map();
  readonly #id: number;
  readonly #askedMs: number;
  /** Time until the confirmation. */
  waitedMs = 0;

  constructor(hub: TestHub, { topic, crs, object }: { topic: Topic; crs: string; object: string | undefined }) {
    this.hub = hub;
    this.topic = topic;
    this.object = object;
    const filter = object === undefined ? undefined : compileFilter(topic, { provider_id: object });
    this.#askedMs = hub.world.cluster.clock.nowMs;
    this.#id = hub.fanout.subscribe(this, { topic, view: { crs }, filter });
    const acknowledged = hub.shared.acknowledged();
    if (acknowledged === undefined) this.#open();
    else
      acknowledged.then(
        () => this.#open(),
        () => this.#end('refused'),
      );
  }

  deliver(_id: number, { strings: texts }: DeliveryBatch): void {
    if (this.state !== 'open') return;
    for (const text of texts) {
      const { of, n } = JSON.parse(text) as { of: string; n: number };
      const own = this.got.get(of) ?? [];
      this.got.set(of, own);
      own.push(n);
    }
  }

  missed(): void {
    if (this.state === 'open') this.#end('closed');
  }

  #open(): void {
    if (this.state !== 'asked') return;
    this.state = 'open';
    const { world } = this.hub;
    this.waitedMs = world.cluster.clock.nowMs - this.#askedMs;
    this.since = new Map(this.topic === 'proximity_updates' ? world.announced : world.published);
  }

  #end(state: 'refused' | 'closed'): void {
    this.state = state;
    this.hub.fanout.unsubscribe(this.#id);
  }
}

/** A hub that has only its fan-out. */
export class TestHub {
  readonly name: string;
  readonly world: FanOutWorld;
  readonly bus: Bus;
  readonly fanout: Fanout;
  readonly channel: Channel;
  readonly shared: ClusterFanout;
  readonly listeners: Listener[] = [];
  readonly notices: string[] = [];
  /** Variants that its shards render. */
  variants: readonly Variant[] = [];
  isOwner = false;
  isOver = false;
  #isMember = false;
  #steps = 0;

  constructor(world: FanOutWorld, name: string) {
    this.world = world;
    this.name = name;
    const { cluster } = world;
    this.bus = cluster.bus(name);
    this.fanout = new Fanout({
      variantsChanged: (variants) => {
        this.variants = variants;
      },
      interestChanged: () => this.shared.interestChanged(),
      interestNumber: () => this.shared.interestNumber,
      forward: (events, to) => this.shared.forward(events, to),
    });
    const proximity = (text: string): void => {
      const { of } = JSON.parse(text) as { of: string };
      this.fanout.announce('proximity_updates', [of], () => text);
    };
    const notice = (text: string): void => void this.notices.push(text);
    const schedule = (delayMs: number, callback: () => void) => cluster.schedule(name, delayMs, callback);
    const common = { bus: this.bus, name: 'hub', incarnation: name, schedule };
    this.channel = new Channel({ ...common, malformed: new ProtocolErrors('events', notice) });
    this.shared = new ClusterFanout({
      ...common,
      channel: this.channel,
      fanout: this.fanout,
      announce: {
        proximity,
        fenceEvent: () => assert.fail('no hub has sent a fence event'),
        fenceEventAgain: (recorded, to) =>
          redeliverFenceEvent(this.fanout, { ...recorded, fence: undefined, zones: () => undefined }, to),
      },
      published: async () => [this.#steps],
      notice,
    });
  }

  /** Joins, and follows the log. */
  async start(): Promise<void> {
    await this.shared.ready();
    this.bus.follow(STREAM.name, { subjects: STREAM.subjects, fromSequence: 1 }, ({ bytes, sequence }) => {
      this.#apply(JSON.parse(textOf(look(bytes))) as Entry, sequence);
    });
  }

  /**
   * Publishes the next event of some objects, as a shard does that was notified of the variants. All are journaled before;
   * `dies`: and then it is killed.
   */
  step(objects: readonly string[], { dies = false } = {}): void {
    const { published, recorded, cluster } = this.world;
    const own = recorded.get(this.name) ?? [];
    recorded.set(this.name, own);
    const events: SerializedEvent[] = [];
    const position = { shard: 0, step: this.#steps++ };
    const indices = new Map<number, number[]>();
    for (const [index, of] of objects.entries()) {
      const n = (published.get(of) ?? 0) + 1;
      published.set(of, n);
      const text = JSON.stringify({ id: `${of} ${n}`, of, n });
      own.push({
        of: this.name,
        recordedMs: cluster.clock.nowMs,
        event: [fenceFieldsOf(of), text],
        ...position,
        index,
      });
      for (const { id, topic, unfiltered, wants } of this.variants.map(filteredVariant)) {
        const fields = topic === 'fence_events' ? fenceFieldsOf(of) : [of, 'source'];
        if (wants?.(fields) === false) continue;
        events.push({ variant: id, fields: unfiltered === true ? NO_FIELDS : fields, text });
        if (topic === 'fence_events') indices.set(id, [...(indices.get(id) ?? []), index]);
      }
    }
    if (dies) this.end();
    else {
      const batches = batchesOf(events).map((batch) => {
        const own = indices.get(batch.variant);
        return own === undefined ? batch : { ...batch, positions: { ...position, indices: Uint32Array.from(own) } };
      });
      this.fanout.publish(batches);
    }
  }

  /** Publishes a proximity as the ingress hub. */
  announce(): void {
    if (!this.#isMember) return;
    const { announced } = this.world;
    const n = (announced.get(this.name) ?? 0) + 1;
    announced.set(this.name, n);
    const text = JSON.stringify({ of: this.name, n });
    this.fanout.announce('proximity_updates', [this.name], () => text);
    this.shared.announce('proximity', text);
  }

  listen(dice: Dice): Listener {
    const topic = (['location_updates', 'fence_events', 'proximity_updates'] as const)[dice(3)] ?? 'fence_events';
    const isFiltered = topic !== 'proximity_updates' && dice(2) === 0;
    const object = isFiltered ? OBJECTS[dice(OBJECTS.length)] : undefined;
    const listener = new Listener(this, { topic, object, crs: VIEWS[dice(VIEWS.length)] ?? 'local' });
    this.listeners.push(listener);
    return listener;
  }

  end(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.isOwner = false;
    this.channel.close();
    this.shared.close();
    this.world.cluster.kill(this.name);
  }

  #apply(entry: Entry, sequence: number): void {
    if (this.isOver) return;
    if (entry.is === 'join') this.shared.joined(entry.hub);
    this.#isMember ||= entry.is === 'join' && entry.hub === this.name;
    const gone = entry.is === 'gone' ? entry.hub : entry.is === 'owner' ? entry.gone : undefined;
    if (gone === this.name) {
      this.end();
      return;
    }
    if (gone !== undefined) this.shared.gone(gone);
    if (entry.is === 'owner') this.#own([entry.hub], sequence);
    if (entry.is === 'owners') this.#own(entry.hubs, sequence);
    this.channel.applied(sequence);
  }

  #own(owners: readonly string[], sequence: number): void {
    this.shared.owners(owners);
    if (!owners.includes(this.name)) return;
    this.channel.tookAfter(sequence);
    this.shared.allInterestReceived().then(
      () => {
        this.isOwner = !this.isOver;
        if (this.isOwner) this.shared.announceAgain(this.world.takePending());
      },
      () => undefined,
    );
  }
}

/** Hubs that share their events over a simulated bus, and their published events. */
export class FanOutWorld {
  readonly cluster: SimulatedCluster;
  readonly dice: Dice;
  /** Last number of each object, and of each ingress hub. */
  readonly published = new Map<string, number>();
  readonly announced = new Map<string, number>();
  readonly hubs: TestHub[] = [];
  /** The fence events of each hub, as in its journal. */
  readonly recorded = new Map<string, FailedFenceEvent[]>();
  /** Failed owners whose fence events no successor has redelivered yet. */
  readonly #pending = new Set<string>();
  /** Hub that may publish events: a former owner cannot, because its journal is sealed. */
  owner: string | undefined;
  /** With several owners, the hub that publishes events of each object; none for migrating objects. */
  homes: Map<string, string> | undefined;
  readonly #driver: Bus;
  #last = 0;

  constructor(cluster: SimulatedCluster, seed: number) {
    this.cluster = cluster;
    this.dice = diceOf(seed);
    this.#driver = cluster.bus('driver');
  }

  get living(): readonly TestHub[] {
    return this.hubs.filter(({ isOver }) => !isOver);
  }

  async start(): Promise<void> {
    await up(this.#driver);
    await this.#driver.makeStream(STREAM);
  }

  async join(): Promise<TestHub> {
    const hub = new TestHub(this, `h${this.hubs.length + 1}`);
    this.hubs.push(hub);
    await hub.start();
    await this.#append({ is: 'join', hub: hub.name });
    return hub;
  }

  async own(hub: TestHub, gone?: TestHub): Promise<void> {
    this.owner = undefined;
    if (gone !== undefined) this.#pending.add(gone.name);
    await this.#append({ is: 'owner', hub: hub.name, ...(gone && { gone: gone.name }) });
    this.owner = hub.name;
  }

  /** Fence events of failed owners. */
  takePending(): FailedFenceEvent[] {
    const events = [...this.#pending].flatMap((name) => this.recorded.get(name) ?? []);
    this.#pending.clear();
    return events;
  }

  /** The owner journals events of some objects, and fails before it has published them; another hub takes over. */
  async dieInStep(objects: readonly string[]): Promise<void> {
    const hub = this.living.find(({ name, isOwner }) => name === this.owner && isOwner);
    if (hub === undefined) return;
    hub.step(objects, { dies: true });
    await this.cluster.clock.wait(this.dice(1000));
    await this.expel(hub);
  }

  /** All hubs own something from now on, and objects can move between them. */
  async share(): Promise<void> {
    await this.#append({ is: 'owners', hubs: this.living.map(({ name }) => name) });
    const first = this.owner ?? '';
    this.owner = undefined;
    await this.cluster.clock.wait(200);
    this.homes = new Map(OBJECTS.map((object) => [object, first]));
  }

  /** An object gets another owner. */
  move(object: string, to: TestHub): void {
    const homes = this.homes ?? new Map<string, string>();
    const from = this.living.find(({ name }) => name === homes.get(object));
    if (from === undefined || from === to) return;
    homes.delete(object);
    const adopt = (): void => {
      homes.set(object, to.name);
      // As early as possible, or not at all.
      if (this.dice(3) > 0) this.step([object]);
      else this.move(object, this.living[this.dice(this.living.length)] as TestHub);
    };
    this.cluster.schedule(from.name, 0, async () => {
      await from.channel.delivered();
      this.cluster.schedule(to.name, this.dice(3), adopt);
    });
  }

  /** Expels a hub; another one gets its partitions. */
  async expel(gone: TestHub): Promise<void> {
    const others = this.living.filter((hub) => hub !== gone);
    const next = others[this.dice(others.length)];
    if (this.owner === gone.name && next !== undefined) await this.own(next, gone);
    else await this.#append({ is: 'gone', hub: gone.name });
  }

  /** The owner leaves; another hub gets its partitions. */
  async leave(): Promise<void> {
    const leaving = this.living.find(({ name }) => name === this.owner);
    const others = this.living.filter((hub) => hub !== leaving);
    const next = others[this.dice(others.length)];
    if (leaving === undefined || next === undefined) return;
    this.owner = undefined;
    this.cluster.schedule(leaving.name, 0, () => leaving.isOver || leaving.channel.leaving());
    await this.cluster.clock.wait(10);
    await this.own(next, leaving);
  }

  /** The owner publishes, if it can. */
  step(objects: readonly string[]): void {
    if (this.homes !== undefined) {
      for (const hub of this.living) this.#stepAt(hub, objects);
      return;
    }
    const owner = this.living.find(({ name, isOwner }) => name === this.owner && isOwner);
    if (owner?.bus.isUp === true) this.cluster.schedule(owner.name, 0, () => this.#stepOf(owner, objects));
  }

  #stepAt(hub: TestHub, objects: readonly string[]): void {
    const own = (): string[] => objects.filter((object) => this.homes?.get(object) === hub.name);
    if (hub.bus.isUp && own().length > 0) this.cluster.schedule(hub.name, 0, () => hub.step(own()));
  }

  #stepOf(owner: TestHub, objects: readonly string[]): void {
    if (owner.isOwner && owner.name === this.owner && owner.bus.isUp) owner.step(objects);
  }

  async #append(entry: Entry): Promise<void> {
    this.#last++;
    const appended = await this.#driver.append({
      ...{ stream: STREAM.name, subject: 'hub.cfg', timeoutMs: 5000 },
      bytes: utf8(JSON.stringify(entry)),
    });
    assert.deepEqual(appended, { at: 'committed', sequence: this.#last });
  }
}

function fenceFieldsOf(object: string): FilterFields {
  return ['f', undefined, object, undefined, 'region_entry'];
}

/** Each listener got consecutive numbers of each object; and, if it is still open, all up to the last. */
export function check(world: FanOutWorld): { open: number; closed: number; refused: number } {
  const found = { open: 0, closed: 0, refused: 0 };
  for (const hub of world.hubs) {
    for (const { topic, state, got, since, object } of hub.listeners) {
      const lasts = topic === 'proximity_updates' ? world.announced : world.published;
      for (const [of, last] of lasts) {
        const what = `${topic} of ${of} at ${hub.name}, ${state}`;
        const numbers = got.get(of) ?? [];
        const [first = 1 + (since.get(of) ?? 0)] = numbers;
        assert.deepEqual(
          numbers,
          Array.from(numbers, (_, i) => first + i),
          what,
        );
        assert.ok(first <= 1 + (since.get(of) ?? 0), `${what}: ${first} behind ${since.get(of)}`);
        const isThere = topic !== 'proximity_updates' || world.living.some(({ name }) => name === of);
        const isWanted = object === undefined || object === of;
        if (state === 'open' && !hub.isOver && isThere && isWanted)
          assert.equal(first + numbers.length - 1, last, what);
      }
      if (state === 'open' && !hub.isOver) found.open++;
      if (state === 'closed') found.closed++;
      if (state === 'refused') found.refused++;
    }
  }
  return found;
}
