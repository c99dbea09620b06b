import { schedule } from '../../../src/core/handlers/on_deadline.ts';
import type { Answer, Item, Query } from '../../../src/core/item.ts';
import { shiftFix } from '../../../src/core/location/fix.ts';
import { openShard, type Shard } from '../../../src/core/shard.ts';
import { openFenceIndex } from '../../../src/fence_index/fence_index.ts';
import { lend } from '../../../src/model/borrowed.ts';
import { runningTime, type SetBack, timeOfDay } from '../../../src/model/set_back.ts';
import { newRecordBuffer } from '../../../src/wire/location_record.ts';
import { type ShardSettings, unpackBatch } from '../../../src/wire/messages.ts';
import { eventsOf, VARIANTS } from '../../support/shard_harness.ts';
import type { Ran } from './thread.ts';

/** A step of a hub, and when it was. */
export interface TimedRan extends Ran {
  readonly atMs: number;
}

/** Something that subscribers are told. */
export interface Told {
  readonly topic: 'location_updates' | 'fence_events';
  /** Of what it is told, and what tells it from others of the same. */
  readonly of: string;
  readonly what: string;
  /** When the hub has decided it. */
  readonly atMs: number;
}

/**
 * The steps of a shard up to the last one whose record was kept, and whether one in front of that was not, although the shard
 * had the state by then.
 */
export function keptSteps(rans: readonly TimedRan[], kept: ReadonlySet<string>) {
  const isKept = ({ record }: Ran): boolean => record !== undefined && kept.has(record);
  const steps = rans.slice(0, rans.findLastIndex(isKept) + 1);
  const begun = steps.findIndex(({ batch }) => unpackBatch(lend(batch)).items.some(isTakeover));
  const hasGap = steps.some((ran, at) => at > begun && ran.record !== undefined && !isKept(ran));
  return { steps, hasGap };
}

function isTakeover(item: Item): boolean {
  return item.kind === 'replay' && item.takenOverUntilMs !== undefined;
}

/** What tells the locations of steps. */
export function speedsIn(steps: readonly TimedRan[]): number[] {
  return steps.flatMap(({ batch }) =>
    unpackBatch(lend(batch)).items.flatMap((item) => (item.kind === 'location' ? [item.sentSpeed] : [])),
  );
}

/** What tells an event, from its text. */
export function toldOf(topic: Told['topic'], text: string): Pick<Told, 'of' | 'what'> {
  const event = JSON.parse(text);
  if (topic === 'location_updates') return { of: event.provider_id, what: String(event.speed) };
  const { trackable_id: trackable, provider_id: provider, fence_id: fence, event_type: type } = event;
  return { of: trackable ?? provider, what: `${fence} ${type}` };
}

const SETTINGS: ShardSettings = { collisionsByDefault: false, providerInTrackableEvents: false, parentsMax: 32 };
const FROM_BEFORE = { seq: 0, receivedMs: 0 };
const ENTITY_KINDS: readonly string[] = ['zone', 'fence', 'provider', 'trackable'];
const PASSED_ON: readonly string[] = [...ENTITY_KINDS, 'location', 'forget', 'rules'];

type EntityItem = Extract<Item, { entity: unknown }>;

/**
 * One shard that is told what the shards of owners were told whose steps were kept, one owner after the other: what a single
 * hub would have made of it.
 */
export class Oracle {
  readonly told: Told[] = [];
  readonly #shard: Shard;
  /** What the clock of the owner had been through by its last step. */
  #setBacks: readonly SetBack[] = [];

  private constructor(shard: Shard) {
    this.#shard = shard;
  }

  static async open(): Promise<Oracle> {
    return new Oracle(await openAlone());
  }

