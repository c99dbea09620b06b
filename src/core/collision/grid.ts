// hot: runs for each motion, see bench/kernel/collisions.bench.ts
/**
 * Finds the bodies that may touch a body: a hierarchy of grids of cubes in space.
 *
 * A body belongs to the lowest level whose cubes are eight times its reach; its cube is the one around its position. A
 * body can touch bodies of its own or a lower level only if their positions are at most a quarter of a cube apart, so
 * at most two cubes per direction are searched.
 *
 * Each level stores its own bodies (`natives`) separately from points and the bodies of lower levels (`smaller`). A
 * search visits the natives of the body's own level and of all higher levels, and the smaller bodies of its own level.
 * So every pair is found from either side, a huge body never iterates over all cubes of tiny ones, and two points,
 * which never collide, are never compared.
 *
 * Cubes are identified by a hash. If the hashes of two cubes collide, distant bodies are found too; they fail the
 * distance test.
 */
export interface Celled {
  /** Position in space, in meters. */
  x: number;
  y: number;
  z: number;
  reachMeters: number;
  level: number;
  /** Number of the last search that visited the body. */
  seenIn: number;
}

export interface CollisionGrid<B extends Celled> {
  /** Levels that have natives, in ascending order. */
  levels: Level<B>[];
  readonly bodies: ReadonlyMap<string, B>;
  /** Number of the current search. */
  search: number;
  /** Empty buckets for reuse, so that a body that changes cubes allocates none. */
  readonly spare: B[][];
}

interface Level<B> {
  readonly level: number;
  readonly cellMeters: number;
  count: number;
  readonly natives: Map<number, B[]>;
  readonly smaller: Map<number, B[]>;
}

/** Shapes closer than this count as touching, since coordinates in degrees are not more precise. */
export const TOUCH_METERS = 1e-6;

const POINT = -1;
const SPARE_MAX = 64;
/** Maximum reach, in meters, of a body on the lowest level; each level doubles it. */
const REACH_OF_LEVEL_0 = 0.25;
/**
 * Edge of a cube as a multiple of the reach. A smaller factor means more cubes per search, a larger one more bodies per
 * cube; 8 was measured to be fastest.
 */
const CELL_PER_REACH = 8;

/** Creates a grid of the bodies; a new level collects the smaller bodies from `bodies`. */
export function newGrid<B extends Celled>(bodies: ReadonlyMap<string, B>): CollisionGrid<B> {
  return { levels: [], bodies, search: 0, spare: [] };
}

/** Inserts a body, which must be in `bodies` already. */
export function putIn<B extends Celled>(grid: CollisionGrid<B>, body: B): void {
  body.level = levelOf(body.reachMeters);
  if (body.level !== POINT && !grid.levels.some(({ level }) => level === body.level)) openLevel(grid, body.level);
  for (const level of grid.levels) {
    if (level.level < body.level) continue;
    if (level.level === body.level) level.count++;
    add(grid, homeOf(level, body), nameOf(body, level.cellMeters), body);
  }
}

/** Removes a body from the grid. */
export function takeOut<B extends Celled>(grid: CollisionGrid<B>, body: B): void {
  for (const level of grid.levels) {
    if (level.level < body.level) continue;
    if (level.level === body.level) level.count--;
    remove(grid, homeOf(level, body), nameOf(body, level.cellMeters), body);
  }
  if (grid.levels.some(({ count }) => count === 0)) grid.levels = grid.levels.filter(({ count }) => count > 0);
}

/** Moves a body. Cheap while it stays in its cubes. */
export function move<B extends Celled>(grid: CollisionGrid<B>, body: B, to: Float64Array, reachMeters: number): void {
  const resized = levelOf(reachMeters) !== body.level;
  if (resized) takeOut(grid, body);
  const { x, y, z } = body;
  body.x = to[0]!;
  body.y = to[1]!;
  body.z = to[2]!;
  body.reachMeters = reachMeters;
  if (resized) {
    putIn(grid, body);
    return;
  }
  for (let i = 0; i < grid.levels.length; i++) {
    const level = grid.levels[i]!;
    if (level.level < body.level) continue;
    const before = name(cell(x, level.cellMeters), cell(y, level.cellMeters), cell(z, level.cellMeters));
    const after = nameOf(body, level.cellMeters);
    if (before === after) continue;
    remove(grid, homeOf(level, body), before, body);
    add(grid, homeOf(level, body), after, body);
  }
}

