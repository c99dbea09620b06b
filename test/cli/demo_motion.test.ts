import assert from 'node:assert/strict';
import { test } from 'node:test';
import { demoCrew, type CrewMember } from '../../src/cli/demo/crew.ts';
import { DRAWN, type FenceShape } from '../../src/cli/demo/fences.ts';
import { draw, type Gait, type CrewMover, move, moverAt } from '../../src/cli/demo/motion.ts';
import { locationOf, proximityOf } from '../../src/cli/demo/observe.ts';
import { HALL, inHall, type Meters, onEarth } from '../../src/cli/demo/plan.ts';
import { FLOORS } from '../../src/cli/demo/zones.ts';

const MINUTES = 5;
const TICK_S = 0.1;

/** Positions of the crew, tick by tick. */
function* days(seed: number): Generator<CrewMember[]> {
  let crew = demoCrew(seed);
  for (let tick = 0; tick < (MINUTES * 60) / TICK_S; tick++) {
    yield crew;
    crew = crew.map((member) => ({ ...member, mover: move(member.mover, TICK_S) }));
  }
}

const places = (crew: readonly CrewMember[]) => crew.map(({ mover }) => [mover.x, mover.y]);

test('demoCrew moves the same way for the same seed, and differently for another', () => {
  const once = [...days(1)].at(-1) as CrewMember[];
  const again = [...days(1)].at(-1) as CrewMember[];
  const other = [...days(2)].at(-1) as CrewMember[];
  assert.deepEqual(places(once), places(again));
  assert.notDeepEqual(places(once), places(other));
});

test('demoCrew is 40 trackables with their own providers, circles and polygons', () => {
  const crew = demoCrew(1);
  const providers = crew.flatMap(({ trackable }) => trackable.location_providers ?? []);
  assert.equal(new Set(crew.map(({ trackable }) => trackable.id)).size, 40);
  assert.equal(new Set(providers).size, providers.length);
  assert.ok(crew.some(({ trackable }) => trackable.radius !== undefined));
  assert.ok(crew.some(({ trackable }) => trackable.geometry !== undefined));
});

test('demoCrew stays on its floor and within the speed of its gait', () => {
  let before: CrewMember[] | undefined;
  for (const crew of days(3)) {
    crew.forEach(({ floor, mover, trackable }, index) => {
      const { width, depth } = FLOORS[floor];
      assert.ok(mover.x >= 0 && mover.x <= width && mover.y >= 0 && mover.y <= depth, trackable.name ?? '');
      const last = before?.[index]?.mover ?? mover;
      const distance = Math.hypot(mover.x - last.x, mover.y - last.y);
      assert.ok(distance <= mover.gait.speed * TICK_S + 1e-9, `${trackable.name} moved ${distance} m in a tick`);
    });
    before = crew;
  }
});

/** Meters from a position to a shape; negative inside. Holes count as outside. */
function distanceTo(shape: FenceShape, at: Meters): number {
  const toBox = ([left, bottom, right, top]: NonNullable<FenceShape['box']>) => {
    const dx = Math.max(left - at[0], at[0] - right);
    const dy = Math.max(bottom - at[1], at[1] - top);
    return dx > 0 && dy > 0 ? Math.hypot(dx, dy) : Math.max(dx, dy);
  };
  if (shape.box === undefined) return Math.hypot(at[0] - shape.centre[0], at[1] - shape.centre[1]) - shape.radius;
  return shape.hole === undefined ? toBox(shape.box) : Math.max(toBox(shape.box), -toBox(shape.hole));
}

/** Position of a crew member in the coordinates of the shape. */
function placeFor(shape: FenceShape, { floor, mover }: CrewMember): Meters {
  const { frame } = FLOORS[floor];
  return (shape.local ?? 'hall') === floor ? [mover.x, mover.y] : inHall(frame, [mover.x, mover.y]);
}

const belongs = (floor: number | null | undefined, member: CrewMember) => {
  return typeof floor !== 'number' || FLOORS[member.floor].floor === floor;
};

test('each fence of the demo is entered and exited by a crew member, except the one that locates none', () => {
  const entered = new Map<string, number>();
  const left = new Map<string, number>();
  const inside = new Set<string>();
  let first = true;
  for (const crew of days(1)) {
    for (const { name, floor, shape } of DRAWN) {
      for (const member of crew) {
        if (!belongs(floor, member)) continue;
        const key = `${name} ${member.tag}`;
        const isIn = distanceTo(shape, placeFor(shape, member)) <= 0;
        if (isIn && !inside.has(key) && !first) entered.set(name, (entered.get(name) ?? 0) + 1);
        if (!isIn && inside.has(key)) left.set(name, (left.get(name) ?? 0) + 1);
        if (isIn) inside.add(key);
        else inside.delete(key);
      }
    }
    first = false;
  }
  const visited = DRAWN.filter(({ untracked }) => untracked !== true).map(({ name }) => name);
  assert.deepEqual([...entered.keys()].sort(), visited.toSorted());
  assert.deepEqual([...left.keys()].sort(), visited.toSorted());
});

