import { Problem } from '../../src/problem.ts';
import { parseBody } from '../../src/api/body.ts';
import type { Item } from '../../src/core/item.ts';
import { type CheckedLocation, checkLocation } from '../../src/ingest/check_location.ts';
import { copied, lend } from '../../src/model/borrowed.ts';
import { type LaneItem, LocationPacker } from '../../src/wire/location_record.ts';
import { packBatch, unpackBatch } from '../../src/wire/messages.ts';
import { type Feed, MovingFeed } from '../load/feed.ts';
import { Stamp } from '../load/slots.ts';

/** Locations of one body, as in the profile batch. */
export const BODY_LOCATIONS = 100;
const START_MS = 1_800_000_000_000;
const END_OF_HEAD = '\r\n\r\n';

interface FeedOf {
  readonly feed: Feed;
  readonly connections: number;
}

/** Successive bodies of the load generator, and the results of their ingest. */
export class Bodies {
  readonly #feed: Feed;
  readonly #connections: number;
  #turn = 0;
  readonly #stamp = new Stamp();
  readonly #packer = new LocationPacker();
  /** Time of the last body. */
  nowMs = START_MS;
  /** Number of the last location in a batch. */
  seq = 0;

  /** Bodies of people on smooth walks, or of a feed with its number of connections. */
  constructor(of: { readonly providers: number; readonly sideMeters: number } | FeedOf) {
    if ('feed' in of) {
      this.#feed = of.feed;
      this.#connections = of.connections;
      return;
    }
    const shape = { way: 'put-many', connections: 1, perMessage: BODY_LOCATIONS, stepMeters: 1.4 } as const;
    this.#feed = new MovingFeed({ kind: 'walk', ...of, ...shape });
    this.#connections = 1;
  }

  /** Returns the next body. The one after overwrites it. */
  next(): Buffer {
    this.nowMs++;
    this.#stamp.set(this.nowMs * 1000);
    const { bytes } = this.#feed.next(this.#turn++ % this.#connections, this.#stamp);
    return bytes.subarray(bytes.indexOf(END_OF_HEAD) + END_OF_HEAD.length);
  }

  /** Returns the next body, parsed. */
  values(): readonly unknown[] {
    return parseBody(this.next(), {}) as readonly unknown[];
  }

  /** Ingests the next body. */
  checked(): CheckedLocation[] {
    return this.values().map((value) => this.check(value));
  }

  /** Returns the next bodies, by default one, as a batch for a shard, and the number of their locations. */
  batch(bodies = 1, flushBudget = 0): Uint8Array {
    const items: LaneItem[] = [];
    for (let body = 0; body < bodies; body++) {
      const checked = this.checked();
      const { nowMs: receivedMs } = this;
      for (const { location, generatedMs } of checked)
        items.push(this.#packer.pack(location, ++this.seq, { generatedMs, receivedMs }));
    }
    const batch = copied(packBatch({ nowMs: this.nowMs, flushBudget, items }));
    this.#packer.done(items);
    return batch;
  }

  /** Returns the next body as parsed by the shard. */
  items(): readonly Item[] {
    return unpackBatch(lend(this.batch())).items;
  }

  check(value: unknown): CheckedLocation {
    const { nowMs } = this;
    const found = checkLocation(value, { at: '', receivedMs: nowMs, zone: () => undefined, knownId: (id) => id });
    if (found instanceof Problem) throw new Error(`The benchmark has made a bad location: ${found}`);
    return found;
  }
}
