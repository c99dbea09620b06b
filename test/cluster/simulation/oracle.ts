import { settle } from '../../../src/core/handlers/move.ts';
import { schedule } from '../../../src/core/handlers/on_deadline.ts';
import type { QueryResult, Item, Query } from '../../../src/core/item.ts';
import { type Fix, type FixContext, shiftFix } from '../../../src/core/location/fix.ts';
import type { TimeConversion } from '../../../src/core/location/record.ts';
import { openShard, type Shard } from '../../../src/core/shard.ts';
import { openFenceIndex } from '../../../src/fence_index/fence_index.ts';
import {
  eventTime,
  wallClockOfEventTime,
  monotonicTime,
  type ClockStep,
  wallClockTime,
} from '../../../src/model/clock_steps.ts';
import { newRecordBuffer } from '../../../src/wire/location_record.ts';
import type { ShardSettings } from '../../../src/wire/messages.ts';
import { eventsOf, T0, VARIANTS } from '../../support/shard_harness.ts';
import { arrivalsIn, departuresIn, type EntityItem, isRepeated, type KeptStep, keyOf } from './journaled_steps.ts';
import type { Takeover, Timeline } from './timelines.ts';

/** Event that a hub publishes to subscribers. */
export interface PublishedEvent {
  readonly topic: 'location_updates' | 'fence_events';
  /** Subject of the event, and a description that identifies it among the events of its subject. */
  readonly of: string;
  readonly what: string;
  /** Time of the hub's decision. */
  readonly atMs: number;
}

/** Subject and description of an event, from its JSON. */
export function describeEvent(topic: PublishedEvent['topic'], text: string): Pick<PublishedEvent, 'of' | 'what'> {
  const event = JSON.parse(text);
  if (topic === 'location_updates') return { of: event.provider_id, what: String(event.speed) };
  const { trackable_id: trackable, provider_id: provider, fence_id: fence, event_type: type } = event;
  return { of: trackable ?? provider, what: `${fence} ${type}` };
}

/** Maximum lead of the clock of a hub. */
const AHEAD_MS_MAX = 20;
const SETTINGS: ShardSettings = {
  collisionsByDefault: false,
  providerInTrackableEvents: false,
  detachedStay: true,
  parentsMax: 32,
};
const NONE: ReadonlySet<string> = new Set();
const FROM_BEFORE = { seq: 0, receivedMs: 0 };
/** Members of a membership that are event times; its other numbers are monotonic times. */
const EVENT_TIMES: readonly string[] = ['sinceMs', 'entryMs'];
const ENTITY_KINDS: readonly string[] = ['zone', 'fence', 'provider', 'trackable'];
const PASSED_ON: readonly string[] = ['zone', 'fence', 'provider', 'trackable', 'location', 'forget', 'rules'];

/** Result of a single hub that processes the stored steps of all hubs. */
export class Oracle {
  readonly published: readonly PublishedEvent[];
  readonly #hubs: readonly SingleHub[];

  private constructor(hubs: readonly SingleHub[]) {
    this.#hubs = hubs;
    this.published = hubs.flatMap(({ published }) => published);
  }

  /** `steps`: of all hubs, in the order of execution; `timelines`: those of their objects. */
  static async of(steps: readonly KeptStep[], timelines: readonly Timeline[]): Promise<Oracle> {
    const hubs: SingleHub[] = [];
    for (const timeline of timelines) hubs.push(new SingleHub(await openAlone(), timeline));
    const takeovers = timelines.flatMap((timeline) => timeline.takeovers);
    const cuts = Map.groupBy(takeovers, ({ order }) => order);
    for (const step of steps) {
      if (isRepeated(step)) continue;
      const ends = new Set((cuts.get(step.order) ?? []).map(({ from }) => from));
      let from = 0;
      for (const end of [...ends].sort((a, b) => a - b)) {
        for (const hub of hubs) hub.follow(step, from, end);
        const placed = new Map(hubs.flatMap((hub) => [...hub.placed()]));
        for (const hub of hubs) hub.change(step, end, placed);
        from = end;
      }
      for (const hub of hubs) hub.follow(step, from);
    }
    return new Oracle(hubs);
  }

  /** Answer of a single hub to a query about an object. */
  ask(query: Query & { readonly id: string }): QueryResult {
    const hub = this.#hubs.find(({ objects }) => objects.has(query.id));
    if (hub === undefined) throw new Error(`There is no object "${query.id}" in the simulation`);
    return hub.ask(query);
  }
}

/** Location of an object, by the clock of its owner. */
interface Placed {
  readonly owner: string | undefined;
  readonly fix: (FixContext & { readonly bytes: Uint8Array }) | undefined;
  readonly clockSteps: readonly ClockStep[];
}

/**
 * One shard that processes the items that the consecutive owners of some objects processed. So changes of the configuration
 * take effect when they did at the owner of these objects. It also contains other objects while these have the same owner,
 * because the objects may be connected with them. Events of the other objects are ignored.
 */
