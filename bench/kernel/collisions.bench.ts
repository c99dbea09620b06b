import { openCollisionStage } from '../../src/core/collision/stage.ts';
import type { Motion } from '../../src/core/motion/motion.ts';
import type { Variant } from '../../src/model/topics.ts';

/** Nanoseconds per motion of the collision stage: people in a crowd, and vehicles that are mostly apart. */
const WANTED: Variant = { id: 1, topic: 'collision_events', crs: 'EPSG:4326' };
const METRE = 1 / 111_320;
const MOVES = 400_000;

const SCENES = [
  { name: 'crowd of 2,000 on 100 m', count: 2000, sideMetres: 100, radii: [0.3], variants: [] },
  { name: 'the same, with event texts', count: 2000, sideMetres: 100, radii: [0.3], variants: [WANTED] },
  { name: '50,000 on 10 km, no events', count: 50_000, sideMetres: 10_000, radii: [0, 0.5, 3], variants: [WANTED] },
  {
    name: '50,000 on 10 km beside 1 km giants',
    count: 50_000,
    sideMetres: 10_000,
    radii: [0.5],
    variants: [],
    giants: 3,
  },
  { name: '50,000 points', count: 50_000, sideMetres: 10_000, radii: [0], variants: [] },
];

/** A linear congruential generator: the same scene in every run. */
let seed = 1;
function random(): number {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed / 2 ** 32;
}

function motion(index: number, at: readonly [number, number], radiusMetres: number, nowMs: number): Motion {
  return {
    kind: 'moved',
    seq: 0,
    id: `trackable ${index}`,
    receivedMs: nowMs,
    keyMs: nowMs,
    lon: 8.6 + at[0] * METRE * 1.55,
    lat: 50 + at[1] * METRE,
    z: undefined,
    elevationRef: 'floor',
    floor: 0,
    extrusion: undefined,
    collides: true,
    radiusMetres,
    ring: undefined,
    exitToleranceMetres: 0,
    toleranceTimeoutMs: undefined,
    exitDelayMs: undefined,
    providers: [`tag ${index}`],
    ancestors: [],
  };
}

for (const { name, count, sideMetres, radii, variants, giants = 0 } of SCENES) {
  let ids = 0;
  const stage = openCollisionStage({ newId: () => String(ids++), zones: () => undefined });
  stage.step({ nowMs: 0, motions: [], variants });
  const at = Array.from({ length: count }, (): [number, number] => [random() * sideMetres, random() * sideMetres]);
  const radiusOf = (index: number): number => (index < giants ? 1000 : (radii[index % radii.length] ?? 0));
  let elapsedMs = 0;
  let events = 0;
  const rounds = Math.ceil(MOVES / count);
  for (let round = 0; round <= rounds; round++) {
    const motions = at.map((place, index) => {
      place[0] += random() * 2 - 1;
      place[1] += random() * 2 - 1;
      return motion(index, place, radiusOf(index), round);
    });
    const from = performance.now();
    const { started, colliding, ended } = stage.step({ nowMs: round, motions });
    // The first round fills the grid.
    if (round === 0) continue;
    elapsedMs += performance.now() - from;
    events += started + colliding + ended;
  }
  const moves = rounds * count;
  const nanoseconds = Math.round((elapsedMs * 1e6) / moves);
  console.log(`${name}: ${nanoseconds} ns per motion, ${(events / moves).toFixed(2)} events per motion`);
}
