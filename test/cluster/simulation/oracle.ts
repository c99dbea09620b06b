import { schedule } from '../../../src/core/handlers/on_deadline.ts';
import type { Answer, Item, Query } from '../../../src/core/item.ts';
import { openShard, type Shard } from '../../../src/core/shard.ts';
import { openFenceIndex } from '../../../src/fence_index/fence_index.ts';
import { lend } from '../../../src/model/borrowed.ts';
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
  /** The locations that were processed, by what tells them, and by whose hub. */
  readonly processed: { readonly speed: number; readonly incarnation: string }[] = [];
  readonly #shard: Shard;
  /** Entities that it was told of, as JSON, by kind and id. */
  readonly #entities = new Map<string, string>();

  private constructor(shard: Shard) {
    this.#shard = shard;
    shard.step({ nowMs: 0, flushBudget: 0, items: [{ ...FROM_BEFORE, kind: 'variants', variants: VARIANTS }] });
  }

  static async open(): Promise<Oracle> {
    const index = await openFenceIndex();
    return new Oracle(openShard({ ...SETTINGS, index, newBuffer: newRecordBuffer, newId: () => 'x' }));
  }

  /** Goes on with the next owner: what its shard was told up to the last step that was kept. `kept`: how many were recorded. */
  follow(incarnation: string, rans: readonly TimedRan[], kept: number): void {
    let before: Map<string, EntityItem> | undefined = new Map();
    let recorded = 0;
    for (const { batch, isRecorded, atMs } of rans) {
      if (recorded === kept) return;
      if (isRecorded) recorded++;
      const { items, ...rest } = unpackBatch(lend(batch));
      if (before !== undefined) for (const item of items) if (isEntity(item)) before.set(keyOf(item), item);
      const taken = items.find((item) => item.kind === 'replay');
      if (before !== undefined && taken?.kind !== 'replay') continue;
      if (before !== undefined && taken?.kind === 'replay') {
        this.#takeOver([...before.values()], { untilMs: taken.takenOverUntilMs ?? 0, atMs });
        before = undefined;
        continue;
      }
      for (const item of items) {
        if (isEntity(item)) this.#note(item);
        if (item.kind === 'location') this.processed.push({ speed: item.sentSpeed, incarnation });
      }
      this.#step({ ...rest, items: items.filter(({ kind }) => PASSED_ON.includes(kind)) }, atMs);
    }
  }

  ask(query: Query): Answer {
    const { answers } = this.#shard.step({
      nowMs: 0,
      flushBudget: 0,
      items: [{ ...FROM_BEFORE, kind: 'read', id: 1, query }],
    });
    return answers[0]?.[1] as Answer;
  }

  /** The next owner has the entities that it was told of before, and holds what is due. */
  #takeOver(entities: readonly EntityItem[], { untilMs, atMs }: { untilMs: number; atMs: number }): void {
    const changed = entities.filter((item) => this.#entities.get(keyOf(item)) !== textOf(item));
    const known = new Set(entities.filter(({ entity }) => entity !== undefined).map(keyOf));
    const gone = [...this.#entities.keys()].filter((key) => !known.has(key));
    for (const item of changed) this.#note(item);
    const deleted = gone.map((key): EntityItem => {
      this.#entities.delete(key);
      const [kind = '', id = ''] = key.split(' ');
      return { ...FROM_BEFORE, kind, id, entity: undefined } as EntityItem;
    });
    const items = [...changed, ...deleted].map((item) => ({ ...item, ...FROM_BEFORE }));
    this.#step({ nowMs: 0, flushBudget: 0, items }, atMs);
    const { state } = this.#shard;
    for (const object of [...state.providers.values(), ...state.trackables.values()]) {
      object.suppressUntilMs = untilMs;
      state.deadlines.remove(object);
      schedule(state, object);
    }
  }

  #note(item: EntityItem): void {
    const text = textOf(item);
    if (text === undefined) this.#entities.delete(keyOf(item));
    else this.#entities.set(keyOf(item), text);
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

function textOf({ entity }: EntityItem): string | undefined {
  return entity === undefined ? undefined : JSON.stringify(entity);
}
