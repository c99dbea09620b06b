import type { Item } from '../../src/core/item.ts';
import { openShard } from '../../src/core/shard.ts';
import type { FilterDefaults } from '../../src/core/tracking/filter_settings.ts';
import { openFenceIndex } from '../../src/fence_index/fence_index.ts';
import type { Fence } from '../../src/model/fence.ts';
import type { Topic, Variant } from '../../src/model/topics.ts';
import { newRecordBuffer } from '../../src/wire/location_record.ts';
import { newEventId } from '../../workers/event_ids.ts';
import { providerId } from '../load/plan.ts';
import { polygonFences } from '../profiles/site.ts';
import { BODY_LOCATIONS, Bodies } from './bodies.ts';
import { type Calls, inBatches, type Kernel } from './kernel.ts';

const PEOPLE = 10_000;
const FENCES = { count: 1000, vertices: 16, sideMeters: 3000, radiusMeters: [15, 25] } as const;
/** Bodies of a batch. */
const BODIES = 10;
/** Steps after which all changed rows are requested, as the hub does every 200 ms. */
const FLUSH_EVERY = 20;

/** The core alone: people on smooth walks among fences. */
export const SHARD_STEP: readonly Kernel[] = [
  step('step_silent', 'a location in a shard without subscribers', { topics: [], areTracked: false }),
  step('step', 'the same with subscribers of locations and fence events', {
    topics: ['location_updates', 'fence_events'],
    areTracked: false,
  }),
  step('step_trackables', 'the same, and each tag moves a trackable, with subscribers of motions', {
    topics: ['location_updates', 'fence_events', 'trackable_motions'],
    areTracked: true,
  }),
  step('step_filtered', 'step_silent with filtered positions', {
    topics: [],
    areTracked: false,
    filters: { all: { kind: 'cv' }, types: {} },
  }),
];

interface Scene {
  readonly topics: readonly Topic[];
  readonly areTracked: boolean;
  readonly filters?: FilterDefaults;
}

function step(name: string, summary: string, scene: Scene): Kernel {
  return { name, summary, prepare: () => prepare(scene) };
}

async function prepare({ topics, areTracked, filters }: Scene): Promise<Calls> {
  const shard = openShard({
    index: await openFenceIndex(),
    newBuffer: newRecordBuffer,
    newId: newEventId,
    collisionsByDefault: false,
    providerInTrackableEvents: false,
    detachedStay: true,
    parentsMax: 32,
    filters,
  });
  const bodies = new Bodies({ providers: PEOPLE, sideMeters: FENCES.sideMeters });
  const { nowMs } = bodies;
  const variants = topics.map((topic, i): Variant => ({ id: i + 1, topic, crs: 'EPSG:4326' }));
  const setup: Item[] = [{ seq: 0, receivedMs: nowMs, kind: 'variants', variants }];
  let made = 0;
  for (const fence of polygonFences(FENCES)) {
    const id = `fence-${made++}`;
    setup.push({ seq: 0, receivedMs: nowMs, kind: 'fence', id, entity: { ...fence, id } as Fence });
  }
  for (let i = 0; i < PEOPLE; i++) {
    const [id, tag] = [`person-${i}`, providerId(i)];
    setup.push({ seq: 0, receivedMs: nowMs, kind: 'provider', id: tag, entity: { id: tag, type: 'uwb' } });
    const entity = { id, type: 'omlox' as const, location_providers: [tag] };
    if (areTracked) setup.push({ seq: 0, receivedMs: nowMs, kind: 'trackable', id, entity });
  }
  shard.step({ nowMs, items: setup, flushBudget: 0 });
  let steps = 0;
  return inBatches(
    BODIES * BODY_LOCATIONS,
    () => Array.from({ length: BODIES }, () => bodies.items()).flat(),
    (items) => shard.step({ nowMs: bodies.nowMs, items, flushBudget: ++steps % FLUSH_EVERY === 0 ? Infinity : 0 }),
  );
}