class SingleHub {
  readonly published: PublishedEvent[] = [];
  readonly objects: ReadonlySet<string>;
  readonly #takeovers: Takeover[];
  readonly #shard: Shard;
  #owner: string | undefined;
  /** Clock steps of the owner until its last step. */
  #clockSteps: readonly ClockStep[] = [];

  constructor(shard: Shard, { objects, takeovers }: Timeline) {
    this.#shard = shard;
    this.objects = objects;
    this.#takeovers = [...takeovers];
  }

  /** Processes a part of a step if it is a step of the owner. Without `end`: all remaining items. */
  follow({ incarnation, order: _, items, atMs, ...rest }: KeptStep, from: number, end?: number): void {
    if (this.#owner !== incarnation) return;
    this.#clockSteps = rest.clockSteps ?? [];
    const passedOn = items.slice(from, end).filter(({ kind }) => PASSED_ON.includes(kind));
    // Deadlines that are due before the next item precede its effects.
    const nowMs = end === undefined ? rest.nowMs : Math.min(rest.nowMs, items[end]?.receivedMs ?? rest.nowMs);
    // A worker that replaces a failed one is late. Events of items before a subscription have no subscriber.
    const came = items.flatMap(({ receivedMs }) => (receivedMs > 0 ? [receivedMs - T0 - AHEAD_MS_MAX] : []));
    this.#step({ ...rest, nowMs, items: passedOn }, Math.min(atMs, ...came));
  }

  /** Applies arrivals and departures of objects before an item of a step. */
  change(step: KeptStep, at: number, placed: ReadonlyMap<string, Placed>): void {
    const { incarnation, order } = step;
    const arrived = arrivalsIn(step).find((arrival) => arrival.at + 1 === at)?.which ?? NONE;
    const others = [...placed].filter(([id]) => !this.objects.has(id));
    if (this.#takeovers[0]?.order === order && this.#takeovers[0].from === at) {
      const takeover = this.#takeovers.shift() as Takeover;
      this.#owner = takeover.by;
      if (takeover.by === undefined) return;
      this.#retime(step.clockSteps ?? []);
      // Movements of other objects in the meantime do not affect these.
      for (const [id] of others) this.#place(id, undefined);
      this.#takeOver(takeover, step);
      for (const [id, other] of others) {
        this.#place(id, arrived.has(id) || other.owner === incarnation ? other : undefined);
      }
    } else if (this.#owner === incarnation) {
      const departed = departuresIn(step).find((departure) => departure.at === at)?.which ?? NONE;
      for (const [id, other] of others) {
        if (arrived.has(id)) this.#place(id, other);
        else if (departed.has(id)) this.#place(id, undefined);
      }
    }
  }

  /** Locations of these objects. */
  placed(): Map<string, Placed> {
    const { providers, trackables } = this.#shard.state;
    const ids = [...this.objects];
    return new Map(
      ids.map((id) => {
        const fix = (providers.get(id) ?? trackables.get(id))?.fix;
        return [id, { owner: this.#owner, fix: fix && copyOf(fix), clockSteps: this.#clockSteps }];
      }),
    );
  }

  ask(query: Query): QueryResult {
    return this.#answer({ kind: 'read', id: 1, query }) as QueryResult;
  }

  /** Sets or clears the location of another object without publishing events. */
  #place(id: string, placed: Placed | undefined): void {
    const { state } = this.#shard;
    const object = state.trackables.get(id) ?? state.providers.get(id);
    if (object === undefined) return;
    if (placed?.fix === undefined) {
      state.fixes.put(object, undefined);
      return;
    }
    const fix = state.fixes.takeOver(placed.fix.bytes, placed.fix);
    shiftFix(fix.bytes, timesOfOther(placed.clockSteps, this.#clockSteps));
    if (object.kind === 'trackable') settle(state, object, fix);
    else state.fixes.put(object, fix);
  }

  #takeOver({ from, heldUntilMs, entities }: Takeover, { sentMs = 0, atMs, items }: KeptStep): void {
    if (heldUntilMs !== undefined) this.#hold(heldUntilMs);
    this.#configure(entities, { nowMs: items[from - 1]?.receivedMs || sentMs, atMs });
  }

  /**
   * Applies the entities that have changed since the last step of the previous owner. Objects are evaluated with all moved
   * fences at once, after fences of which only times have changed. Exits precede entries.
   */
  #configure(entities: ReadonlyMap<string, EntityItem>, { nowMs, atMs }: { nowMs: number; atMs: number }): void {
    const before = entitiesOf(this.#shard);
    const items = [...entities.values()].flatMap((item): Item[] => {
      const known = before.get(keyOf(item));
      return JSON.stringify(known) === JSON.stringify(item.entity) ? [] : [{ ...item, seq: 0, receivedMs: nowMs }];
    });
    const isMoved = (item: Item): number => {
      return item.kind === 'fence' && coveredBy(before.get(keyOf(item))) !== coveredBy(item.entity) ? 1 : 0;
    };
    items.sort((a, b) => inOrderOfArrival(a, b) || isMoved(a) - isMoved(b) || (idOf(a) < idOf(b) ? -1 : 1));
    const from = this.published.length;
    this.#step({ nowMs: 0, flushBudget: 0, items }, atMs);
    const isEntry = ({ what }: PublishedEvent): number => (what.endsWith('region_entry') ? 1 : 0);
    this.published.push(...this.published.splice(from).sort((a, b) => isEntry(a) - isEntry(b)));
  }

  /** Converts monotonic times of the previous owner to those of the next one, by wall-clock times. */
  #retime(to: readonly ClockStep[]): void {
    const from = this.#clockSteps;
    this.#clockSteps = to;
    if (from.length === 0 && to.length === 0) return;
    const aheadMs = to.reduce((sum, { byMs }) => sum + byMs, 0);
    const timed = (ms: number): number => wallClockTime(ms, from) + aheadMs;
    const times = timesOfOther(from, to);
    const { providers, trackables } = this.#shard.state;
    const fixes = new Set([...providers.values(), ...trackables.values()].flatMap(({ fix }) => fix ?? []));
    for (const { bytes } of fixes) shiftFix(bytes, times);
    for (const { members } of [...providers.values(), ...trackables.values()]) {
      for (const member of members) {
        member.seenMs = timed(member.seenMs);
        const all = Object.entries(member.membership).map(([name, value]) => {
          if (typeof value !== 'number') return [name, value];
          return [name, EVENT_TIMES.includes(name) ? times.eventTime(value) : timed(value)];
        });
        member.membership = Object.fromEntries(all) as typeof member.membership;
      }
    }
  }

  /** Suppresses deadlines until that time, or longer if an earlier call requires it. */
  #hold(untilMs: number): void {
    const { deadlines, ...taken } = this.#shard.state;
    for (const object of [...taken.providers.values(), ...taken.trackables.values()]) {
      object.suppressUntilMs = Math.max(object.suppressUntilMs, untilMs);
      deadlines.remove(object);
      schedule(this.#shard.state, object);
    }
  }

  #answer(
    query: Extract<Item, { id: number }> extends infer I
      ? I extends Item
        ? Omit<I, 'seq' | 'receivedMs'>
        : never
      : never,
  ): unknown {
    const items = [{ ...FROM_BEFORE, ...query } as Item];
    return this.#shard.step({ nowMs: 0, flushBudget: 0, items }).answers[0]?.[1];
  }

  #step(batch: Parameters<Shard['step']>[0], atMs: number): void {
    for (const { variant, text } of eventsOf(this.#shard.step(batch))) {
      const { topic } = VARIANTS.find(({ id }) => id === variant) ?? {};
      if (topic === 'location_updates' || topic === 'fence_events') {
        const event = describeEvent(topic, text);
        if (this.objects.has(event.of)) this.published.push({ topic, atMs, ...event });
      }
    }
  }
}

function copyOf({ bytes, providerId, source, zone, timing, trackables, isLocal }: Fix): Placed['fix'] {
  return { bytes: new Uint8Array(bytes), providerId, source, zone, timing, trackables, isLocal };
}

/** Sorts zones and fences before objects, so that these arrive in a complete environment. */
function inOrderOfArrival(a: Item, b: Item): number {
  return ENTITY_KINDS.indexOf(a.kind) - ENTITY_KINDS.indexOf(b.kind);
}

function idOf(item: Item): string {
  return 'id' in item ? String(item.id) : '';
}

/** Area of a fence. Fences of these simulations have no other properties of shape. */
function coveredBy(fence: unknown): string {
  const { region, radius } = (fence ?? {}) as { region?: unknown; radius?: unknown };
  return JSON.stringify([region, radius]);
}

function entitiesOf({ state }: Shard): Map<string, unknown> {
  return new Map(
    (['fence', 'provider', 'trackable'] as const).flatMap((kind) => {
      return [...state[`${kind}s`].values()].map(({ id, entity }): [string, unknown] => [`${kind} ${id}`, entity]);
    }),
  );
}

async function openAlone(): Promise<Shard> {
  const index = await openFenceIndex();
  const shard = openShard({ ...SETTINGS, index, newBuffer: newRecordBuffer, newId: () => 'x' });
  shard.step({ nowMs: 0, flushBudget: 0, items: [{ ...FROM_BEFORE, kind: 'variants', variants: VARIANTS }] });
  return shard;
}

/** Converts times of one hub's locations to those of another hub. */
function timesOfOther(from: readonly ClockStep[], to: readonly ClockStep[]): TimeConversion {
  return {
    eventTime: (ms) => eventTime(wallClockOfEventTime(ms, from), to),
    monotonicTime: (ms) => monotonicTime(wallClockTime(ms, from), to),
  };
}
