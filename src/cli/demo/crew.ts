import type { Trackable } from '../../model/trackable.ts';
import { demoId, demoTag } from '../../model/demo_id.ts';
import { type Gait, type CrewMover, moverAt, type Stop } from './motion.ts';
import type { FloorName } from './plan.ts';

/** A person or a vehicle with a tag. */
export interface CrewMember {
  readonly trackable: Trackable;
  readonly tag: string;
  /** Provider of the RFID tag that the gate reads. */
  readonly rfid?: string;
  readonly floor: FloorName;
  /** Height of the tag above the floor in meters. */
  readonly z: number;
  /** Whether the tag sleeps at rest, which lets fence timeouts fire. */
  readonly sleeps: boolean;
  readonly mover: CrewMover;
}

const WALK = { speed: 1.4, acceleration: 1, alongAisles: false };
const DRIVE = { speed: 3.5, acceleration: 0.8, alongAisles: true };

const HALL_STOPS = stops(
  [15, 14, 8],
  [35, 14, 3],
  [90, 50, 2],
  [48, 33, 2],
  [60, 40, 3],
  [84, 34, 4],
  [15, 41, 7],
).concat(stops([15, 48, 5], [40, 52, 4], [52, 21, 1], [50, 5, 4], [30, 30, 2], [70, 22, 2], [95, 20, 2]));

const UPPER_STOPS = stops([6, 5, 12], [12, 9, 4], [17, 7, 4], [30, 15, 4], [34.5, 15, 3], [22, 20, 2], [37, 3, 3]);

const DRIVE_STOPS = stops([15, 4, 6], [35, 4, 6], [50, 4, 2], [65, 4, 5], [15, 14, 6], [35, 14, 4], [48, 33, 5]).concat(
  stops([72, 47, 5], [90, 50, 8], [52, 21, 1], [84, 34, 4]),
);

/** From inside Dock 2 to a meter outside, where the exit tolerance ends, and back through the hall. */
function pickingRound(x: number): readonly Stop[] {
  return stops([x, 14, 4], [x, 19, 6], [x, 30, 2]);
}

/** The 40 members of the demo. The seed determines their movements. */
export function demoCrew(seed: number): CrewMember[] {
  const crew: CrewMember[] = [];
  const add = (count: number, member: (index: number) => Described) => {
    for (let index = 0; index < count; index++) crew.push(enlist(member(index), { number: crew.length + 1, seed }));
  };
  const walker = { floor: 'hall', z: 1.1, shape: { radius: 0.4 } } as const;
  add(16, (i) => ({ ...walker, name: `Worker ${i + 1}`, sleeps: i % 4 === 0, gait: roam(WALK, HALL_STOPS) }));
  add(2, (i) => ({
    ...walker,
    name: `Picker ${i + 1}`,
    gait: { ...WALK, inOrder: true, stops: pickingRound(33 + 4 * i) },
  }));
  add(10, (i) => ({
    ...walker,
    name: `Technician ${i + 1}`,
    floor: 'upper',
    sleeps: i % 5 === 0,
    gait: roam(WALK, UPPER_STOPS),
  }));
  add(12, (i) => ({
    name: `Forklift ${i + 1}`,
    floor: 'hall',
    z: 2.1,
    shape: FORKLIFT,
    gait: roam(DRIVE, DRIVE_STOPS),
  }));
  return crew;
}

interface Described {
  readonly name: string;
  readonly floor: FloorName;
  readonly z: number;
  readonly shape: Pick<Trackable, 'radius' | 'geometry' | 'extrusion' | 'locating_rules'>;
  readonly sleeps?: boolean;
  readonly gait: Gait;
}

/**
 * 1.2 by 2.4 meters around its tag, forks ahead. Recent locations of the tag take precedence over the gate's coarse
 * ones.
 */
const FORKLIFT: Described['shape'] = {
  geometry: {
    type: 'Polygon',
    coordinates: [
      [
        [-0.6, -1.2],
        [0.6, -1.2],
        [0.6, 1.2],
        [-0.6, 1.2],
        [-0.6, -1.2],
      ],
    ],
  },
  extrusion: 2.2,
  locating_rules: [{ expression: "type = 'uwb' AND timestamp_diff < 5000", priority: 10 }],
};

function enlist(
  { name, floor, z, shape, sleeps = false, gait }: Described,
  { number, seed }: { number: number; seed: number },
): CrewMember {
  const suffix = String(number).padStart(2, '0');
  const tag = demoTag(number);
  const rfid = shape.geometry === undefined ? {} : { rfid: `demo-rfid-${suffix}` };
  const providers = [tag, ...Object.values(rfid)];
  return {
    trackable: {
      id: demoId('trackable', number),
      type: 'omlox',
      name,
      location_providers: providers,
      // A property for coloring on the map.
      properties: { role: name.replace(/ \d+$/, '') },
      ...shape,
    },
    tag,
    ...rfid,
    floor,
    z,
    sleeps,
    mover: moverAt(gait, { stop: number, seed: seed * 1000 + number }),
  };
}

function roam(pace: Pick<Gait, 'speed' | 'acceleration' | 'alongAisles'>, visited: readonly Stop[]): Gait {
  return { ...pace, inOrder: false, stops: visited };
}

function stops(...places: readonly (readonly [x: number, y: number, restS: number])[]): Stop[] {
  return places.map(([x, y, restS]) => ({ x, y, restS }));
}
