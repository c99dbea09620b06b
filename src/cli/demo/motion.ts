/** A stop of a mover, in meters of its zone, with its duration. */
export interface Stop {
  readonly x: number;
  readonly y: number;
  readonly restS: number;
}

/** Movement characteristics. */
export interface Gait {
  /** Meters per second, and per second squared. */
  readonly speed: number;
  readonly acceleration: number;
  /** Forklifts follow the aisles along the axes; people walk straight. */
  readonly alongAisles: boolean;
  readonly stops: readonly Stop[];
  /** Whether the stops are visited in order, or at random with an offset of up to a meter. */
  readonly inOrder: boolean;
}

/** State of a moving object. */
export interface CrewMover {
  readonly gait: Gait;
  readonly x: number;
  readonly y: number;
  readonly speed: number;
  /** Direction of the last move: degrees clockwise from the y axis. */
  readonly course: number;
  /** Remaining rest. */
  readonly restS: number;
  /** Corners of the path, and the stop at its end. */
  readonly way: readonly Stop[];
  /** Index of the current target stop. */
  readonly stop: number;
  readonly seed: number;
}

/** A mover at rest at one of its stops. The seed determines all its movements. */
export function moverAt(gait: Gait, { stop, seed }: { stop: number; seed: number }): CrewMover {
  const { x, y, restS } = gait.stops[stop % gait.stops.length] as Stop;
  return { gait, x, y, speed: 0, course: 0, restS, way: [], stop: stop % gait.stops.length, seed };
}

/** The mover after `seconds`. */
export function move(mover: CrewMover, seconds: number): CrewMover {
  if (mover.restS > 0) return { ...mover, speed: 0, restS: mover.restS - seconds };
  const heading = mover.way.length > 0 ? mover : setOut(mover);
  const { x, y, way, gait } = heading;
  const target = way[0] as Stop;
  const distance = Math.hypot(target.x - x, target.y - y);
  const speed = speedTowards(distance, heading, seconds);
  const step = speed * seconds;
  if (distance <= step || distance < 0.01) {
    const arrived = { ...heading, x: target.x, y: target.y, way: way.slice(1), speed: gait.speed / 4 };
    return arrived.way.length > 0 ? arrived : { ...arrived, speed: 0, restS: target.restS };
  }
  const part = step / distance;
  const course = (Math.atan2(target.x - x, target.y - y) * 180) / Math.PI;
  return {
    ...heading,
    speed,
    x: x + (target.x - x) * part,
    y: y + (target.y - y) * part,
    course: (course + 360) % 360,
  };
}

/** Accelerates until the braking distance to the next corner or stop is reached. Never stops on the way. */
function speedTowards(distance: number, { gait, speed }: CrewMover, seconds: number): number {
  const braking = Math.sqrt(2 * gait.acceleration * distance);
  const wanted = Math.min(gait.speed, speed + gait.acceleration * seconds, braking);
  return Math.max(wanted, gait.speed / 20);
}

function setOut(mover: CrewMover): CrewMover {
  const { gait, x, y } = mover;
  const { stop, dx, dy, seed } = gait.inOrder ? following(mover) : chosen(mover);
  const { restS, ...place } = gait.stops[stop] as Stop;
  const target = { x: place.x + dx, y: place.y + dy, restS };
  const corner = { x: target.x, y, restS: 0 };
  const turns = gait.alongAisles && target.x !== x && target.y !== y;
  return { ...mover, stop, seed, way: turns ? [corner, target] : [target] };
}

interface Choice {
  readonly stop: number;
  readonly dx: number;
  readonly dy: number;
  readonly seed: number;
}

function following({ gait, stop, seed }: CrewMover): Choice {
  return { stop: (stop + 1) % gait.stops.length, dx: 0, dy: 0, seed };
}

/** A random stop other than the current one. */
function chosen({ gait, stop, seed }: CrewMover): Choice {
  const which = draw(seed);
  const beside = draw(which.seed);
  const ahead = draw(beside.seed);
  const others = Math.max(1, gait.stops.length - 1);
  return {
    stop: (stop + 1 + Math.floor(which.value * others)) % gait.stops.length,
    dx: beside.value * 2 - 1,
    dy: ahead.value * 2 - 1,
    seed: ahead.seed,
  };
}

/**
 * The next number of a seeded sequence, in [0, 1), and the next seed. The generator is Mulberry32 by Tommy Ettinger:
 * small, fast and uniform enough for a simulation.
 */
export function draw(seed: number): { value: number; seed: number } {
  const next = (seed + 0x6d2b79f5) | 0;
  let mixed = Math.imul(next ^ (next >>> 15), next | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return { value: ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296, seed: next };
}
