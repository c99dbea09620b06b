import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Item } from '../../src/core/item.ts';
import type { AcceptedLocation } from '../../src/core/location/accepted.ts';
import { type ReceivedLocation, received } from '../../src/core/location/received.ts';
import { PROVIDER_TYPES } from '../../src/model/location.ts';
import { type LaneItem, LocationPacker, newRecordBuffer } from '../../src/wire/location_record.ts';
import { packBatch, unpackBatch } from '../../src/wire/messages.ts';
import { T0 } from '../support/shard_harness.ts';

const number = fc.double({ noNaN: true, noDefaultInfinity: true });
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
const word = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 });

const accepted: fc.Arbitrary<AcceptedLocation> = fc.record(
  {
    provider_id: word,
    source: word,
    provider_type: fc.constantFrom(...PROVIDER_TYPES),
    crs: fc.constantFrom('EPSG:4326', 'local', 'EPSG:32632'),
    coordinates: fc.oneof(fc.tuple(number, number), fc.tuple(number, number, number)),
    associated: maybe(fc.boolean()),
    accuracy: maybe(number),
    floor: maybe(number),
    elevation_ref: maybe(fc.constantFrom('floor', 'wgs84')),
    speed: maybe(number),
    course: maybe(number),
    hasSentTime: fc.boolean(),
    positionText: fc.constantFrom('', '"position":{"type":"Point","coordinates":[9,50]},'),
    // Now and then one that needs a chunk of its own.
    text: fc.oneof(
      { weight: 20, arbitrary: fc.string({ unit: 'binary' }) },
      { weight: 1, arbitrary: fc.constant('ü'.repeat(200_000)) },
    ),
  },
  { noNullPrototype: true },
);

type Sent = { readonly location: AcceptedLocation } | { readonly forget: string };
const sent: fc.Arbitrary<Sent> = fc.oneof(
  { weight: 9, arbitrary: fc.record({ location: accepted }) },
  { weight: 1, arbitrary: fc.record({ forget: word }) },
);

const orNull = (value: number) => (Number.isNaN(value) ? null : value);

/** A location that has come, as it was accepted. */
function acceptedOf(item: ReceivedLocation): AcceptedLocation {
  const { sentX: x, sentY: y, sentZ: z } = item;
  return {
    provider_id: item.providerId,
    source: item.source,
    provider_type: item.providerType,
    crs: item.crs,
    coordinates: Number.isNaN(z) ? [x, y] : [x, y, z],
    associated: item.associated ?? null,
    accuracy: item.accuracy ?? null,
    floor: orNull(item.sentFloor),
    elevation_ref: item.sentElevationRef ?? null,
    speed: orNull(item.sentSpeed),
    course: orNull(item.sentCourse),
    hasSentTime: item.hasSentTime,
    positionText: positionTextOf(item),
    text: item.text,
  };
}

function positionTextOf(item: ReceivedLocation): string {
  const text = Buffer.alloc(item.textBytes);
  item.copyText(text, 0);
  return text.toString('latin1', 0, item.positionBytes);
}

/** Plain values of an item. */
function shown(item: Item): unknown {
  if (item.kind !== 'location') return item;
  const { seq, receivedMs, generatedMs } = item;
  return { location: acceptedOf(item), seq, receivedMs, generatedMs };
}

test('what waits in a lane comes to the shard as it was sent, in its order, however it is cut into batches', () => {
  const packer = new LocationPacker();
  fc.assert(
    fc.property(fc.array(fc.array(sent, { maxLength: 30 }), { maxLength: 5 }), (batches) => {
      let seq = 0;
      const waiting = batches.map((batch) => {
        return batch.map((of): { item: unknown; lane: LaneItem; again: Item | LaneItem } => {
          seq++;
          const stamp = { seq, receivedMs: T0 + seq, generatedMs: T0 - seq };
          if ('forget' in of) {
            const item: Item = { kind: 'forget', id: of.forget, seq, receivedMs: stamp.receivedMs };
            return { item, lane: item, again: item };
          }
          const { location } = of;
          return {
            item: { location, ...stamp },
            lane: packer.pack(location, seq, stamp),
            again: received(location, stamp, newRecordBuffer),
          };
        });
      });
      for (const batch of waiting) {
        const items = batch.map(({ item }) => item);
        const lane = batch.map((each) => each.lane);
        const found = unpackBatch(packBatch({ nowMs: T0, flushBudget: 7, items: lane }));
        assert.deepEqual([found.nowMs, found.flushBudget], [T0, 7]);
        assert.deepEqual(found.items.map(shown), items);
        const again = unpackBatch(packBatch({ nowMs: T0, flushBudget: 7, items: batch.map((each) => each.again) }));
        assert.deepEqual(again.items.map(shown), items);
        packer.done(lane);
      }
    }),
    { numRuns: 200, seed: 1 },
  );
});

test('bytes of a location are not written over before it is done with', () => {
  const packer = new LocationPacker();
  const locationOf = (id: string): AcceptedLocation => ({
    provider_id: id,
    source: id,
    provider_type: 'uwb',
    crs: 'EPSG:4326',
    coordinates: [8, 50],
    associated: null,
    accuracy: 0.3,
    floor: 0,
    elevation_ref: null,
    speed: null,
    course: null,
    hasSentTime: false,
    positionText: '',
    text: 'x'.repeat(1000),
  });
  const times = { receivedMs: T0, generatedMs: T0 };
  const first = packer.pack(locationOf('first'), 1, times);
  for (let round = 0; round < 3; round++) {
    const others = Array.from({ length: 1000 }, (_, i) => packer.pack(locationOf(`tag ${i}`), i, times));
    packer.done(others);
  }
  const [found] = unpackBatch(packBatch({ nowMs: T0, flushBudget: 0, items: [first] })).items;
  assert.equal(found?.kind === 'location' && found.providerId, 'first');
  assert.equal(found?.kind === 'location' && found.source, 'first');
});
