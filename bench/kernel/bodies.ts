import { Problem } from '../../src/problem.ts';
import { parseBody } from '../../src/api/body.ts';
import type { Item } from '../../src/core/item.ts';
import { type CheckedLocation, checkLocation } from '../../src/ingest/check_location.ts';
import { copied, lend } from '../../src/model/borrowed.ts';
import { LocationPacker } from '../../src/wire/location_record.ts';
import { packBatch, unpackBatch } from '../../src/wire/messages.ts';
import { MovingFeed } from '../load/feed.ts';
import { Stamp } from '../load/slots.ts';

/** Locations of one body, as in the profile batch. */
export const BODY_LOCATIONS = 100;
const START_MS = 1_800_000_000_000;
const END_OF_HEAD = '\r\n\r\n';

/** Successive bodies of the load generator, and the results of their ingest. */
export class Bodies {
  readonly #feed: MovingFeed;
  readonly #stamp = new Stamp();
  readonly #packer = new LocationPacker();
  /** Time of the last body. */
  nowMs = START_MS;

  constructor({ providers, sideMetres }: { readonly providers: number; readonly sideMetres: number }) {
    const shape = { way: 'put-many', connections: 1, perMessage: BODY_LOCATIONS, stepMetres: 1.4 } as const;
    this.#feed = new MovingFeed({ kind: 'walk', providers, sideMetres, ...shape });
  }

  /** Returns the next body. The one after overwrites it. */
  next(): Buffer {
    this.nowMs++;
    this.#stamp.set(this.nowMs * 1000);
    const { bytes } = this.#feed.next(0, this.#stamp);
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

  /** Returns the next body as a batch for a shard. */
  batch(): Uint8Array {
    const { nowMs: receivedMs } = this;
    const items = this.checked().map(({ location, generatedMs }) => {
      return this.#packer.pack(location, 1, { generatedMs, receivedMs });
    });
    const batch = copied(packBatch({ nowMs: receivedMs, flushBudget: 0, items }));
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
