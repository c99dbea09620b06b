import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import type { Motion } from '../../src/core/motion/motion.ts';
import { copied } from '../../src/model/borrowed.ts';
import { unpackMotions } from '../../src/wire/messages.ts';
import { packMotions, tidyMotions } from '../../src/wire/motion_bytes.ts';

const number = fc.oneof(fc.double({ noNaN: true }), fc.integer({ min: -1, max: 300 }), fc.maxSafeNat());
const optional = fc.option(number, { nil: undefined });
/** Short and long, with characters of one to four bytes. */
const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.integer({ min: 0, max: 70 }).map((length) => 'x'.repeat(length)),
  fc.constantFrom('ü'.repeat(31), '🚂'.repeat(16), `${'a'.repeat(63)}é`, 'b'.repeat(70_000)),
);
const texts = fc.array(text, { maxLength: 3 });

const plain = { noNullPrototype: true };
const gone = { kind: fc.constant('gone' as const), seq: fc.nat(), id: text, receivedMs: number };
const moved = {
  kind: fc.constantFrom('moved' as const, 'stands' as const),
  seq: fc.maxSafeNat(),
  id: text,
  receivedMs: number,
  eventTimeMs: number,
  lon: number,
  lat: number,
  z: optional,
  elevationRef: text,
  levelMeters: optional,
  floor: number,
  extrusion: optional,
  collides: fc.boolean(),
  radiusMeters: number,
  ring: fc.option(
    fc.array(number, { maxLength: 20 }).map((values) => Float64Array.from(values)),
    { nil: undefined },
  ),
  exitToleranceMeters: number,
  toleranceTimeoutMs: optional,
  exitDelayMs: optional,
  providers: texts,
  ancestors: texts,
};
const motions: fc.Arbitrary<Motion[]> = fc.array(
  fc.oneof({ weight: 4, arbitrary: fc.record(moved, plain) }, fc.record(gone, plain)),
  { maxLength: 12 },
);

it('packs motions so that unpacking returns them', () => {
  fc.assert(
    fc.property(motions, (of) => {
      assert.deepEqual(unpackMotions(copied(packMotions(of))), of);
    }),
    { seed: 20_260_413, numRuns: 500 },
  );
});

it('packs a batch after the memory of a large one was freed', () => {
  const large = Array.from({ length: 5000 }, (_, i): Motion => ({ kind: 'gone', seq: i, id: `${i}`, receivedMs: i }));
  assert.deepEqual(unpackMotions(copied(packMotions(large))), large);
  tidyMotions();
  assert.deepEqual(unpackMotions(copied(packMotions(large))), large);
});
