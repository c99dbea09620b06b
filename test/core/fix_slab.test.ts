import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { UNSET } from '../../src/core/fence/timing.ts';
import { accept } from '../../src/core/location/accepted.ts';
import type { Place } from '../../src/core/location/fix.ts';
import { Places } from '../../src/core/location/fix_slab.ts';
import { received } from '../../src/core/location/received.ts';
import { newRecordBuffer } from '../../workers/location_protocol.ts';
import { T0 } from '../support/shard_harness.ts';

const IDS = ['a', 'b', 'c', 'ü', 'a longer one than the others'];

/** A place that nobody is at yet, which can be told from all others by its number. */
function placeOf(places: Places, id: string, seq: number, textLength: number): Place {
  const position = { type: 'Point' as const, coordinates: [8 + seq / 1e6, 50, seq] };
  const note = 'é'.repeat(textLength);
  const value = { position, source: 's', provider_type: 'uwb' as const, floor: -seq, properties: { note } };
  const accepted = accept(value, { providerId: id, source: 's', crs: 'EPSG:4326', generatedMs: T0 });
  return places.take(
    received(accepted, { seq, receivedMs: T0 + seq, generatedMs: T0 }, newRecordBuffer),
    { lon: 8 + seq / 1e6, lat: 50, floor: -seq, keyMs: T0 - seq, speed: undefined, course: seq },
    { providerId: id, source: 's', zone: undefined, timing: UNSET, trackables: [`${seq}`], isLocal: false },
  );
}

/** All that a place says. */
function said(place: Place): unknown {
  const { seq, lon, lat, z, floor, keyMs, receivedMs, generatedMs, speed, course } = place;
  const { providerId, source, trackables, text, accuracy, sentSpeed, providerType } = place;
  const numbers = [seq, lon, lat, z, floor, keyMs, receivedMs, generatedMs, speed, course, sentSpeed];
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

test('a place says the same as long as an object is at it, and until the step is over in which the last one left', () => {
  fc.assert(
    fc.property(fc.array(fc.record({ step, tidies: fc.boolean() }), { maxLength: 12 }), (steps) => {
      const places = new Places(newRecordBuffer);
      const objects = Array.from({ length: 6 }, (): { place: Place | undefined } => ({ place: undefined }));
      const expected = new Map<Place, unknown>();
      let seq = 0;
      for (const { step, tidies } of steps) {
        for (const act of step) {
          const who = objects[act.object] as { place: Place | undefined };
          let next: Place | undefined;
          if (act.does === 'arrive') next = placeOf(places, act.id, ++seq, act.length);
          else if (act.does === 'join') next = objects[act.other]?.place;
          else if (act.does === 'rename' && who.place !== undefined) next = places.renamed(who.place, ['renamed']);
          if (next !== undefined) expected.set(next, said(next));
          places.put(who, next);
          for (const [place, words] of expected) assert.deepEqual(said(place), words);
        }
        places.endStep();
        const held = new Set(objects.map(({ place }) => place).filter((place) => place !== undefined));
        for (const place of expected.keys()) if (!held.has(place)) expected.delete(place);
        if (tidies) places.tidy(objects);
        for (const [place, words] of expected) assert.deepEqual(said(place), words);
        assert.equal(places.size, held.size);
      }
    }),
    { numRuns: 300, seed: 1 },
  );
});

test('objects that move need no more room than they needed at first', () => {
  const places = new Places(newRecordBuffer);
  const objects = Array.from({ length: 100 }, (): { place: Place | undefined } => ({ place: undefined }));
  const seen = new Set<Place>();
  for (let seq = 1; seq <= 50; seq++) {
    for (const object of objects) {
      const place = placeOf(places, 'a', seq, 10);
      seen.add(place);
      places.put(object, place);
    }
    places.endStep();
  }
  assert.equal(places.size, objects.length);
  assert.equal(seen.size, 2 * objects.length, 'one place to be at, and one to go to');
});
