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

/** A fix that nobody holds yet, which can be told from all others by its number. */
function fixOf(fixes: FixSlab, id: string, seq: number, textLength: number): Fix {
  const position = { type: 'Point' as const, coordinates: [8 + seq / 1e6, 50, seq] };
  const note = 'é'.repeat(textLength);
  const value = { position, source: 's', provider_type: 'uwb' as const, floor: -seq, properties: { note } };
  const accepted = accept(value, { providerId: id, source: 's', crs: 'EPSG:4326', generatedMs: T0 });
  return fixes.take(
    received(accepted, { seq, receivedMs: T0 + seq, generatedMs: T0 }, newRecordBuffer),
    { lon: 8 + seq / 1e6, lat: 50, floor: -seq, eventTimeMs: T0 - seq, speed: undefined, course: seq },
    { providerId: id, source: 's', zone: undefined, timing: UNSET, trackables: [`${seq}`], isLocal: false },
  );
}

/** All that a fix says. */
function said(fix: Fix): unknown {
  const { seq, lon, lat, z, floor, eventTimeMs, receivedMs, generatedMs, speed, course } = fix;
  const { providerId, source, trackables, text, accuracy, sentSpeed, providerType } = fix;
  const numbers = [seq, lon, lat, z, floor, eventTimeMs, receivedMs, generatedMs, speed, course, sentSpeed];
  return [...numbers, providerId, source, trackables, text, accuracy, providerType];
}

const object = fc.nat(5);
const step = fc.array(
  fc.oneof(
    // Lengths for shared room of several sizes, and for room of their own.
    fc.record({
      does: fc.constant('arrive'),
      object,
      id: fc.constantFrom(...IDS),
      length: fc.constantFrom(0, 40, 5000),
    }),
    fc.record({ does: fc.constant('join'), object, other: object }),
    fc.record({ does: fc.constant('leave'), object }),
    fc.record({ does: fc.constant('rename'), object }),
  ) as fc.Arbitrary<
    | { does: 'arrive'; object: number; id: string; length: number }
    | { does: 'join'; object: number; other: number }
    | { does: 'leave' | 'rename'; object: number }
  >,
  { maxLength: 12 },
);

test('a fix says the same as long as an object holds it, and until the step is over in which the last one left', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ step, tidies: fc.boolean() }), { maxLength: 12 }), (steps) => {
      const fixes = new FixSlab(newRecordBuffer);
      const objects = Array.from({ length: 6 }, (): { fix: Fix | undefined } => ({ fix: undefined }));
      const expected = new Map<Fix, unknown>();
      let seq = 0;
      for (const { step, tidies } of steps) {
        for (const act of step) {
          const who = objects[act.object] as { fix: Fix | undefined };
          let next: Fix | undefined;
          if (act.does === 'arrive') next = fixOf(fixes, act.id, ++seq, act.length);
          else if (act.does === 'join') next = objects[act.other]?.fix;
          else if (act.does === 'rename' && who.fix !== undefined) next = fixes.renamed(who.fix, ['renamed']);
          if (next !== undefined) expected.set(next, said(next));
          fixes.put(who, next);
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

test('objects that move need no more room than they needed at first', () => {
  const fixes = new FixSlab(newRecordBuffer);
  const objects = Array.from({ length: 100 }, (): { fix: Fix | undefined } => ({ fix: undefined }));
  const seen = new Set<Fix>();
  for (let seq = 1; seq <= 50; seq++) {
    for (const object of objects) {
      const fix = fixOf(fixes, 'a', seq, 10);
      seen.add(fix);
      fixes.put(object, fix);
    }
    fixes.endStep();
  }
  assert.equal(fixes.size, objects.length);
  assert.equal(seen.size, 2 * objects.length, 'one fix to hold, and one to take');
});