  /** Goes on with the next owner: with the steps of its shard up to the last one that was kept. */
  async follow(steps: readonly TimedRan[]): Promise<void> {
    let before: Map<string, EntityItem> | undefined = new Map();
    for (const { batch, atMs } of steps) {
      const { items, ...rest } = unpackBatch(lend(batch));
      if (before !== undefined) for (const item of items) if (isEntity(item)) before.set(keyOf(item), item);
      const taken = items.find((item) => item.kind === 'replay');
      // A worker in the place of a dead one is told what that one knew.
      if (taken?.kind === 'replay' && taken.takenOverUntilMs === undefined) continue;
      if (before !== undefined && taken?.kind !== 'replay') continue;
      if (before !== undefined && taken?.kind === 'replay') {
        this.#retime(rest.setBacks ?? []);
        this.#hold(taken.takenOverUntilMs ?? 0);
        this.#configure(before, { nowMs: rest.sentMs ?? 0, atMs });
        before = undefined;
        continue;
      }
      this.#setBacks = rest.setBacks ?? [];
      this.#step({ ...rest, items: items.filter(({ kind }) => PASSED_ON.includes(kind)) }, atMs);
    }
  }

  ask(query: Query): Answer {
    return this.#answer({ kind: 'read', id: 1, query }) as Answer;
  }

  /** The next owner has been told of what has changed since the last step of the one before. */
  #configure(entities: ReadonlyMap<string, EntityItem>, { nowMs, atMs }: { nowMs: number; atMs: number }): void {
    const before = entitiesOf(this.#shard);
    const items = [...entities.values()].flatMap((item): Item[] => {
      const known = before.get(keyOf(item));
      return JSON.stringify(known) === JSON.stringify(item.entity) ? [] : [{ ...item, seq: 0, receivedMs: nowMs }];
    });
    this.#step({ nowMs: 0, flushBudget: 0, items }, atMs);
  }

  /** The next owner has running times of its own: what the last one knew is retimed by times of day. */
  #retime(to: readonly SetBack[]): void {
    const from = this.#setBacks;
    if (from.length === 0 && to.length === 0) return;
    const aheadMs = to.reduce((sum, { byMs }) => sum + byMs, 0);
    const timed = (ms: number): number => timeOfDay(ms, from) + aheadMs;
    const keyed = (ms: number): number => runningTime(timeOfDay(ms, from), to);
    const { providers, trackables } = this.#shard.state;
    const fixes = new Set([...providers.values(), ...trackables.values()].flatMap(({ fix }) => fix ?? []));
    for (const { bytes } of fixes) shiftFix(bytes, keyed);
    for (const { members } of [...providers.values(), ...trackables.values()]) {
      for (const member of members) {
        member.seenMs = timed(member.seenMs);
        const all = Object.entries(member.membership).map(([name, value]) => [
          name,
          typeof value === 'number' ? timed(value) : value,
        ]);
        member.membership = Object.fromEntries(all) as typeof member.membership;
      }
    }
  }

  /** Nothing fires on its own before that time. */
  #hold(untilMs: number): void {
    const { deadlines, ...taken } = this.#shard.state;
    for (const object of [...taken.providers.values(), ...taken.trackables.values()]) {
      object.suppressUntilMs = untilMs;
      deadlines.remove(object);
      schedule(this.#shard.state, object);
    }
  }

  #answer(
    told: Extract<Item, { id: number }> extends infer I
      ? I extends Item
        ? Omit<I, 'seq' | 'receivedMs'>
        : never
      : never,
  ): unknown {
    const items = [{ ...FROM_BEFORE, ...told } as Item];
    return this.#shard.step({ nowMs: 0, flushBudget: 0, items }).answers[0]?.[1];
  }

  #step(batch: Parameters<Shard['step']>[0], atMs: number): void {
    for (const { variant, text } of eventsOf(this.#shard.step(batch))) {
      const { topic } = VARIANTS.find(({ id }) => id === variant) ?? {};
      if (topic === 'location_updates' || topic === 'fence_events') {
        this.told.push({ topic, atMs, ...toldOf(topic, text) });
      }
    }
  }
}

function isEntity(item: Item): item is EntityItem {
  return ENTITY_KINDS.includes(item.kind);
}

function keyOf({ kind, id }: EntityItem): string {
  return `${kind} ${id}`;
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
