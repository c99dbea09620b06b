import { type CollisionOutcome, type CollisionStage, openCollisionStage } from '../../src/core/collision/stage.ts';
import type { TrackableMotion } from '../../src/core/motion/motion.ts';
import { checker } from '../../src/model/check.ts';
import { CollisionEvent } from '../../src/model/events.ts';
import type { SerializedEvent, Variant } from '../../src/model/topics.ts';
import type { Zone } from '../../src/model/zone.ts';
import { newRecordBuffer } from '../../src/wire/location_record.ts';
import { eventsOf } from '../support/shard_harness.ts';
import { moved, placeAt } from './collision_motions.ts';

export const WGS84: Variant = { id: 4, topic: 'collision_events', crs: 'EPSG:4326' };
const events = checker(CollisionEvent);

/** A collision stage whose events are returned one by one. */
export interface Stage extends Omit<CollisionStage, 'step'> {
  step(...input: Parameters<CollisionStage['step']>): Reported;
}

export interface Reported extends Omit<CollisionOutcome, 'events'> {
  readonly events: readonly SerializedEvent[];
}

export function openStage(variants: readonly Variant[] = [WGS84], zones: ReadonlyMap<string, Zone> = new Map()): Stage {
  let [count, steps] = [0, 0];
  const stage = openCollisionStage({
    newId: () => `event ${++count}`,
    namedId: (name) => name,
    zones: (id) => zones.get(id),
    newBuffer: newRecordBuffer,
  });
  stage.step({ nowMs: 0, motions: [], variants });
  return {
    ...stage,
    step(input) {
      const outcome = stage.step({ step: ++steps, ...input });
      return { ...outcome, events: eventsOf(outcome) };
    },
  };
}

export function read({ text }: SerializedEvent): CollisionEvent {
  return events.parse(JSON.parse(text));
}

/** Formats an event as `start a b 1000`, `colliding a b 2000` or `end a b 3000`; the number is its time. */
export function brief(event: SerializedEvent): string {
  const { collision_type, collisions, start_time, collision_time, end_time } = read(event);
  const time = Date.parse(end_time ?? collision_time ?? start_time);
  return `${collision_type.replace('collision_', '')} ${collisions.map(({ id }) => id).join(' ')} ${time}`;
}

/** A circle of 1 m, some meters east of the origin. */
export function disc(id: string, atMs: number, east: number, more: Partial<TrackableMotion> = {}): TrackableMotion {
  return moved(id, atMs, { ...placeAt(east, 0), radiusMeters: 1, ...more });
}
