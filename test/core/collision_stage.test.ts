import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { Body, Moved } from '../../src/core/collision/body.ts';
import { areaOf, mayCollide } from '../../src/core/collision/pairing.ts';
import { type CollisionStage, openCollisionStage } from '../../src/core/collision/stage.ts';
import type { Motion } from '../../src/core/motion/motion.ts';
import { checker } from '../../src/model/check.ts';
import { CollisionEvent } from '../../src/model/events.ts';
import type { EventText, Variant } from '../../src/model/topics.ts';
import type { Zone } from '../../src/model/zone.ts';
import { gone, moved, placeAt, ringAt } from './collision_motions.ts';

const WGS84: Variant = { id: 4, topic: 'collision_events', crs: 'EPSG:4326' };
const events = checker(CollisionEvent);

function openStage(
  variants: readonly Variant[] = [WGS84],
  zones: ReadonlyMap<string, Zone> = new Map(),
): CollisionStage {
  let count = 0;
  const stage = openCollisionStage({ newId: () => `event ${++count}`, zones: (id) => zones.get(id) });
  stage.step({ nowMs: 0, motions: [], variants });
  return stage;
}

function read({ text }: EventText): CollisionEvent {
  return events.parse(JSON.parse(text));
}

/** An event in short: `start a b 1000`, `colliding a b 2000`, `end a b 3000`; the last number is its time. */
function brief(event: EventText): string {
  const { collision_type, collisions, start_time, collision_time, end_time } = read(event);
  const time = Date.parse(end_time ?? collision_time ?? start_time);
  return `${collision_type.replace('collision_', '')} ${collisions.map(({ id }) => id).join(' ')} ${time}`;
}

function positionOf(event: CollisionEvent | undefined, index: number): [number, number] {
  const [x, y] = event?.collisions[index]?.position.coordinates ?? [];
  return [x ?? Number.NaN, y ?? Number.NaN];
}

/** A circle of 1 m, some metres to the east of the origin. */
function disc(id: string, atMs: number, east: number, more: Partial<Moved> = {}): Moved {
  return moved(id, atMs, { ...placeAt(east, 0), radiusMetres: 1, ...more });
}

/** Runs motions in one step and returns the events in short. */
function run(motions: readonly Motion[], nowMs = motions.at(-1)?.receivedMs ?? 0): string[] {
  return openStage().step({ nowMs, motions }).events.map(brief);
}

