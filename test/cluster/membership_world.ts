import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Bus } from '../../src/cluster/nats/bus.ts';
import { type ConfigLog, openConfigLog } from '../../src/cluster/config/config_log.ts';
import type { ConfigBody } from '../../src/cluster/config/config_record.ts';
import { acquisitions, applied, type ConfigState, EMPTY_STATE } from '../../src/cluster/config/config_state.ts';
import { PROTOCOLS } from '../../src/cluster/config/protocols.ts';
import { HubJournal } from '../../src/cluster/journal/hub_journal.ts';
import { journalMessage } from '../../src/cluster/journal/journal_message.ts';
import { journalSubjects, journalStreams } from '../../src/cluster/journal/journal_streams.ts';
import type { PartitionMap } from '../../src/cluster/membership/partition_map.ts';
import { ClusterMembership, type ClusterMembershipOptions } from '../../src/cluster/membership/membership.ts';
import { utf8 } from './contract.ts';
import { SimulatedCluster } from './simulated_bus.ts';
import { SimulatedClock } from './simulated_clock.ts';

/** A change of entities that a hub has made. */
export function changeBy({ incarnation }: Pick<TestHub, 'incarnation'>): ConfigBody {
  return { kind: 'change', by: `hub ${incarnation}`, changes: [['setting', 'any', 'null', false]] };
}

/** Surroundings of a hub in these tests. */
export interface HubPlace extends Pick<ClusterMembershipOptions, 'elapsed' | 'now' | 'schedule'> {
  readonly bus: Bus;
  /** Of the cluster. */
  readonly name: string;
  readonly incarnation: string;
  readonly replicas: number;
  /** Before an `expel` or a `leave` is appended. */
  beforeGone?(incarnation: string): unknown;
  /** Time to acquire the state of a member, or of a removed one; undefined while that member does not answer. */
  takeMs?(of: string, isMember: boolean): number | undefined;
}

/** A hub with only its log, its journal, and its membership. */
export class TestHub {
  readonly incarnation: string;
  readonly bus: Bus;
  readonly membership: ClusterMembership;
  readonly journal: HubJournal;
  readonly notices: string[] = [];
  readonly maps: { readonly atMs: number; readonly map: PartitionMap }[] = [];
  readonly stops: Error[] = [];
  readonly records: ConfigBody[] = [];
  readonly #place: HubPlace;
  readonly #protocols: readonly number[];
  log: ConfigLog | undefined;
  applied = 0;
  state: ConfigState = EMPTY_STATE;
  /** Expelled, or sealed. */
  isOut = false;
  /** Killed, left, or not come up. */
  isGone = false;
  #ids = 0;
  #isTaking = false;

  constructor(place: HubPlace, more: Partial<ClusterMembershipOptions> = {}) {
    const { bus, name, incarnation, schedule, elapsed } = place;
    this.#place = place;
    this.#protocols = more.protocols ?? PROTOCOLS;
    this.incarnation = incarnation;
    this.bus = bus;
    const places = journalSubjects(name, incarnation);
    this.journal = new HubJournal({ bus, places, schedule, ended: ({ isSealed }) => isSealed && this.#end() });
    this.membership = new ClusterMembership({
      ...place,
      ...{ hubName: `hub ${incarnation}`, digest: 'd', protocols: PROTOCOLS, ownersMax: 1 },
      makeJournal: (of) => this.#makeJournal(of),
      room: () => 100,
      loads: () => new Map([[3, 40]]),
      barrier: () => this.journal.barrier(),
      onMap: (map) => this.maps.push({ atMs: elapsed(), map }),
      out: () => this.#end(),
      notice: (text) => this.notices.push(text),
      ...more,
    });
  }

  /** A member that has joined. */
  get isLiving(): boolean {
    return this.membership.isMember && !this.isOut && !this.isGone;
  }

  async start(): Promise<void> {
    const { bus, name, replicas, schedule, elapsed, incarnation, beforeGone = () => undefined } = this.#place;
    const log = await openConfigLog({
      ...{ bus, name, replicas, storage: 'file', schedule, elapsed },
      ...{ restore: () => assert.fail(), snapshot: () => [], shouldSnapshot: () => false },
      apply: (record) => {
        this.applied = record.sequence;
        this.records.push(record.body);
        this.state = applied(this.state, record);
        this.membership.record(record, this.state);
        if (this.#place.takeMs !== undefined) void this.#takeAll();
      },
      stopped: (error) => this.stops.push(error),
      notice: (text) => this.notices.push(text),
      protocols: this.#protocols,
      newId: () => `${incarnation} ${++this.#ids}`,
    });
    this.log = log;
    await this.#makeJournal(incarnation);
    await this.membership.join({
      append: (body, expected) => {
        if (body.kind === 'expel' || body.kind === 'leave') beforeGone(body.incarnation);
        return log.append(body, expected);
      },
    });
  }

  /** Appends something to its journal, whatever the outcome. */
  write(): void {
    this.journal.append(utf8('record')).catch(() => undefined);
  }

  /** Closes the process in order. */
  end(): void {
    this.isGone = true;
    this.membership.close();
    this.log?.close();
    this.journal.close();
  }

  /** Appends that it has acquired its partitions, as soon as possible. */
  async #takeAll(): Promise<void> {
    const { takeMs = () => undefined, schedule } = this.#place;
    if (this.#isTaking || !this.isLiving) return;
    this.#isTaking = true;
    const wait = (ms: number) => new Promise<void>((resolve) => schedule(ms, resolve));
    for (let next = this.#next(); next !== undefined && this.isLiving; next = this.#next()) {
      const ms = takeMs(next.of, this.state.members.has(next.of));
      await wait(ms ?? 50);
      if (ms === undefined) continue;
      await this.log?.append(next.body).catch(() => wait(100));
    }
    this.#isTaking = false;
  }

  #next(): { readonly of: string; readonly body: ConfigBody } | undefined {
    const by = this.incarnation;
    const { partitions, objects } = acquisitions(this.state, by);
    const [first] = partitions;
    if (first !== undefined) {
      const { of } = first;
      return { of, body: { kind: 'took', by, of, partitions: first.partitions } };
    }
    const { from, sequence = 0, objects: theirs = [] } = objects.find((each) => each.from !== undefined) ?? {};
    const arrived = theirs.map(([, , , to]) => to);
    return from === undefined ? undefined : { of: from, body: { kind: 'arrived', by, sequence, partitions: arrived } };
  }

  #end(): void {
    this.isOut = true;
    this.membership.close();
  }

  async #makeJournal(incarnation: string): Promise<void> {
    const { bus, name, replicas } = this.#place;
    const streams = journalStreams(name, incarnation);
    await Promise.all(streams.map((stream) => bus.makeStream({ ...stream, replicas, storage: 'file' })));
  }
}

