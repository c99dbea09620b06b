import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { UNSET } from '../../src/core/fence/timing.ts';
import { accept } from '../../src/core/location/accepted.ts';
import type { Fix } from '../../src/core/location/fix.ts';
import { FixSlab } from '../../src/core/location/fix_slab.ts';
import { received } from '../../src/core/location/received.ts';
import { newRecordBuffer } from '../../src/wire/location_record.ts';
import { T0 } from '../support/shard_harness.ts';

const IDS = ['a', 'b', 'c', 'ü', 'a longer one than the others'];

/** A location that is identified by its sequence. */
function locationOf(id: string, seq: number, textLength: number): Parameters<FixSlab['take']> {
  const position = { type: 'Point' as const, coordinates: [8 + seq / 1e6, 50, seq] };
  const note = 'é'.repeat(textLength);
  const value = { position, source: 's', provider_type: 'uwb' as const, floor: -seq, properties: { note } };
  const accepted = accept(value, { providerId: id, source: 's', crs: 'EPSG:4326', generatedMs: T0 });
  return [
    received(accepted, { seq, receivedMs: T0 + seq, generatedMs: T0 }, newRecordBuffer),
    { lon: 8 + seq / 1e6, lat: 50, floor: -seq, eventTimeMs: T0 - seq, speed: undefined, course: seq },
    { providerId: id, source: 's', zone: undefined, timing: UNSET, trackables: [`${seq}`], isLocal: false },
  ];
}

/** All values of a fix. */
function said(fix: Fix): unknown {
  const { seq, lon, lat, z, floor, eventTimeMs, receivedMs, generatedMs, speed, course } = fix;
  const { providerId, source, trackables, text, accuracy, sentSpeed, providerType } = fix;
  const numbers = [seq, lon, lat, z, floor, eventTimeMs, receivedMs, generatedMs, speed, course, sentSpeed];
  return [...numbers, providerId, source, trackables, text, accuracy, providerType];
}

const object = fc.nat(5);
const step = fc.array(
  fc.oneof(
    // Lengths that fit shared memory of several sizes, and lengths that need memory of their own.
    fc.record({
      does: fc.constant('arrive'),
      object,
      id: fc.constantFrom(...IDS),
      length: fc.constantFrom(0, 40, 5000),
    }),
    fc.record({
      does: fc.constant('renew'),
      object,
      id: fc.constantFrom(...IDS),
      length: fc.constantFrom(0, 40, 90, 5000),
    }),
    fc.record({ does: fc.constant('join'), object, other: object }),
    fc.record({ does: fc.constant('leave'), object }),
    fc.record({ does: fc.constant('rename'), object }),
  ) as fc.Arbitrary<
    | { does: 'arrive' | 'renew'; object: number; id: string; length: number }
    | { does: 'join'; object: number; other: number }
    | { does: 'leave' | 'rename'; object: number }
  >,
  { maxLength: 12 },
);

test('A fix keeps its values while an object holds it, unless its only holder renews it, and until the end of the step in which the last holder releases it', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ step, tidies: fc.boolean() }), { maxLength: 12 }), (steps) => {
      const fixes = new FixSlab(newRecordBuffer);
      const objects = Array.from({ length: 6 }, (): { fix: Fix | undefined; hasHadFix: boolean } => ({
        fix: undefined,
        hasHadFix: false,
      }));
      const expected = new Map<Fix, unknown>();
      let seq = 0;
      for (const { step, tidies } of steps) {
        /** Fixes that an object has released in this step. */
        const left = new Set<Fix | undefined>();
        for (const act of step) {
          const who = objects[act.object] as { fix: Fix | undefined; hasHadFix: boolean };
          const last = who.fix;
          let next: Fix | undefined;
          if (act.does === 'renew') {
            const location = locationOf(act.id, ++seq, act.length);
            next = fixes.renew(who, ...location);
            assert.ok(!left.has(next), 'it may still be in use');
            const alone = new FixSlab(newRecordBuffer);
            assert.deepEqual([who.fix, said(next)], [next, said(alone.take(...location))]);
          }
          if (act.does === 'arrive') next = fixes.take(...locationOf(act.id, ++seq, act.length));
          else if (act.does === 'join') next = objects[act.other]?.fix;
          else if (act.does === 'rename' && who.fix !== undefined) next = fixes.renamed(who.fix, ['renamed']);
          if (next !== undefined) expected.set(next, said(next));
          fixes.put(who, next);
          if (last !== next) left.add(last);
          for (const [fix, words] of expected) assert.deepEqual(said(fix), words);
        }
        fixes.endStep();
        const held = new Set(objects.map(({ fix }) => fix).filter((fix) => fix !== undefined));
        for (const fix of expected.keys()) if (!held.has(fix)) expected.delete(fix);
        if (tidies) fixes.tidy(objects);
        for (const [fix, words] of expected) assert.deepEqual(said(fix), words);
        assert.equal(fixes.size, held.size);
      }
    }),
    { numRuns: 300, seed: 1 },
  );
});

test('Moving objects need no more memory than they needed at first', () => {
  const fixes = new FixSlab(newRecordBuffer);
  const objects = Array.from({ length: 100 }, (): { fix: Fix | undefined; hasHadFix: boolean } => ({
    fix: undefined,
    hasHadFix: false,
  }));
  const seen = new Set<Fix>();
  for (let seq = 1; seq <= 50; seq++) {
    for (const object of objects) {
      const fix = fixes.take(...locationOf('a', seq, 10));
      seen.add(fix);
      fixes.put(object, fix);
    }
    fixes.endStep();
  }
  assert.equal(fixes.size, objects.length);
  assert.equal(seen.size, 2 * objects.length, 'one fix in use, and one spare');
});

test('The only holder of a fix renews it in place, unless it does not fit into the memory', () => {
  const fixes = new FixSlab(newRecordBuffer);
  const one: { fix: Fix | undefined; hasHadFix: boolean } = { fix: undefined, hasHadFix: false };
  const other: { fix: Fix | undefined; hasHadFix: boolean } = { fix: undefined, hasHadFix: false };
  const renewed = (length: number) => {
    const last = one.fix;
    const fix = fixes.renew(one, ...locationOf('a', 1, length));
    fixes.endStep();
    return fix === last;
  };
  assert.deepEqual([100, 90, 100, 400, 100, 100].map(renewed), [false, true, true, false, false, true]);
  fixes.put(other, one.fix);
  assert.equal(renewed(100), false);
  assert.equal(fixes.size, 2);
});