suite('collision stage', () => {
  const TOLERANT = { exitToleranceMetres: 2, toleranceTimeoutMs: 3000 };
  const CASES: readonly (readonly [
    name: string,
    motions: readonly Motion[],
    nowMs: number,
    events: readonly string[],
  ])[] = [
    ['starts when circles touch', [disc('a', 1, 0), disc('b', 2, 2)], 2, ['start b a 2']],
    ['does not start when they are apart', [disc('a', 1, 0), disc('b', 2, 2.01)], 2, []],
    [
      'goes on with each update of either one',
      [disc('a', 1, 0), disc('b', 2, 1), disc('b', 3, 1), disc('a', 4, 0)],
      4,
      ['start b a 2', 'colliding b a 3', 'colliding a b 4'],
    ],
    [
      'ends at once without tolerances',
      [disc('a', 1, 0), disc('b', 2, 1), disc('b', 3, 5)],
      9,
      ['start b a 2', 'end b a 3'],
    ],
    [
      'starts again after its end',
      [disc('a', 1, 0), disc('b', 2, 1), disc('b', 3, 5), disc('b', 4, 1)],
      9,
      ['start b a 2', 'end b a 3', 'start b a 4'],
    ],
    [
      'goes on within the tolerance, and ends with the tolerance timeout',
      [disc('a', 1, 0, TOLERANT), disc('b', 2, 1), disc('b', 3, 3), disc('b', 4, 3.5), disc('a', 5, 0, TOLERANT)],
      9000,
      ['start b a 2', 'colliding b a 3', 'colliding b a 4', 'colliding a b 5', 'end a b 3003'],
    ],
    [
      'does not start again within the tolerance after its end',
      [disc('a', 1, 0, TOLERANT), disc('b', 2, 1), disc('b', 3, 3), disc('b', 5000, 3)],
      9000,
      ['start b a 2', 'colliding b a 3', 'end b a 3003'],
    ],
    [
      'ends beyond the tolerance',
      [disc('a', 1, 0, TOLERANT), disc('b', 2, 1), disc('b', 3, 4.1)],
      9000,
      ['start b a 2', 'end b a 3'],
    ],
    [
      'is delayed by the exit delay of either one',
      [disc('a', 1, 0, { exitDelayMs: 100 }), disc('b', 2, 1, { exitDelayMs: 50 }), disc('b', 3, 9), disc('b', 50, 8)],
      9000,
      ['start b a 2', 'colliding b a 3', 'colliding b a 50', 'end b a 103'],
    ],
    [
      'is not ended by an exit delay when it touches again',
      [disc('a', 1, 0, { exitDelayMs: 100 }), disc('b', 2, 1), disc('b', 3, 9), disc('b', 50, 1)],
      9000,
      ['start b a 2', 'colliding b a 3', 'colliding b a 50'],
    ],
    [
      'fires a deadline before a motion of the same time',
      [disc('a', 1, 0, { exitDelayMs: 100 }), disc('b', 2, 1), disc('b', 3, 9), disc('b', 103, 1)],
      103,
      ['start b a 2', 'colliding b a 3', 'end b a 103', 'start b a 103'],
    ],
    ['needs the same floor', [disc('a', 1, 0, { floor: 1 }), disc('b', 2, 0, { floor: 2 })], 2, []],
    [
      'ends with a change of floor, after the delay',
      [disc('a', 1, 0, { exitDelayMs: 10 }), disc('b', 2, 0), disc('b', 3, 0, { floor: 1 })],
      99,
      ['start b a 2', 'colliding b a 3', 'end b a 13'],
    ],
    [
      'needs heights that meet',
      [disc('a', 1, 0, { z: 0, extrusion: 2 }), disc('b', 2, 0, { z: 2.1, extrusion: 1 })],
      2,
      [],
    ],
    [
      'takes heights that touch',
      [disc('a', 1, 0, { z: 0, extrusion: 2 }), disc('b', 2, 0, { z: 2, extrusion: 0 })],
      2,
      ['start b a 2'],
    ],
    [
      'takes any height where one has no extrusion, no z, or another reference',
      [
        disc('a', 1, 0, { z: 0, extrusion: 2 }),
        disc('b', 2, 0, { z: 50 }),
        disc('c', 3, 0, { extrusion: 1 }),
        disc('d', 4, 0, { z: 90, extrusion: 1, elevationRef: 'wgs84' }),
      ],
      4,
      ['start b a 2', 'start c a 3', 'start c b 3', 'start d a 4', 'start d b 4', 'start d c 4'],
    ],
    [
      'takes points, but not two of them',
      [moved('p', 1), moved('q', 2), disc('a', 3, 1)],
      3,
      ['start a p 3', 'start a q 3'],
    ],
    ['leaves out who takes no part', [disc('a', 1, 0, { collides: false }), disc('b', 2, 0)], 2, []],
    [
      'ends when one takes no part any more',
      [disc('a', 1, 0, { exitDelayMs: 50 }), disc('b', 2, 0), disc('b', 3, 0, { collides: false }), disc('a', 4, 0)],
      99,
      ['start b a 2', 'end b a 3'],
    ],
    [
      'leaves out who shares a provider',
      [disc('a', 1, 0, { providers: ['x', 'y'] }), disc('b', 2, 0, { providers: ['y'] })],
      2,
      [],
    ],
    [
      'leaves out who carries the other',
      [disc('a', 1, 0), disc('b', 2, 0, { ancestors: ['a'] }), disc('c', 3, 0, { ancestors: ['b', 'a'] })],
      3,
      [],
    ],
    [
      'ends all collisions of one that is gone, in the order of ids',
      [disc('c', 1, 0), disc('a', 2, 1), disc('b', 3, 1, { exitDelayMs: 60 }), gone('c', 4), disc('c', 5, 9)],
      99,
      ['start a c 2', 'start b a 3', 'start b c 3', 'end c a 4', 'end c b 4'],
    ],
    ['ignores who was never there', [gone('a', 1)], 1, []],
    [
      'never carries a time before its start',
      [
        disc('a', 10, 0),
        disc('b', 20, 0, { keyMs: 15 }),
        disc('a', 21, 0, { keyMs: 11 }),
        disc('a', 22, 9, { keyMs: 12 }),
      ],
      22,
      ['start b a 15', 'colliding a b 15', 'end a b 15'],
    ],
    [
      'tells ends and goings on before starts, each in the order of ids',
      [
        disc('d', 1, 10),
        disc('c', 2, 10, { providers: ['provider of d'] }),
        disc('b', 3, 0),
        disc('a', 4, 1),
        disc('a', 5, 9),
      ],
      5,
      ['start a b 4', 'end a b 5', 'start a c 5', 'start a d 5'],
    ],
  ];
  for (const [name, motions, nowMs, expected] of CASES) {
    test(name, () => assert.deepEqual(run(motions, nowMs), expected));
  }

  test('answers counts and the next deadline', () => {
    const stage = openStage();
    const first = stage.step({ nowMs: 3, motions: [disc('a', 1, 0, { exitDelayMs: 10 }), disc('b', 2, 0)] });
    assert.deepEqual([first.started, first.colliding, first.ended], [1, 0, 0]);
    assert.equal(first.nextDeadlineMs, Number.POSITIVE_INFINITY);
    const second = stage.step({ nowMs: 3, motions: [disc('b', 3, 9)] });
    assert.deepEqual([second.started, second.colliding, second.ended], [0, 1, 0]);
    assert.equal(second.nextDeadlineMs, 13);
    assert.deepEqual(stage.step({ nowMs: 12, motions: [] }).events, []);
    const last = stage.step({ nowMs: 500, motions: [] });
    assert.deepEqual(last.events.map(brief), ['end b a 13']);
    assert.equal(last.ended, 1);
    assert.equal(last.nextDeadlineMs, Number.POSITIVE_INFINITY);
  });

  test('forgets who is gone', () => {
    const stage = openStage();
    const ring = ringAt([
      [0, 0],
      [3, 0],
      [0, 3],
    ]);
    const motions = [disc('a', 1, 0, { exitDelayMs: 1e9 }), moved('b', 2, { ring }), moved('c', 3), disc('b', 4, 50)];
    stage.step({ nowMs: 4, motions });
    assert.equal(stage.state.contacts, 2);
    stage.step({ nowMs: 5, motions: ['a', 'b', 'c'].map((id) => gone(id, 5)) });
    const { bodies, grid, deadlines, contacts } = stage.state;
    assert.deepEqual([bodies.size, grid.levels.length, deadlines.size, contacts], [0, 0, 0, 0]);
  });
});

