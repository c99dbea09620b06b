import { createHash } from 'node:crypto';
import { parseBody } from '../../../src/api/body.ts';
import { openCollisionStage } from '../../../src/core/collision/stage.ts';
import type { FenceIndex } from '../../../src/core/fence/fence_index.ts';
import type { Item } from '../../../src/core/item.ts';
import type { Motion } from '../../../src/core/motion/motion.ts';
import { openShard } from '../../../src/core/shard.ts';
import { ZoneTable } from '../../../src/core/zone/zone_table.ts';
import { Fanout } from '../../../src/fanout/fanout.ts';
import { compileFilter } from '../../../src/fanout/filter.ts';
import { Ingest, UNUSUAL } from '../../../src/ingest/ingest.ts';
import { lend } from '../../../src/model/borrowed.ts';
import type { EventBatch } from '../../../src/model/event_batch.ts';
import type { ClockStep } from '../../../src/model/clock_steps.ts';
import type { Topic, Variant, View } from '../../../src/model/topics.ts';
import type { ShardCommand } from '../../../src/shards/shard_commands.ts';
import { type LaneItem, LocationPacker, newRecordBuffer } from '../../../src/wire/location_record.ts';
import { packBatch, unpackBatch } from '../../../src/wire/messages.ts';
import { LocationScanner } from '../../../wasm/location_scanner.ts';

/** Start time of every scene. */
export const START_MS = Date.parse('2026-03-01T12:00:00Z');

/** Parser of location bodies: the scanner with the parser as fallback, or the parser alone. */
export type Reader = 'scanner' | 'parser';

/** A subscription. */
export interface Wish {
  readonly topic: Topic;
  /** EPSG:4326 by default. */
  readonly view?: Partial<View>;
  /** Filter of the subscription. */
  readonly filter?: Readonly<Record<string, unknown>>;
}

/** Number and digest of the events of a subscription. */
export interface Digest {
  readonly count: number;
  readonly sha256: string;
}

/**
 * A shard, the collision stage and subscribers, from request bodies to payloads. The scene moves the clock, and ids are
 * sequential, so every run of a scene yields the same events, byte by byte.
 */
export class Recording {
  nowMs = START_MS;
  clockSteps: readonly ClockStep[] = [];
  /** Events of each subscription, in order. */
  readonly texts = new Map<string, string[]>();
  /** Number of locations parsed by the scanner. */
  scanned = 0;
  readonly #ingest: Ingest;
  readonly #reader: Reader;
  readonly #shard: ReturnType<typeof openShard>;
  readonly #zones = new ZoneTable();
  readonly #stage: ReturnType<typeof openCollisionStage>;
  readonly #fanout: Fanout;
  readonly #packer = new LocationPacker();
  readonly #known = new Set<string>();
  #variants: readonly Variant[] = [];
  #waiting: LaneItem[] = [];
  #gone = 0;
  #seq = 0;
  #ids = 0;

  constructor({ index, reader }: { readonly index: FenceIndex; readonly reader: Reader }) {
    const newId = () => `event-${++this.#ids}`;
    this.#reader = reader;
    this.#shard = openShard({
      index,
      newBuffer: newRecordBuffer,
      newId,
      collisionsByDefault: true,
      providerInTrackableEvents: true,
      detachedStay: true,
      parentsMax: 32,
    });
    this.#stage = openCollisionStage({ newId, namedId: newId, zones: this.#zones.find, newBuffer: newRecordBuffer });
    this.#fanout = new Fanout({ variantsChanged: (variants) => this.#listen(variants) });
    this.#ingest = new Ingest({
      now: () => this.nowMs,
      zone: this.#zones.find,
      hasCapacity: () => true,
      providerId: (id) => id,
      providersChanged: () => this.#gone,
      ensureProvider: (id, type) => {
        if (!this.#known.has(id)) this.tell({ kind: 'provider', id, entity: { id, type } });
        return undefined;
      },
      publishProximity: () => undefined,
      committed: () => undefined,
      scanner: new LocationScanner({ nameBytes: 1024, propertiesBytes: 65_536 }),
      canTakeScanned: () => true,
      location: (location, times) => void this.#waiting.push(this.#packer.pack(location, ++this.#seq, times)),
      scanned: (body) => {
        const run = this.#packer.copy(body, body.start, body.end, this.#seq + 1, undefined);
        this.scanned += run.count;
        this.#seq += run.count;
        this.#waiting.push(run);
      },
    });
  }

  subscribe({ topic, view = {}, filter = {} }: Wish): void {
    const name = [topic, ...Object.values(view), ...Object.entries(filter).flat()].join(' ');
    const texts: string[] = [];
    this.texts.set(name, texts);
    const subscriber = {
      deliver: (_: number, batch: { payloads(): readonly Uint8Array[] }) => {
        for (const payload of batch.payloads()) texts.push(Buffer.from(payload).toString());
      },
    };
    const compiled = compileFilter(topic, filter);
    this.#fanout.subscribe(subscriber, { topic, view: { crs: 'EPSG:4326', ...view }, filter: compiled });
  }

  /** The shard receives it in the next step. */
  tell(command: ShardCommand): void {
    const { kind } = command;
    if (kind === 'zone') this.#zones.set(command.id, command.entity);
    if (kind === 'provider' && command.entity !== undefined) this.#known.add(command.id);
    if (kind === 'provider' && command.entity === undefined) {
      this.#known.delete(command.id);
      this.#gone++;
    }
    this.#waiting.push({ ...command, seq: ++this.#seq, receivedMs: this.nowMs } as Exclude<
      Item,
      { kind: 'location' | 'replay' | 'takeOver' }
    >);
  }

  /** Parses a body of locations immediately. */
  body(bytes: Uint8Array): void {
    if (this.#reader === 'scanner' && this.#ingest.body(lend(bytes), {}) !== UNUSUAL) return;
    void this.#ingest.locations(parseBody(bytes) as readonly unknown[], { root: 'locations' });
  }

  /** Runs the pending items. */
  step(): void {
    const { nowMs, clockSteps } = this;
    const items = this.#waiting;
    this.#waiting = [];
    const batch = packBatch({ nowMs, items, clockSteps, flushBudget: 0 });
    this.#packer.done(items);
    const { events, motions } = this.#shard.step(unpackBatch(batch));
    this.#fanout.publish(events);
    this.#fanout.publish(this.#collisions(motions));
  }

  /** Events of each subscription, by its name. */
  digests(): Record<string, Digest> {
    return Object.fromEntries(
      Array.from(this.texts, ([name, texts]) => {
        const joined = texts.join(',');
        const count = joined === '' ? 0 : (JSON.parse(`[${joined}]`) as unknown[]).length;
        return [name, { count, sha256: createHash('sha256').update(joined).digest('hex') }];
      }),
    );
  }

  #collisions(motions: readonly Motion[]): readonly EventBatch[] {
    const { nowMs, clockSteps } = this;
    return this.#stage.step({ nowMs, motions, clockSteps, variants: this.#variants }).events;
  }

  #listen(variants: readonly Variant[]): void {
    this.#variants = variants;
    this.#waiting.push({ kind: 'variants', variants, seq: ++this.#seq, receivedMs: this.nowMs });
  }
}
