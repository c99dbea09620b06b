import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { Body } from '../../src/core/collision/body.ts';
import { areaOf, mayCollide } from '../../src/core/collision/pairing.ts';
import type { Motion } from '../../src/core/motion/motion.ts';
import type { SerializedEvent } from '../../src/model/topics.ts';
import { moved, placeAt, ringAt } from './collision_motions.ts';
import { openStage, read } from './collision_scene.ts';

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
    exitToleranceMeters: fc.constantFrom(0, 0, 1, 3),
    toleranceTimeoutMs: fc.constantFrom(undefined, 0, 25, 80, -1),
    exitDelayMs: fc.constantFrom(undefined, 0, 30, 100, -1),
    together: fc.integer({ min: 0, max: 9 }).map((n) => n === 0),
  });
  type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

  function motionsOf(changes: readonly Change[], plain = false): Motion[] {
    let nowMs = 1000;
    return changes.map((reported, seq): Motion => {
      nowMs += reported.pauseMs;
      if (reported.leaves) return { kind: 'gone', seq, id: reported.id, receivedMs: nowMs };
      const { east, north, floor, collides, exitToleranceMeters, toleranceTimeoutMs, exitDelayMs } = reported;
      const corners = [
        [east - 2, north - 1],
        [east + 2, north - 1],
        [east, north + 2],
      ] as const;
      return moved(reported.id, nowMs, {
        seq,
        eventTimeMs: nowMs - reported.lateMs,
        ...placeAt(east, north),
        floor,
        collides,
        radiusMeters: { point: 0, disc: 1, large: 4, ring: 0 }[reported.kind] ?? 0,
        ring: reported.kind === 'ring' ? ringAt(corners) : undefined,
        ...(!plain && { exitToleranceMeters, toleranceTimeoutMs, exitDelayMs }),
        ...(reported.together && { providers: ['shared'] }),
      });
    });
  }

  test('The grouping of motions into steps changes no event except its id', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 60 }), fc.infiniteStream(fc.nat(5)), (changes, sizes) => {
        const motions = motionsOf(changes);
        const endMs = (motions.at(-1)?.receivedMs ?? 0) + 1000;
        const whole = openStage().step({ nowMs: endMs, motions });
        const stage = openStage();
        const parts: SerializedEvent[] = [];
        for (let from = 0; from < motions.length; ) {
          const batch = motions.slice(from, from + (sizes.next().value as number));
          from += batch.length;
          const nowMs = motions[from]?.receivedMs ?? 0;
          parts.push(...stage.step({ nowMs, motions: batch }).events);
        }
        parts.push(...stage.step({ nowMs: endMs, motions: [] }).events);
        assert.deepEqual(parts.map(withoutId), whole.events.map(withoutId));
        for (const { text } of parts) assert.equal(text, JSON.stringify(JSON.parse(text)));
      }),
      { seed: 17, numRuns: 150 },
    );
  });

  test('Without tolerances, the collisions are all touching pairs', () => {
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

  test('The events of a pair are start, colliding …, end, start …, and none is before the start', () => {
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

function withoutId({ text, ...rest }: SerializedEvent): object {
  return { ...rest, event: { ...JSON.parse(text), id: undefined } };
}