suite('collision events', () => {
  const ring = ringAt([
    [1, 0],
    [4, -1],
    [4, 1],
  ]);

  test('carry both trackables, the overlap and the distance', () => {
    const motions = [disc('a', 1000, 0, { floor: 2, z: 1.5 }), moved('b', 2000, { ...placeAt(3, 0), ring, floor: 2 })];
    const [text] = openStage().step({
      nowMs: 2000,
      motions: motions.slice(0, 1).concat(disc('b', 2000, 1.2, { floor: 2 })),
    }).events;
    assert.deepEqual(text?.fields, ['b', 'a', 'collision_start', 2, 2]);
    assert.equal(text?.variant, 4);
    const event = read(text as EventText);
    assert.deepEqual(Object.keys(event), [
      'id',
      'collision_type',
      'start_time',
      'collisions',
      'collision_area',
      'center_distance',
    ]);
    assert.equal(event.id, 'event 1');
    assert.equal(event.start_time, '1970-01-01T00:00:02.000Z');
    assert.equal(event.center_distance, 1.2);
    assert.equal(event.collision_area?.type, 'LineString');
    assert.equal(event.collision_area?.coordinates.length, 2);
    const [b, a] = event.collisions;
    assert.deepEqual(a?.position.coordinates, [placeAt(0, 0).lon, placeAt(0, 0).lat, 1.5]);
    assert.equal(a?.geometry.type, 'Polygon');
    assert.deepEqual([b?.id, b?.object_type, b?.floor], ['b', 'trackable', 2]);

    const [touch] = openStage().step({ nowMs: 2000, motions }).events;
    const polygon = read(touch as EventText).collisions[0]?.geometry;
    assert.equal(polygon?.type, 'Polygon');
    assert.equal(read(touch as EventText).collision_area?.type, 'Point');
  });

  test('show a point as a Point, and no overlap when nothing overlaps any more', () => {
    const { events: texts } = openStage().step({
      nowMs: 3,
      motions: [disc('a', 1, 0), moved('p', 2), moved('p', 3, placeAt(9, 0))],
    });
    const [start, end] = texts.map(read);
    assert.equal(start?.collisions[0]?.geometry.type, 'Point');
    assert.equal(start?.collision_area?.type, 'Point');
    assert.equal(end?.collision_area, undefined);
    assert.equal(end?.start_time, '1970-01-01T00:00:00.002Z');
    assert.equal(end?.end_time, '1970-01-01T00:00:00.003Z');
    assert.equal(end?.collision_time, undefined);
  });

  const zone = (turn: number): Zone => {
    const [one, other] = [placeAt(-50, -50), placeAt(50, -50)];
    const points = [[one.lon, one.lat], [100, 200], [other.lon, other.lat], turn === 0 ? [200, 200] : [100, 300]];
    return { id: 'z', type: 'uwb', ground_control_points: points };
  };

  test('are told once per variant, and not where they cannot be shown', () => {
    const variants: Variant[] = [
      WGS84,
      { id: 5, topic: 'collision_events', crs: 'local', zoneId: 'z' },
      { id: 6, topic: 'collision_events', crs: 'local', zoneId: 'unknown' },
      { id: 7, topic: 'collision_events', crs: 'local' },
      { id: 8, topic: 'collision_events', crs: 'EPSG:32632' },
      { id: 9, topic: 'trackable_motions', crs: 'EPSG:4326' },
    ];
    const stage = openStage(variants, new Map([['z', zone(0)]]));
    const { events: texts } = stage.step({ nowMs: 2, motions: [disc('a', 1, 0), disc('b', 2, 1)] });
    assert.deepEqual(
      texts.map(({ variant }) => variant),
      [4, 5, 8],
    );
    assert.deepEqual(new Set(texts.map((text) => read(text).id)).size, 1);
    const [, local] = texts.map(read);
    const [x, y] = positionOf(local, 0);
    assert.ok(Math.hypot(x - 151, y - 250) < 0.01, `${x} ${y}`);
    const [end] = local?.collision_area?.type === 'LineString' ? local.collision_area.coordinates : [];
    assert.ok(Math.abs(Number(end?.[0]) - 150.5) < 0.01, `${end}`);
  });

  test('follow a zone that is placed anew', () => {
    const zones = new Map([['z', zone(0)]]);
    const stage = openStage([{ ...WGS84, crs: 'local', zoneId: 'z' }], zones);
    stage.step({ nowMs: 2, motions: [disc('a', 1, 10), disc('b', 2, 11)] });
    zones.set('z', zone(90));
    const { events: texts } = stage.step({ nowMs: 3, motions: [disc('b', 3, 11)] });
    const [x, y] = positionOf(read(texts[0] as EventText), 1);
    assert.ok(Math.hypot(x - 50, y - 260) < 0.01, `${x} ${y}`);
  });

  test('are counted but not made when nobody wants them', () => {
    const stage = openStage([]);
    const motions = [disc('a', 1, 0), disc('b', 2, 0), disc('b', 3, 0)];
    assert.deepEqual(stage.step({ nowMs: 3, motions }), {
      events: [],
      started: 1,
      colliding: 1,
      ended: 0,
      nextDeadlineMs: Number.POSITIVE_INFINITY,
    });
    const later = stage.step({ nowMs: 4, motions: [disc('b', 4, 9)], variants: [WGS84] });
    assert.deepEqual(later.events.map(brief), ['end b a 4']);
  });
});

