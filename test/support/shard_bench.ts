import type { AcceptedLocation, Answer, HandedOver, Item, Query } from '../../src/core/item.ts';
import type { Outcome } from '../../src/core/outcome.ts';
import { openShard, type Shard } from '../../src/core/shard.ts';
import type { CollisionEvent, FenceEvent, TrackableMotion } from '../../src/model/events.ts';
import type { Location } from '../../src/model/location.ts';
import type { Variant } from '../../src/model/topics.ts';
import type { Telling } from '../../src/shards/shards.ts';
import { openFenceIndex } from '../../wasm/fence_index.ts';

/** Start of all simulated time. */
export const T0 = Date.parse('2026-03-01T12:00:00Z');

/** Renderings that the tests listen to. */
export const VARIANTS: readonly Variant[] = [
  { id: 1, topic: 'location_updates', crs: 'EPSG:4326' },
  { id: 2, topic: 'trackable_motions', crs: 'EPSG:4326' },
  { id: 3, topic: 'fence_events', crs: 'EPSG:4326' },
  { id: 4, topic: 'collision_events', crs: 'EPSG:4326' },
];

export interface Heard {
  readonly locations: Location[];
  readonly motions: TrackableMotion[];
  readonly fenceEvents: FenceEvent[];
  readonly collisions: CollisionEvent[];
}

/** A shard on a table: simulated time, and everything that it says is collected. */
export class ShardBench {
  readonly heard: Heard = { locations: [], motions: [], fenceEvents: [], collisions: [] };
  readonly outcomes: Outcome[] = [];
  readonly shard: Shard;
  rows: 'all' | 'urgent' = 'urgent';
  #seq = 0;
  #ids = 0;

  constructor(shard: (newId: () => string) => Shard) {
    this.#ids = 0;
    this.shard = shard(() => `event-${++this.#ids}`);
    this.tell(0, { kind: 'variants', variants: VARIANTS });
  }

  static async open(options: { keepRows?: boolean } = {}): Promise<ShardBench> {
    const index = await openFenceIndex();
    return new ShardBench((newId) =>
      openShard({
        index,
        newId,
        collisionsByDefault: true,
        providerInTrackableEvents: false,
        keepRows: options.keepRows ?? true,
      }),
    );
  }

  /** Numbers tellings that are received `second` seconds after T0. */
  items(second: number, ...tellings: readonly Telling[]): Item[] {
    return tellings.map((telling) => ({ ...telling, seq: ++this.#seq, receivedMs: T0 + second * 1000 }) as Item);
  }

  /** One step. */
  step(second: number, items: readonly Item[] = []): Outcome {
    const outcome = this.shard.step({ nowMs: T0 + second * 1000, items, rows: this.rows });
    this.outcomes.push(outcome);
    for (const { variant, text } of outcome.events) {
      const event = JSON.parse(text);
      if (variant === 1) this.heard.locations.push(event);
      if (variant === 2) this.heard.motions.push(event);
      if (variant === 3) this.heard.fenceEvents.push(event);
    }
    return outcome;
  }

  /** Tells at a time, in one step. */
  tell(second: number, ...tellings: readonly Telling[]): Outcome {
    return this.step(second, this.items(second, ...tellings));
  }

  ask(second: number, query: Query): Answer | HandedOver {
    const { answers } = this.tell(second, { kind: 'read', id: 1, query });
    const answer = answers[0]?.[1];
    if (answer === undefined) throw new Error('The shard has not answered');
    return answer;
  }

  /** Fence events so far, and forgets them. */
  takeFenceEvents(): FenceEvent[] {
    return this.heard.fenceEvents.splice(0);
  }
}

/** A location in EPSG:4326 as it comes from ingest, generated at `second`. */
export function locationAt(
  second: number,
  lon: number,
  lat: number,
  more: Partial<AcceptedLocation> = {},
): Telling & { kind: 'location' } {
  const location: AcceptedLocation = {
    position: { type: 'Point', coordinates: [lon, lat] },
    source: 'test',
    provider_type: 'uwb',
    provider_id: 'tag',
    crs: 'EPSG:4326',
    timestamp_generated: new Date(T0 + second * 1000).toISOString(),
    ...more,
  };
  return { kind: 'location', generatedMs: T0 + second * 1000, location };
}
