import { Problem } from '../../src/problem.ts';
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { checkProximity } from '../../src/ingest/check_proximity.ts';
import type { Zone } from '../../src/model/zone.ts';
import { HALL } from '../support/hall.ts';

const READER: Zone = {
  id: 'reader',
  type: 'ibeacon',
  foreign_id: 'door',
  position: { type: 'Point', coordinates: [9, 50] },
};
/** A zone that compares sightings by their signal. */
const ARBITRATED: Zone = { ...READER, id: 'arbitrated', foreign_id: null, proximity_resolution: {} };
const UNPLACED: Zone = { id: 'unplaced', type: 'rfid', incomplete_configuration: true };
const ZONES = new Map(
  [READER, ARBITRATED, UNPLACED, HALL].map((zone) => [zone.id, zone]).concat([['door', READER]]) as [string, Zone][],
);
const GOOD = { source: 'reader', provider_type: 'ibeacon', provider_id: 'tag' };

function check(value: unknown, providerId?: string) {
  return checkProximity(value, {
    at: 'proximities[2]',
    providerId,
    receivedMs: 5,
    zone: (name) => ZONES.get(name),
    knownId: (id) => id,
  });
}

const BAD: readonly (readonly [name: string, value: unknown, message: string])[] = [
  ['null', null, 'proximities[2]: must be an object, found null'],
  ['a list', [GOOD], `proximities[2]: must be an object, found ${JSON.stringify([GOOD]).slice(0, 77)}`],
  ['no source', { ...GOOD, source: undefined }, 'proximities[2].source: '],
  ['a source of null', { ...GOOD, source: null }, 'proximities[2].source: must be a string, found null'],
  ['an empty source', { ...GOOD, source: '' }, 'proximities[2].source: must name a proximity zone, found ""'],
  ['an unknown source', { ...GOOD, source: 'x' }, 'proximities[2].source: must name a proximity zone, found "x"'],
  [
    'a zone with coordinates',
    { ...GOOD, source: HALL.id },
    'proximities[2].source: must name a proximity zone (rfid or ibeacon), found ',
  ],
  [
    'a zone without position',
    { ...GOOD, source: 'unplaced' },
    'proximities[2].source: must be a zone with a position, found "unplaced" without one',
  ],
  ['no provider_type', { ...GOOD, provider_type: undefined }, 'proximities[2].provider_type: '],
  ['an unknown provider_type', { ...GOOD, provider_type: 'x' }, 'proximities[2].provider_type: must be one of '],
  [
    'a provider_type that determines its own position',
    { ...GOOD, provider_type: 'uwb' },
    'proximities[2].provider_type: must be one of rfid, ibeacon, ble-aoa, ble-mesh, virtual, unknown, found "uwb"',
  ],
  ['no provider', { ...GOOD, provider_id: undefined }, 'proximities[2].provider_id: is required, but is nothing'],
  ['an empty provider', { ...GOOD, provider_id: '' }, 'proximities[2].provider_id: is required, but is '],
  ['a provider that is a number', { ...GOOD, provider_id: 5 }, 'proximities[2].provider_id: must be a string, found 5'],
  [
    'a bad time',
    { ...GOOD, timestamp_generated: 'x' },
    'proximities[2].timestamp_generated: must be an RFC 3339 date and time, found "x"',
  ],
  [
    'a bad time of sending',
    { ...GOOD, timestamp_sent: 'x' },
    'proximities[2].timestamp_sent: must be an RFC 3339 date and time, found "x"',
  ],
  ['a negative accuracy', { ...GOOD, accuracy: -1 }, 'proximities[2].accuracy: must be >= 0, found -1'],
  [
    'properties that are a text',
    { ...GOOD, properties: 'x' },
    'proximities[2].properties: must be an object, found "x"',
  ],
  [
    'an RSSI that is no number, if the zone compares it',
    { ...GOOD, source: 'arbitrated', properties: { rssi: '-60' } },
    'proximities[2].properties.rssi: must be a number, found "-60"',
  ],
  [
    'a confidence above 1, if the zone requires it',
    { ...GOOD, source: 'arbitrated', properties: { confidence: 60 } },
    'proximities[2].properties.confidence: must be a number from 0 to 1, found 60',
  ],
];

describe('checkProximity', () => {
  for (const [name, value, message] of BAD) {
    test(`rejects ${name}`, () => {
      const found = check(value);
      assert.equal(String(found).slice(0, message.length), message);
    });
  }

  for (const source of ['reader', 'door']) {
    test(`finds the zone by ${source}`, () => {
      const found = check({ ...GOOD, source });
      assert.ok(!(found instanceof Problem), String(found));
      assert.equal(found.location.source, source);
      assert.deepEqual(found.location.coordinates, READER.position?.coordinates);
    });
  }

  test('takes the provider from the path', () => {
    const found = check({ ...GOOD, provider_id: null }, 'badge');
    assert.ok(!(found instanceof Problem), String(found));
    assert.equal(found.proximity.provider_id, 'badge');
    assert.equal(found.location.provider_id, 'badge');
  });
});