/** Starts a search: `collect` skips bodies marked with its number in `seenIn`. */
export function startSearch<B extends Celled>(grid: CollisionGrid<B>, body: B): number {
  grid.search++;
  body.seenIn = grid.search;
  return grid.search;
}

/** Adds each body within reach of `body` to `found` once, except bodies that the search has marked. */
export function collect<B extends Celled>(grid: CollisionGrid<B>, body: B, found: B[]): void {
  for (let i = 0; i < grid.levels.length; i++) {
    const level = grid.levels[i]!;
    if (level.level < body.level) continue;
    const range = body.reachMeters + level.cellMeters / CELL_PER_REACH + 2 * TOUCH_METERS;
    const toX = cell(body.x + range, level.cellMeters);
    const toY = cell(body.y + range, level.cellMeters);
    const toZ = cell(body.z + range, level.cellMeters);
    const fromY = cell(body.y - range, level.cellMeters);
    const fromZ = cell(body.z - range, level.cellMeters);
    for (let x = cell(body.x - range, level.cellMeters); x <= toX; x++) {
      for (let y = fromY; y <= toY; y++) {
        for (let z = fromZ; z <= toZ; z++) {
          const key = name(x, y, z);
          const natives = level.natives.get(key);
          if (natives !== undefined) pick(grid.search, body, natives, found);
          if (level.level !== body.level) continue;
          const smaller = level.smaller.get(key);
          if (smaller !== undefined) pick(grid.search, body, smaller, found);
        }
      }
    }
  }
}

function pick<B extends Celled>(search: number, body: B, bucket: readonly B[], found: B[]): void {
  const { x, y, z } = body;
  const reach = body.reachMeters + TOUCH_METERS;
  for (let i = 0; i < bucket.length; i++) {
    const other = bucket[i]!;
    const dx = other.x - x;
    const dy = other.y - y;
    const dz = other.z - z;
    const range = reach + other.reachMeters;
    if (dx * dx + dy * dy + dz * dz > range * range) continue;
    if (other.seenIn === search) continue;
    other.seenIn = search;
    found.push(other);
  }
}

function openLevel<B extends Celled>(grid: CollisionGrid<B>, number: number): void {
  const opened: Level<B> = {
    level: number,
    cellMeters: CELL_PER_REACH * REACH_OF_LEVEL_0 * 2 ** number,
    count: 0,
    natives: new Map(),
    smaller: new Map(),
  };
  for (const body of grid.bodies.values()) {
    if (body.level < number) add(grid, opened.smaller, nameOf(body, opened.cellMeters), body);
  }
  grid.levels = [...grid.levels, opened].sort((a, b) => a.level - b.level);
}

function levelOf(reachMeters: number): number {
  if (reachMeters <= 0) return POINT;
  return Math.max(0, Math.ceil(Math.log2(reachMeters / REACH_OF_LEVEL_0)));
}

function homeOf<B extends Celled>(level: Level<B>, body: B): Map<number, B[]> {
  return level.level === body.level ? level.natives : level.smaller;
}

function nameOf(body: Celled, cellMeters: number): number {
  return name(cell(body.x, cellMeters), cell(body.y, cellMeters), cell(body.z, cellMeters));
}

function cell(coordinate: number, cellMeters: number): number {
  return Math.floor(coordinate / cellMeters);
}

/** Hash of a cube, with the primes of Teschner et al., "Optimized Spatial Hashing for Collision Detection" (2003). */
function name(x: number, y: number, z: number): number {
  return Math.imul(x, 73856093) ^ Math.imul(y, 19349663) ^ Math.imul(z, 83492791);
}

function add<B extends Celled>(grid: CollisionGrid<B>, buckets: Map<number, B[]>, key: number, body: B): void {
  const bucket = buckets.get(key);
  if (bucket !== undefined) {
    bucket.push(body);
    return;
  }
  const empty = grid.spare.pop() ?? [];
  empty.push(body);
  buckets.set(key, empty);
}

function remove<B extends Celled>(grid: CollisionGrid<B>, buckets: Map<number, B[]>, key: number, body: B): void {
  const bucket = buckets.get(key);
  if (bucket === undefined) return;
  const index = bucket.indexOf(body);
  if (index < 0) return;
  const last = bucket.pop()!;
  if (last !== body) bucket[index] = last;
  if (bucket.length > 0) return;
  buckets.delete(key);
  if (grid.spare.length < SPARE_MAX) grid.spare.push(bucket);
}
