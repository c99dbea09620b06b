import { openCollisionStage } from '../../src/core/collision/stage.ts';
import type { Motion } from '../../src/core/motion/motion.ts';
import type { Variant } from '../../src/model/topics.ts';
import { newRecordBuffer } from '../../src/wire/location_record.ts';
import { randomFrom } from '../load/random.ts';
import { inBatches, type Kernel } from './kernel.ts';

const WANTED: Variant = { id: 1, topic: 'collision_events', crs: 'EPSG:4326' };
const METRE = 1 / 111_320;

interface Scene {
  readonly name: string;
  readonly summary: string;
  readonly count: number;
  readonly sideMeters: number;
  readonly radii: readonly number[];
  readonly variants: readonly Variant[];
}

const SCENES: readonly Scene[] = [
  {
    name: 'collisions_crowd',
    summary: 'a motion in a crowd of 2,000 on 100 m, without subscribers',
    ...{ count: 2000, sideMeters: 100, radii: [0.3], variants: [] },
  },
  {
    name: 'collisions_crowd_texts',
    summary: 'the same with serialized events',
    ...{ count: 2000, sideMeters: 100, radii: [0.3], variants: [WANTED] },
  },
  {
    name: 'collisions_apart',
    summary: 'a motion of one of 50,000 vehicles on 10 km, mostly apart',
    ...{ count: 50_000, sideMeters: 10_000, radii: [0, 0.5, 3], variants: [WANTED] },
  },
];

/** The collision stage: people in a crowd, and vehicles that are mostly apart. A call is a motion. */
export const COLLISIONS: readonly Kernel[] = SCENES.map((scene) => ({
  name: scene.name,
  summary: scene.summary,
  prepare: () => prepare(scene),
}));

function prepare({ count, sideMeters, radii, variants }: Scene) {
  const random = randomFrom(1);
  let ids = 0;
  const newId = () => String(ids++);
  const stage = openCollisionStage({ newId, namedId: newId, zones: () => undefined, newBuffer: newRecordBuffer });
  stage.step({ nowMs: 0, motions: [], variants });
  const at = Array.from({ length: count }, (): [number, number] => [random() * sideMeters, random() * sideMeters]);
  let nowMs = 0;
  const motions = (): Motion[] => {
    nowMs++;
    return at.map((place, index) => {
      place[0] += random() * 2 - 1;
      place[1] += random() * 2 - 1;
      return motion(index, place, { radiusMeters: radii[index % radii.length] ?? 0, nowMs });
    });
  };
  // The first round fills the grid.
  stage.step({ nowMs, motions: motions() });
  return inBatches(count, motions, (moved) => stage.step({ nowMs, motions: moved }));
}

interface Extent {
  readonly radiusMeters: number;
  readonly nowMs: number;
}

function motion(index: number, at: readonly [number, number], { radiusMeters, nowMs }: Extent): Motion {
  return {
    kind: 'moved',
    seq: 0,
    id: `trackable ${index}`,
    receivedMs: nowMs,
    eventTimeMs: nowMs,
    lon: 8.6 + at[0] * METRE * 1.55,
    lat: 50 + at[1] * METRE,
    z: undefined,
    elevationRef: 'floor',
    levelMeters: undefined,
    floor: 0,
    extrusion: undefined,
    collides: true,
    radiusMeters,
    ring: undefined,
    exitToleranceMeters: 0,
    toleranceTimeoutMs: undefined,
    exitDelayMs: undefined,
    providers: [`tag ${index}`],
    ancestors: [],
  };
}