suite('collision stage, over random tracks', () => {
  const at = fc.integer({ min: -6, max: 6 });
  const change = fc.record({
    id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g'),
    leaves: fc.integer({ min: 0, max: 19 }).map((n) => n === 0),
    pauseMs: fc.nat(40),
    lateMs: fc.nat(30),
    east: at,
    north: at,
    kind: fc.constantFrom('point', 'disc', 'disc', 'large', 'ring'),
    floor: fc.constantFrom(0, 0, 0, 0, 1),
    collides: fc.integer({ min: 0, max: 9 }).map((n) => n > 0),
    exitToleranceMetres: fc.constantFrom(0, 0, 1, 3),
    toleranceTimeoutMs: fc.constantFrom(undefined, 0, 25, 80, -1),
    exitDelayMs: fc.constantFrom(undefined, 0, 30, 100, -1),
    together: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  });
  type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

  function motionsOf(changes: readonly Change[], plain = false): Motion[] {
    let nowMs = 1000;
    return changes.map((told, seq): Motion => {
      nowMs += told.pauseMs;
      if (told.leaves) return { kind: 'gone', seq, id: told.id, receivedMs: nowMs };
      const { east, north, floor, collides, exitToleranceMetres, toleranceTimeoutMs, exitDelayMs } = told;
      const corners = [
        [east - 2, north - 1],
        [east + 2, north - 1],
        [east, north + 2],
      ] as const;
      return moved(told.id, nowMs, {
        seq,
        keyMs: nowMs - told.lateMs,
        ...placeAt(east, north),
        floor,
        collides,
        radiusMetres: { point: 0, disc: 1, large: 4, ring: 0 }[told.kind] ?? 0,
        ring: told.kind === 'ring' ? ringAt(corners) : undefined,
        ...(!plain && { exitToleranceMetres, toleranceTimeoutMs, exitDelayMs }),
        ...(told.together && { providers: ['shared'] }),
      });
    });
  }

  test('splitting motions into steps changes no event', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 60 }), fc.infiniteStream(fc.nat(5)), (changes, sizes) => {
        const motions = motionsOf(changes);
        const endMs = (motions.at(-1)?.receivedMs ?? 0) + 1000;
        const whole = openStage().step({ nowMs: endMs, motions });
        const stage = openStage();
        const parts: EventText[] = [];
        for (let from = 0; from < motions.length; ) {
          const batch = motions.slice(from, from + (sizes.next().value as number));
          from += batch.length;
          const nowMs = motions[from]?.receivedMs ?? 0;
          parts.push(...stage.step({ nowMs, motions: batch }).events);
        }
        parts.push(...stage.step({ nowMs: endMs, motions: [] }).events);
        assert.deepEqual(parts, whole.events);
      }),
      { seed: 17, numRuns: 150 },
    );
  });

  test('without tolerances the collisions are all pairs that touch', () => {
    let most = 0;
    fc.assert(
      fc.property(fc.array(change, { maxLength: 60 }), (changes) => {
        const stage = openStage([]);
        for (const motion of motionsOf(changes, true)) {
          stage.step({ nowMs: motion.receivedMs, motions: [motion] });
          const found = [...stage.state.bodies.values()].flatMap(({ contacts }) =>
            contacts.map(({ a, b }) => key(a, b)),
          );
          const wanted = allPairs([...stage.state.bodies.values()]);
          most = Math.max(most, wanted.length);
          assert.deepEqual([...new Set(found)].sort(), wanted);
          assert.equal(found.length, 2 * wanted.length);
          assert.equal(stage.state.contacts, wanted.length);
        }
      }),
      { seed: 23, numRuns: 80 },
    );
    assert.ok(most > 5, `at most ${most} collisions at a time`);
  });

  test('the events of a pair are start, colliding …, end, start …, and their times are not before the start', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 80 }), (changes) => {
        const running = new Map<string, string>();
        const motions = motionsOf(changes);
        const { events: texts } = openStage().step({ nowMs: 1e6, motions });
        for (const text of texts) {
          const event = read(text);
          const pair = event.collisions
            .map(({ id }) => id)
            .sort()
            .join();
          const started = running.get(pair);
          assert.equal(started === undefined, event.collision_type === 'collision_start');
          if (started !== undefined) assert.equal(event.start_time, started);
          assert.ok((event.end_time ?? event.collision_time ?? event.start_time) >= event.start_time);
          if (event.collision_type === 'collision_end') running.delete(pair);
          else running.set(pair, event.start_time);
        }
      }),
      { seed: 29, numRuns: 80 },
    );
  });
});

function key(a: Body, b: Body): string {
  return [a.motion.id, b.motion.id].sort().join();
}

function allPairs(bodies: readonly Body[]): string[] {
  const found: string[] = [];
  for (const [index, a] of bodies.entries()) {
    for (const b of bodies.slice(index + 1)) {
      if (mayCollide(a, b) && areaOf(a, b, 0) === 'touching') found.push(key(a, b));
    }
  }
  return found.sort();
}
