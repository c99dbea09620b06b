import type { FenceIndex } from '../src/core/fence/fence_index.ts';
import type { Item } from '../src/core/item.ts';
import { accept } from '../src/core/location/accepted.ts';
import { received } from '../src/core/location/received.ts';
import { openShard } from '../src/core/shard.ts';
import type { Location } from '../src/model/location.ts';
import type { Topic, Variant } from '../src/model/topics.ts';
import { newRecordBuffer } from '../src/wire/location_record.ts';
import { packInto } from '../src/wire/messages.ts';
import { packMotions } from '../src/wire/motion_bytes.ts';

/** Number of rounds after which the engine has compiled hot code; takes about 100 ms. */
const ROUNDS = 60;
const PER_ROUND = 50;
const ID = 'made up';
const TOPICS: readonly Topic[] = ['location_updates', 'trackable_motions', 'fence_events'];
const VARIANTS = TOPICS.map((topic, index): Variant => ({ id: index + 1, topic, crs: 'EPSG:4326' }));
const CORNERS = [
  [8.999, 49.999],
  [9.001, 49.999],
  [9.001, 50.001],
  [8.999, 50.001],
  [8.999, 49.999],
];
const SETTINGS = { collisionsByDefault: true, providerInTrackableEvents: false, detachedStay: true, parentsMax: 1 };
const FENCES = [ID, 'circle'];
const AT_START = { seq: 0, receivedMs: 0 };
const WORLD: readonly Item[] = [
  { ...AT_START, kind: 'variants', variants: VARIANTS },
  {
    ...AT_START,
    kind: 'fence',
    id: ID,
    entity: { id: ID, region: { type: 'Polygon', coordinates: [CORNERS] }, crs: 'EPSG:4326' },
  },
  {
    ...AT_START,
    kind: 'fence',
    id: 'circle',
    entity: { id: 'circle', region: { type: 'Point', coordinates: [9, 50] }, radius: 10, crs: 'EPSG:4326' },
  },
  {
    ...AT_START,
    kind: 'trackable',
    id: ID,
    entity: { id: ID, type: 'omlox', location_providers: [ID], radius: 1 },
  },
];

/**
 * Warms up a worker: moves synthetic locations in and out of fences in a temporary shard. Otherwise the first batch of
 * a worker would take about fifty times as long as later ones, and the next ones ten times, because the engine compiles
 * code on first use and again when it is hot. `index` must be without fences.
 */
export function warmShard(index: FenceIndex): void {
  const shard = openShard({ index, newBuffer: newRecordBuffer, newId: () => ID, ...SETTINGS });
  shard.step({ nowMs: 0, items: WORLD, flushBudget: 0 });
  const area = new Uint8Array(1 << 16);
  for (let nowMs = 1; nowMs <= ROUNDS; nowMs++) {
    const items = Array.from({ length: PER_ROUND }, (_, i) => itemOf(i === 0 ? ID : `${ID} ${i}`, nowMs));
    const { motions, events, released: _, ...outcome } = shard.step({ nowMs, items, flushBudget: PER_ROUND });
    packMotions(motions);
    packInto(area, { outcome, events, motions: undefined });
  }
  // Deletes the fences, whose memory in GEOS is not garbage-collected.
  shard.step({
    nowMs: ROUNDS,
    items: FENCES.map((id) => ({ ...AT_START, kind: 'fence', id, entity: undefined })),
    flushBudget: 0,
  });
}

/** Returns a location that is in the fences in one round and far away in the next. */
function itemOf(providerId: string, atMs: number): Item {
  const location: Location = {
    position: { type: 'Point', coordinates: [atMs % 2 === 0 ? 9.1 : 9, 50] },
    provider_type: 'uwb',
  };
  const accepted = accept(location, { providerId, source: ID, crs: 'EPSG:4326', generatedMs: atMs });
  return received(accepted, { seq: atMs, receivedMs: atMs, generatedMs: atMs }, newRecordBuffer);
}
