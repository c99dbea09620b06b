import { randomUUID } from 'node:crypto';
import type { Item } from '../../src/core/item.ts';
import { type AcceptedLocation, accept } from '../../src/core/location/accepted.ts';
import { openShard } from '../../src/core/shard.ts';
import type { Polygon } from '../../src/model/geojson.ts';
import type { Topic, Variant } from '../../src/model/topics.ts';
import { openFenceIndex } from '../../wasm/fence_index.ts';

/** Nanoseconds per location of a shard: people on smooth walks among fences, each with one tag. */
const PEOPLE = 10_000;
const FENCES = 1000;
const VERTICES = 16;
const SIDE_METRES = 3000;
const BATCH = 1000;
const ROUNDS = 40;
const START_MS = 1_800_000_000_000;
const LAT_PER_METRE = 1 / 111_320;
const LON_PER_METRE = LAT_PER_METRE / Math.cos((50 * Math.PI) / 180);

/** A linear congruential generator: the same scene in every run. */
let seed = 1;
function random(): number {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed / 2 ** 32;
}

const SCENES: { readonly name: string; readonly topics: readonly Topic[] }[] = [
  { name: 'nobody listens', topics: [] },
  { name: 'locations and fence events', topics: ['location_updates', 'fence_events'] },
  { name: 'motions as well', topics: ['location_updates', 'fence_events', 'trackable_motions'] },
];

/** Metres to the east and north of the site's corner, and where a person is heading. */
interface Walker {
  x: number;
  y: number;
  heading: number;
}

function fenceAround(x: number, y: number): Polygon {
  const ring = Array.from({ length: VERTICES }, (_, i) => {
    const angle = (2 * Math.PI * i) / VERTICES;
    const radius = 15 + 10 * random();
    return placeOf(x + radius * Math.cos(angle), y + radius * Math.sin(angle));
  });
  return { type: 'Polygon', coordinates: [[...ring, ring[0] as number[]]] };
}

function placeOf(x: number, y: number): number[] {
  return [8.6 + x * LON_PER_METRE, 50 + y * LAT_PER_METRE];
}

function walk(walker: Walker): void {
  walker.heading += (random() - 0.5) * 0.5;
  walker.x += 1.4 * Math.cos(walker.heading);
  walker.y += 1.4 * Math.sin(walker.heading);
  const isOutside = walker.x < 0 || walker.y < 0 || walker.x > SIDE_METRES || walker.y > SIDE_METRES;
  if (isOutside) walker.heading = Math.atan2(SIDE_METRES / 2 - walker.y, SIDE_METRES / 2 - walker.x);
}

function locationOf(index: number, walker: Walker, nowMs: number): AcceptedLocation {
  const position = { type: 'Point' as const, coordinates: placeOf(walker.x, walker.y) };
  const value = { position, provider_type: 'uwb' as const, accuracy: 0.3, floor: 0 };
  return accept(value, { providerId: `tag-${index}`, source: 'site', crs: 'EPSG:4326', generatedMs: nowMs });
}

for (const { name, topics } of SCENES) {
  seed = 1;
  const shard = openShard({
    index: await openFenceIndex(),
    newId: randomUUID,
    collisionsByDefault: false,
    providerInTrackableEvents: false,
  });
  const variants = topics.map((topic, i): Variant => ({ id: i + 1, topic, crs: 'EPSG:4326' }));
  const setup: Item[] = [{ seq: 0, receivedMs: START_MS, kind: 'variants', variants }];
  for (let i = 0; i < FENCES; i++) {
    const id = `fence-${i}`;
    const region = fenceAround(SIDE_METRES * random(), SIDE_METRES * random());
    setup.push({ seq: 0, receivedMs: START_MS, kind: 'fence', id, entity: { id, region, timeout: 60_000 } });
  }
  for (let i = 0; i < PEOPLE; i++) {
    const [id, tag] = [`person-${String(i).padStart(5, '0')}`, `tag-${i}`];
    setup.push({ seq: 0, receivedMs: START_MS, kind: 'provider', id: tag, entity: { id: tag, type: 'uwb' } });
    const entity = { id, type: 'omlox' as const, location_providers: [tag] };
    setup.push({ seq: 0, receivedMs: START_MS, kind: 'trackable', id, entity });
  }
  shard.step({ nowMs: START_MS, items: setup, rows: 'urgent' });
  const walkers = Array.from({ length: PEOPLE }, (): Walker => {
    return { x: SIDE_METRES * random(), y: SIDE_METRES * random(), heading: 2 * Math.PI * random() };
  });
  let [spentMicros, locations, events, crossings] = [0, 0, 0, 0];
  for (let round = 0; round < ROUNDS; round++) {
    const nowMs = START_MS + 1000 * round;
    for (const walker of walkers) walk(walker);
    for (let from = 0; from < PEOPLE; from += BATCH) {
      const items = walkers.slice(from, from + BATCH).map((walker, i): Item => {
        const location = locationOf(from + i, walker, nowMs);
        return { seq: 1, receivedMs: nowMs, kind: 'location', generatedMs: nowMs, location };
      });
      const started = process.cpuUsage();
      const outcome = shard.step({ nowMs, items, rows: 'urgent' });
      // The first rounds warm up.
      if (round < 5) continue;
      const { user, system } = process.cpuUsage(started);
      spentMicros += user + system;
      locations += items.length;
      events += outcome.events.length;
      crossings += outcome.counts.entries + outcome.counts.exits;
    }
    shard.step({ nowMs, items: [], rows: 'all' });
  }
  const ns = (1000 * spentMicros) / locations;
  console.log(`${name}: ${ns.toFixed(0)} ns per location, ${events} events, ${crossings} crossings`);
}