test('a picker of the demo stays in the exit tolerance of a dock until its timeout', () => {
  const dock = DRAWN.find(({ name }) => name === 'Dock 2');
  assert.ok(dock);
  let within = 0;
  let longest = 0;
  let wasInside = false;
  for (const crew of days(1)) {
    const picker = crew.find(({ trackable }) => trackable.name === 'Picker 1');
    assert.ok(picker);
    const distance = distanceTo(dock.shape, placeFor(dock.shape, picker));
    wasInside = distance <= 0 || (wasInside && distance <= (dock.exit_tolerance ?? 0));
    within = wasInside && distance > 0 ? within + TICK_S : 0;
    longest = Math.max(longest, within);
  }
  assert.ok(longest * 1000 > (dock.tolerance_timeout ?? Number.POSITIVE_INFINITY), `at most ${longest} s`);
});

test('some tag of the demo falls silent within a fence for longer than its timeout', () => {
  const dock = DRAWN.find(({ name }) => name === 'Dock 1');
  assert.ok(dock);
  const silentS = new Map<string, number>();
  let longest = 0;
  for (const crew of days(1)) {
    for (const member of crew) {
      const isIn = member.floor === 'hall' && distanceTo(dock.shape, placeFor(dock.shape, member)) <= 0;
      const silent = isIn && locationOf(member, 0) === undefined ? (silentS.get(member.tag) ?? 0) + TICK_S : 0;
      silentS.set(member.tag, silent);
      longest = Math.max(longest, silent);
    }
  }
  assert.ok(longest * 1000 > (dock.timeout ?? Number.POSITIVE_INFINITY), `at most ${longest} s`);
});

test('members of the demo collide, people with people and with forklifts', () => {
  const met = new Set<string>();
  // A forklift reaches at least 0.6 m around its tag in every direction.
  const reach = ({ trackable }: CrewMember) => trackable.radius ?? 0.6;
  const kind = ({ trackable }: CrewMember) => (trackable.radius === undefined ? 'forklift' : 'person');
  for (const crew of days(1)) {
    for (const a of crew) {
      for (const b of crew) {
        if (a.tag >= b.tag || a.floor !== b.floor) continue;
        const distance = Math.hypot(a.mover.x - b.mover.x, a.mover.y - b.mover.y);
        if (distance <= reach(a) + reach(b)) met.add([kind(a), kind(b)].sort().join(' '));
      }
    }
  }
  assert.deepEqual([...met].sort(), ['forklift forklift', 'forklift person', 'person person']);
});

test('the gate of the demo reads a forklift at least every 40 seconds, and rarely two at once', () => {
  let readings = 0;
  let ticks = 0;
  let readAt = 0;
  let silence = 0;
  for (const crew of days(1)) {
    ticks++;
    const read = crew.filter((member) => proximityOf(member, 0) !== undefined).length;
    readings += read;
    if (read > 0) readAt = ticks;
    silence = Math.max(silence, ticks - readAt);
  }
  assert.ok(silence * TICK_S < 40, `${silence * TICK_S} s without a reading`);
  assert.ok(readings < ticks, `${readings} readings in ${ticks} ticks`);
});

const WALK: Gait = {
  speed: 1,
  acceleration: 100,
  alongAisles: false,
  inOrder: true,
  stops: [
    { x: 0, y: 0, restS: 1 },
    { x: 3, y: 4, restS: 1 },
  ],
};

/** The mover at each full second. */
function seconds(gait: Gait, count: number): CrewMover[] {
  let mover = moverAt(gait, { stop: 0, seed: 1 });
  return Array.from({ length: count }, () => {
    for (let tick = 0; tick < 10; tick++) mover = move(mover, 0.1);
    return mover;
  });
}

test('move rests at its stops and walks straight between them', () => {
  const course = (Math.atan2(3, 4) * 180) / Math.PI;
  const walk = seconds(WALK, 4);
  for (const { x, y, course: found } of walk.slice(1)) {
    assert.ok(Math.abs(x / y - 3 / 4) < 1e-9);
    assert.ok(Math.abs(found - course) < 1e-9);
  }
  assert.deepEqual([walk[0]?.x, walk[0]?.y, walk[0]?.speed], [0, 0, 0]);
});

test('move stays in the aisles, one axis after the other', () => {
  for (const { x, y } of seconds({ ...WALK, alongAisles: true }, 7)) {
    assert.ok(Math.abs(y) < 1e-9 || Math.abs(x - 3) < 1e-9 || Math.abs(x) < 1e-9 || Math.abs(y - 4) < 1e-9);
  }
});

test('draw repeats for a seed and spreads over 0 to 1', () => {
  const numbers: number[] = [];
  for (let next = draw(7); numbers.length < 1000; next = draw(next.seed)) numbers.push(next.value);
  assert.equal(draw(7).value, draw(7).value);
  assert.ok(numbers.every((value) => value >= 0 && value < 1));
  const mean = numbers.reduce((sum, value) => sum + value, 0) / numbers.length;
  assert.ok(Math.abs(mean - 0.5) < 0.05, `mean ${mean}`);
});

test('onEarth rotates the upper floor about its origin and preserves lengths to a millimeter per meter', () => {
  const [x, y] = inHall({ x: 30, y: 15, turn: 90 }, [2, 1]);
  assert.ok(Math.abs(x - 29) < 1e-9 && Math.abs(y - 17) < 1e-9);
  const [longitude, latitude] = onEarth(HALL, [0, 0]);
  const [east, north] = onEarth(HALL, [100, 100]);
  assert.ok(Math.abs((north - latitude) * 111_229 - 100) < 0.1);
  assert.ok(Math.abs((east - longitude) * 111_320 * Math.cos((latitude * Math.PI) / 180) - 100) < 0.3);
});
