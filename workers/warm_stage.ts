import { openCollisionStage } from '../src/core/collision/stage.ts';
import type { TrackableMotion } from '../src/core/motion/motion.ts';
import { copied } from '../src/model/borrowed.ts';
import { newRecordBuffer } from '../src/wire/location_record.ts';
import { pack, unpackMotions } from '../src/wire/messages.ts';
import { packMotions } from '../src/wire/motion_bytes.ts';

const ROUNDS = 4;
/** Closed ring around both positions. */
const RING = Float64Array.from([9, 50, 9.0001, 50, 9.0001, 50.0001, 9, 50.0001, 9, 50]);

/**
 * Warms up a worker: lets synthetic motions meet and separate in a temporary stage. Otherwise the first batch of a
 * worker would take about fifty times as long as later ones, because the engine compiles code on first use.
 */
export function warmStage(): void {
  const stage = openCollisionStage({
    newId: () => 'made up',
    namedId: () => 'named',
    zones: () => undefined,
    newBuffer: newRecordBuffer,
  });
  stage.step({ nowMs: 0, motions: [], variants: [{ id: 1, topic: 'collision_events', crs: 'EPSG:4326' }] });
  for (let nowMs = 1; nowMs <= ROUNDS; nowMs++) {
    const motions = ['circle', 'other', 'polygon'].map((id) => motionOf(id, nowMs));
    const outcome = stage.step({ nowMs, motions: unpackMotions(copied(packMotions(motions))) });
    pack({ ...outcome, waiting: 0 });
  }
}

/** Returns a motion that is near the other one in one round and apart in the next. */
function motionOf(id: string, atMs: number): TrackableMotion {
  const isPolygon = id === 'polygon';
  return {
    kind: 'moved',
    seq: atMs,
    id,
    receivedMs: atMs,
    eventTimeMs: atMs,
    lon: id === 'other' && atMs % 2 === 0 ? 9.1 : 9,
    lat: 50,
    z: undefined,
    elevationRef: 'floor',
    levelMeters: undefined,
    floor: 0,
    extrusion: undefined,
    collides: true,
    radiusMeters: isPolygon ? 0 : 1,
    ring: isPolygon ? RING : undefined,
    exitToleranceMeters: 0,
    toleranceTimeoutMs: undefined,
    exitDelayMs: undefined,
    providers: [id],
    ancestors: [],
  };
}
