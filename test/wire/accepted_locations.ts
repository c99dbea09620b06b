import fc from 'fast-check';
import type { Item } from '../../src/core/item.ts';
import type { AcceptedLocation } from '../../src/core/location/accepted.ts';
import type { ReceivedLocation } from '../../src/core/location/received.ts';
import { PROVIDER_TYPES } from '../../src/model/provider_type.ts';

const number = fc.double({ noNaN: true, noDefaultInfinity: true });
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
export const word = fc.string({ unit: 'binary', minLength: 1, maxLength: 40 });

/** Locations of all kinds, with arbitrary Unicode in ids and strings. */
export const accepted: fc.Arbitrary<AcceptedLocation> = fc.record(
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
    // Occasionally one that needs its own chunk.
    text: fc.oneof(
      { weight: 20, arbitrary: fc.string({ unit: 'binary' }) },
      { weight: 1, arbitrary: fc.constant('ü'.repeat(200_000)) },
    ),
  },
  { noNullPrototype: true },
);

const orNull = (value: number) => (Number.isNaN(value) ? null : value);

/** A received location in its accepted form. */
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
export function shown(item: Item): unknown {
  if (item.kind !== 'location') return item;
  const { seq, receivedMs, generatedMs } = item;
  return { location: acceptedOf(item), seq, receivedMs, generatedMs };
}
