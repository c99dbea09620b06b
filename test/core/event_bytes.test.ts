import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { EventWriter } from '../../src/core/event_writer.ts';
import { UNSET } from '../../src/core/fence/timing.ts';
import { asciiBytes, NUMBER_BYTES_MAX, putNumber } from '../../src/core/json_bytes.ts';
import { accept } from '../../src/core/location/accepted.ts';
import { locationBytesMax, writeStored, writeLocation } from '../../src/core/location/event_bytes.ts';
import type { Fix } from '../../src/core/location/fix.ts';
import { FixSlab } from '../../src/core/location/fix_slab.ts';
import { locate } from '../../src/core/location/locate.ts';
import { received } from '../../src/core/location/received.ts';
import { storedJson, locationJson, publishedMembersJson, sentTimeJson } from '../../src/core/location/location_json.ts';
import { RowWriter } from '../../src/core/row_bytes.ts';
import type { Location } from '../../src/model/location.ts';
import { newRecordBuffer } from '../../src/wire/location_record.ts';
import { eventsOf, T0 } from '../support/shard_harness.ts';

const coordinate = fc.oneof(
  fc.double({ min: -85, max: 85, noNaN: true }),
  fc.integer({ min: -850_000_000, max: 850_000_000 }).map((units) => units / 1e7),
  fc.constantFrom(0, -0, 1e-7, 9),
);
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const word = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 }).map((text) => text.toWellFormed());
const number = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.integer({ min: -100, max: 100 }));

const location = fc.record({
  position: fc
    .oneof(fc.tuple(coordinate, coordinate), fc.tuple(coordinate, coordinate, number))
    .map((coordinates) => ({ type: 'Point' as const, coordinates })),
  provider_type: fc.constantFrom('uwb' as const, 'ble-mesh' as const),
  provider_id: word,
  source: word,
  crs: fc.constantFrom('EPSG:4326', 'EPSG:4326', 'EPSG:32632'),
  timestamp_sent: maybe(fc.constantFrom('2026-03-01T12:00:00Z', '2026-03-01T12:00:00.123456789+01:00')),
  accuracy: maybe(fc.constant(0.25)),
  floor: maybe(number),
  elevation_ref: maybe(fc.constantFrom('floor' as const, 'wgs84' as const)),
  speed: maybe(number),
  course: maybe(number),
  properties: maybe(fc.dictionary(word, fc.oneof(word, fc.constant(',"timestamp_sent":"x"')))),
});

test('A location that is published or stored is the same as bytes and as a string', () => {
  const fixes = new FixSlab(newRecordBuffer);
  const events = new EventWriter(newRecordBuffer);
  const rows = new RowWriter(newRecordBuffer);
  const sentTime = sentTimeJson(T0);
  const tracks = fc.array(fc.record({ sent: location, trackables: fc.array(word, { maxLength: 3 }) }), {
    maxLength: 5,
  });
  fc.assert(
    fc.property(tracks, (sent) => {
      const texts: string[] = [];
      let previous: Fix | undefined;
      for (const [i, { sent: some, trackables }] of sent.entries()) {
        const filledIn = {
          providerId: some.provider_id,
          source: some.source,
          crs: some.crs,
          generatedMs: T0 + i * 1000,
        };
        const stamp = { seq: i, receivedMs: T0 + i * 1000, generatedMs: T0 + i * 1000 };
        const item = received(accept(some as Location, filledIn), stamp, newRecordBuffer);
        const derived = locate(item, undefined, previous, item.generatedMs);
        if (derived === undefined) continue;
        const { providerId, source } = item;
        const about = { providerId, source, zone: undefined, timing: UNSET, trackables, isLocal: item.crs === 'local' };
        const fix = fixes.take(item, derived, about);
        previous = fix;
        texts.push(locationJson(fix, publishedMembersJson(fix, sentTime)));
        const event = events.begin(1, undefined, locationBytesMax(fix));
        const most = event.at + locationBytesMax(fix);
        event.end(writeLocation(event, event.at, fix, asciiBytes(sentTime)));
        assert.ok(event.at <= most);
        const times = { receivedMs: fix.receivedMs, eventTimeMs: fix.eventTimeMs };
        const at = rows.begin({ kind: 'provider', id: providerId, ...times }, locationBytesMax(fix));
        rows.endMembers(at);
        rows.end(writeStored(rows, at, fix));
        assert.deepEqual(
          [...rows.take()],
          [{ kind: 'provider', id: providerId, ...times, location: storedJson(fix), memberships: [] }],
        );
      }
      assert.deepEqual(
        eventsOf({ events: events.take() }).map(({ text }) => text),
        texts,
      );
    }),
    { numRuns: 3000, seed: 1 },
  );
});

test('A number is serialized as by JSON.stringify', () => {
  const buffer = newRecordBuffer(5 + NUMBER_BYTES_MAX);
  const written = (value: number): string => buffer.bytes.toString('latin1', 5, putNumber(buffer, 5, value));
  const units = fc.integer({ min: -(2 ** 52), max: 2 ** 52 }).map((value) => value / 1e4);
  const small = fc.integer({ min: -4_000_000, max: 4_000_000 }).map((value) => value / 1e4);
  const degrees = fc.double({ min: -180, max: 180, noNaN: true });
  const rounded = fc.tuple(degrees, fc.constantFrom(1, 1e3, 1e4, 1e5, 1e7, 1e9, 1e10, 1e11)).map(([value, scale]) => {
    return Math.round(value * scale) / scale;
  });
  const tiny = fc.integer({ min: -200_000, max: 200_000 }).map((value) => value / 1e10);
  const meters = fc.integer({ min: -(2 ** 40), max: 2 ** 40 }).map((value) => value / 1e4);
  const double = fc.double({ noNaN: true, noDefaultInfinity: true });
  fc.assert(
    fc.property(fc.oneof(units, small, degrees, rounded, tiny, meters, double), (value) => {
      assert.equal(written(value), JSON.stringify(value));
    }),
    { numRuns: 100_000, seed: 1 },
  );
  for (const value of [
    0,
    -0,
    0.0001,
    0.1,
    1e-7,
    1e21,
    1e-6,
    1e-9,
    1e-10,
    9.999e-7,
    90,
    180,
    -180,
    -8.6823100001,
    179.9999999999,
    99999.9999999999,
    1e5,
    100000.0000000001,
    100000.0001,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    99999999999.9999,
    1e11,
    1e11 + 0.5,
    359.9999,
    4503599627370496,
  ]) {
    assert.equal(written(value), JSON.stringify(value));
  }
});

test('Events of several variants are split in order, even after memory has grown', () => {
  const events = new EventWriter(newRecordBuffer);
  for (const round of [1, 2, 3]) {
    const expected: string[] = [];
    for (let n = 0; n < 500; n++) {
      const variant = 1 + (n % 3);
      const text = JSON.stringify(`${round} ${variant} ${'ü'.repeat(n % 50)}`);
      events.text(variant, variant === 2 ? [n] : undefined, text);
      expected.push(`${variant} ${text} ${variant === 2 ? n : ''}`);
    }
    const reported = eventsOf({ events: events.take() }).map(
      ({ variant, text, fields }) => `${variant} ${text} ${fields}`,
    );
    assert.deepEqual(
      reported,
      expected.toSorted((a, b) => Number(a[0]) - Number(b[0])),
    );
  }
  assert.deepEqual(events.take(), []);
});