/** Hubs on a simulated network. */
export class HubWorld {
  readonly clock = new SimulatedClock();
  readonly cluster: SimulatedCluster;
  readonly hubs: TestHub[] = [];
  /** Members that were to be expelled, or to leave, without being sealed. */
  readonly unsealed: string[] = [];

  constructor(context: TestContext, seed: number) {
    context.after(this.clock.run());
    this.cluster = new SimulatedCluster({ clock: this.clock, seed });
  }

  /** A starting hub with its own member id and network member. */
  add(more: Partial<ClusterMembershipOptions> = {}, changed = (bus: Bus): Bus => bus): TestHub {
    const incarnation = `h${this.hubs.length + 1}`;
    const bus = changed(this.cluster.bus(incarnation));
    const hub = new TestHub(
      {
        ...{ bus, name: 'hub', incarnation, replicas: 3 },
        ...{ elapsed: this.clock.elapsed, now: this.clock.elapsed },
        schedule: (delayMs, callback) => this.cluster.schedule(incarnation, delayMs, callback),
        beforeGone: (gone) => this.isSealed(gone) || this.unsealed.push(gone),
        takeMs: (of, isMember) => this.#takeMs(of, isMember),
      },
      more,
    );
    this.hubs.push(hub);
    return hub;
  }

  /** Starts hubs one after the other, and waits until they have a map. */
  async start(count: number, more: Partial<ClusterMembershipOptions> = {}): Promise<TestHub[]> {
    const hubs: TestHub[] = [];
    for (let i = 0; i < count; i++) {
      const hub = this.add(more);
      hubs.push(hub);
      await hub.start();
    }
    await this.until(() => hubs.every(({ maps }) => maps.length > 0), 1000);
    return hubs;
  }

  /** Ends a hub as kill -9 does. */
  kill(hub: TestHub): void {
    hub.isGone = true;
    this.cluster.kill(hub.incarnation);
  }

  /** Time until a condition holds. Fails if that takes too long. */
  async until(holds: () => boolean, ms: number): Promise<number> {
    const fromMs = this.clock.nowMs;
    while (!holds()) {
      assert.ok(this.clock.nowMs - fromMs <= ms, `not in ${ms} ms`);
      await this.clock.wait(1);
    }
    return this.clock.nowMs - fromMs;
  }

  get living(): readonly TestHub[] {
    return this.hubs.filter(({ isLiving }) => isLiving);
  }

  /** A member hands over while it is alive, and any hub can read a journal. */
  #takeMs(of: string, isMember: boolean): number | undefined {
    const isLiving = this.living.some(({ incarnation }) => incarnation === of);
    return isMember && !isLiving ? undefined : 10 + ((of.length * 7 + this.clock.nowMs) % 40);
  }

  /** Whether the journal of a member is sealed in both streams. */
  isSealed(incarnation: string): boolean {
    return this.journalOf(incarnation).every((kinds) => kinds.includes('seal'));
  }

  /** Contents of the journal of a member, in each stream. */
  journalOf(incarnation: string): readonly (readonly string[])[] {
    return journalSubjects('hub', incarnation).map(({ stream, subject }) => {
      const kept = this.cluster.streams.get(stream)?.stream;
      const kinds: string[] = [];
      let next = kept?.first([subject], 1);
      while (next !== undefined) {
        kinds.push(journalMessage(next.bytes).kind);
        next = kept?.first([subject], next.sequence + 1);
      }
      return kinds;
    });
  }
}
